import { type BindTrouble, endedBind, refusedBind } from '../../../shared/carriers/bind-report.ts';
import type { BindEnd } from './backoff.ts';
import type { BindState } from './bind-states.ts';

/** The reason of a session that was closed because a submit's answer says that it is not usable. */
export const SESSION_REFUSED = 'session_refused';

/** What one connection of a bind has come to, and how it ended: the first reason counts, others follow from it. */
export class ConnectionEnd {
  #boundAtMs: number | undefined;
  #refusedStatus: number | undefined;
  #reason: string | undefined;

  bound(nowMs: number): void {
    this.#boundAtMs = nowMs;
  }

  /** The carrier refused the bind with this command_status. */
  refused(status: number): void {
    this.#refusedStatus = status;
  }

  /** One of its sessions has ended. */
  ended(reason: string): void {
    this.#reason ??= reason;
  }

  /** For the wait behind it. A session that the carrier called unusable has not worked. */
  end(nowMs: number): BindEnd {
    if (this.#refusedStatus !== undefined) return { kind: 'refused', status: this.#refusedStatus };
    if (this.#boundAtMs === undefined || this.#reason === SESSION_REFUSED) return { kind: 'failed' };
    return { kind: 'worked', boundMs: nowMs - this.#boundAtMs };
  }

  /** For the bind's report. */
  trouble(state: BindState): BindTrouble {
    if (this.#refusedStatus !== undefined) return refusedBind(this.#refusedStatus);
    const reason = this.#reason ?? '';
    if (this.#boundAtMs !== undefined) return endedBind('lost', reason);
    return endedBind(state === 'connecting' ? 'unreachable' : 'unanswered', reason);
  }
}
