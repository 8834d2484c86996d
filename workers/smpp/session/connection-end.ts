import { type BindTrouble, endedBind, refusedBind } from '../../../shared/carriers/bind-report.ts';
import type { BindEnd } from './backoff.ts';
import type { BindState } from './bind-states.ts';

/** The reason of a session that we closed because the carrier's answer to a submit says that it is not usable. */
export const SESSION_REFUSED = 'session_refused';

/**
 * Records what became of one connection of a bind. Only the first reason for its end counts, because the others follow from it.
 */
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

  /** A session of the connection has ended. */
  ended(reason: string): void {
    this.#reason ??= reason;
  }

  /**
   * How the connection ended, as backoff.ts needs it. A session that the carrier called unusable does not count as one that
   * worked.
   */
  end(nowMs: number): BindEnd {
    if (this.#refusedStatus !== undefined) return { kind: 'refused', status: this.#refusedStatus };
    if (this.#boundAtMs === undefined || this.#reason === SESSION_REFUSED) return { kind: 'failed' };
    return { kind: 'worked', boundMs: nowMs - this.#boundAtMs };
  }

  /** How the connection ended, as the bind's report tells it to people. */
  trouble(state: BindState): BindTrouble {
    if (this.#refusedStatus !== undefined) return refusedBind(this.#refusedStatus);
    const reason = this.#reason ?? '';
    if (this.#boundAtMs !== undefined) return endedBind('lost', reason);
    return endedBind(state === 'connecting' ? 'unreachable' : 'unanswered', reason);
  }
}
