import {
  type BindReport,
  type BindTrouble,
  endedBind,
  refusedBind,
  unusableSession,
} from '../../../shared/carriers/bind-report.ts';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { STATUS, statusReason } from '../../../shared/carriers/command-status.ts';
import type { LostSubmits } from '../../../shared/carriers/smpp/unanswered-submits.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { Log } from '../../../shared/platform/runtime/log.ts';
import { type BindEnd, FRESH, pauseAfter, type Streak } from './backoff.ts';
import type { CarrierAnswer, SubmitSession, Wire, WireSession } from './wire.ts';

interface BindOptions<Context> {
  readonly carrier: Pick<CarrierDocument, '_id' | 'links'>;
  readonly wire: Wire<Context>;
  readonly index: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface BindUser<Context> {
  /** Submits go over this session from now, or over none. Called before `onState`. */
  onSession(session: SubmitSession<Context> | undefined): void;
  /** In state `backoff`, `trouble` says why it waits. */
  onState(state: BindState, trouble?: BindTrouble): void;
  /** False when the answer says that the session is not usable. The bind then ends the connection and binds again. */
  onAnswer(context: Context, answer: CarrierAnswer): boolean;
  onTimeout(context: Context): void;
  /** A connection has ended. Gets every submit without an answer, exactly once, before the state changes. */
  onLost(lost: LostSubmits<Context>): void;
  /** Submits without an answer. Draining ends when it is 0. */
  unanswered(): number;
}

const BIND_TIMEOUT_MS = 10_000;
const UNBIND_TIMEOUT_MS = 2_000;
/** The longest time that a stop waits until the deliver_sm that were read are stored and answered. */
const DELIVERS_MS = 5_000;
/** When the carrier asks to unbind, we wait at most this long for its outstanding answers. */
const PEER_DRAIN_MS = 2_000;
/** How long answers are awaited on a session that the carrier called unusable. */
const RECYCLE_DRAIN_MS = 2_000;
const DRAIN_TICK_MS = 10;

/**
 * One bind of a carrier, which connects again and again until `stop`. Its sessions begin and end together. `STATES` has
 * its states and the allowed changes. Any other change ends the connection, as if it had been lost: the owner gets the
 * unanswered submits, and the bind connects again.
 */
export class Bind<Context> {
  readonly #options: BindOptions<Context>;
  #user: BindUser<Context> | undefined;
  #streak: Streak = FRESH;
  #state: BindState = 'closed';
  #sessions: WireSession<Context>[] = [];
  #connection = new ConnectionEnd();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: BindOptions<Context>) {
    this.#options = options;
  }

  get state(): BindState {
    return this.#state;
  }

  /** When the carrier's certificate ends. Undefined without TLS, and while it is not bound. */
  get certificateUntil(): Date | undefined {
    return this.#sessions[0]?.certificateUntil;
  }

  start(user: BindUser<Context>): void {
    this.#user = user;
    this.#connect(user);
  }

  pauseReading(ms: number): void {
    for (const session of this.#sessions) session.pauseReading(ms);
  }

  /** First waits for answers to the session's other submits: else nobody would know which the carrier took. */
  async #recycle(answer: CarrierAnswer): Promise<void> {
    this.#connection.unusable(answer);
    this.#become('draining');
    await this.#drained(RECYCLE_DRAIN_MS);
    if (this.#state === 'draining') this.#endSessions(SESSION_REFUSED);
  }

  /** Waits at most `waitMs` for answers, the carrier's and ours; then unbinds and closes for good. In any state. */
  async stop(waitMs: number): Promise<void> {
    const { clock } = this.#options;
    this.#stopped = true;
    clearTimeout(this.#timer);
    if (this.#state === 'bound') {
      const deadlineMs = clock.monotonicMs() + waitMs;
      this.#become('draining');
      await this.#drained(waitMs);
      const open = this.#sessions.filter((session) => session.open);
      const answersMs = Math.min(Math.max(deadlineMs - clock.monotonicMs(), 0), DELIVERS_MS);
      await Promise.all(open.map((session) => session.unbind(UNBIND_TIMEOUT_MS, answersMs)));
    }
    this.#endSessions('stopped');
    while (this.#sessions.length > 0) await tick();
    this.#become('closed');
  }

  #connect(user: BindUser<Context>): void {
    if (!this.#become('connecting')) return;
    this.#connection = new ConnectionEnd();
    const { wire } = this.#options;
    let opening = wire.sessions;
    const sessions = Array.from({ length: wire.sessions }, (_, index): WireSession<Context> => {
      const session = wire.open(index, this.#streak.failed, {
        onOpen: () => {
          opening -= 1;
          if (opening === 0) void this.#bind(sessions);
        },
        onAnswer: (context, answer) => {
          if (!user.onAnswer(context, answer) && this.#state === 'bound') void this.#recycle(answer);
        },
        onTimeout: (context) => user.onTimeout(context),
        onUnbind: (confirm) => void this.#onPeerUnbind(session, confirm),
        onClose: (reason, lost) => this.#onClose(user, session, reason, lost),
      });
      return session;
    });
    this.#sessions = sessions;
  }

  async #bind(sessions: readonly WireSession<Context>[]): Promise<void> {
    if (!this.#become('binding')) return;
    const { carrier, clock, log, index } = this.#options;
    const answers = await Promise.all(sessions.map((session) => session.bind(BIND_TIMEOUT_MS)));
    // The connection was closed while it waited for the answers. `#onClose` or `stop` does the rest.
    if (this.#stopped || this.#state !== 'binding') return;
    if (this.#sessions.length !== sessions.length || this.#sessions[0] !== sessions[0]) return;
    const refusal = answers.find((answer) => answer !== STATUS.ok);
    if (refusal === undefined) {
      this.#connection.bound(clock.monotonicMs());
      log.info('bound', { carrier: carrier._id, bind: index });
      this.#become('bound');
    } else {
      this.#refused(refusal);
    }
  }

  #refused(answer: number | 'no_answer'): void {
    const { carrier, log, index } = this.#options;
    const status = answer === 'no_answer' ? undefined : answer;
    const reason = status === undefined ? 'no answer' : statusReason(status);
    log.warn('bind_refused', { carrier: carrier._id, bind: index, status, reason });
    if (status !== undefined) this.#connection.refused(status);
    this.#endSessions(status === undefined ? 'bind_unanswered' : 'bind_refused');
  }

  /** When one session ends, its partner is ended too. After the last one the pause before the next begins. */
  #onClose(user: BindUser<Context>, session: WireSession<Context>, reason: string, lost: LostSubmits<Context>): void {
    const { carrier, wire, clock, log, index } = this.#options;
    user.onLost(lost);
    this.#sessions = this.#sessions.filter((other) => other !== session);
    this.#connection.ended(reason);
    if (!this.#stopped) log.info('bind_closed', { carrier: carrier._id, bind: index, reason, state: this.#state });
    this.#endSessions('pair_closed');
    if (this.#sessions.length > 0 || this.#stopped) return;
    const end = this.#connection.end(clock.monotonicMs());
    const pause = pauseAfter(end, this.#streak, Math.random(), wire.turns);
    const waitMs = Math.max(pause.waitMs, carrier.links?.reconnectMs ?? 0);
    this.#streak = pause.streak;
    log.info('bind_waits', { carrier: carrier._id, bind: index, wait_ms: Math.round(waitMs) });
    this.#become('backoff', this.#connection.trouble(this.#state));
    this.#timer = setTimeout(() => this.#connect(user), waitMs);
  }

  async #onPeerUnbind(session: WireSession<Context>, confirm: () => void): Promise<void> {
    if (this.#state === 'bound') {
      this.#become('draining');
      await this.#drained(PEER_DRAIN_MS);
    }
    confirm();
    session.end();
  }

  async #drained(waitMs: number): Promise<void> {
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + waitMs;
    const unanswered = (): number => this.#user?.unanswered() ?? 0;
    while (this.#sessions.length > 0 && unanswered() > 0 && clock.monotonicMs() < deadlineMs) await tick();
  }

  #endSessions(reason: string): void {
    for (const session of this.#sessions) session.destroy(reason);
  }

  /** Only this method changes the state. If the change is not allowed, it ends the connection and returns false. */
  #become(state: BindState, trouble?: BindTrouble): boolean {
    if (this.#state === state) return true;
    if (!STATES[this.#state].includes(state)) {
      const { carrier, log, index } = this.#options;
      log.error('bind_state_refused', { carrier: carrier._id, bind: index, state: this.#state, refused: state });
      this.#endSessions('state_refused');
      return false;
    }
    this.#state = state;
    this.#user?.onSession(state === 'bound' ? this.#sessions[0] : undefined);
    this.#user?.onState(state, trouble);
    return true;
  }
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, DRAIN_TICK_MS));
}

/** We closed the session because the carrier's answer to a submit says that it is not usable. */
const SESSION_REFUSED = 'session_refused';

/** What became of one connection of a bind. Only the first reason for its end counts, because others follow from it. */
class ConnectionEnd {
  #boundAtMs: number | undefined;
  #refusedStatus: number | undefined;
  #reason: string | undefined;
  #unusable: CarrierAnswer | undefined;

  bound(nowMs: number): void {
    this.#boundAtMs = nowMs;
  }

  refused(status: number): void {
    this.#refusedStatus = status;
  }

  unusable(answer: CarrierAnswer): void {
    this.#unusable = answer;
  }

  ended(reason: string): void {
    this.#reason ??= reason;
  }

  /** How the connection ended, for backoff.ts. A session that the carrier called unusable counts as one that failed. */
  end(nowMs: number): BindEnd {
    if (this.#refusedStatus !== undefined) return { kind: 'refused', status: this.#refusedStatus };
    if (this.#boundAtMs === undefined || this.#reason === SESSION_REFUSED) return { kind: 'failed' };
    return { kind: 'worked', boundMs: nowMs - this.#boundAtMs };
  }

  trouble(state: BindState): BindTrouble {
    if (this.#refusedStatus !== undefined) return refusedBind(this.#refusedStatus);
    const reason = this.#reason ?? '';
    if (reason === SESSION_REFUSED && this.#unusable !== undefined) return unusableSession(this.#unusable);
    if (this.#boundAtMs !== undefined) return endedBind('lost', reason);
    return endedBind(state === 'connecting' ? 'unreachable' : 'unanswered', reason);
  }
}

export type BindState = BindReport['state'];

/** Every state of a bind, when it ends, and the states that may follow. `Bind` refuses every other change. */
const STATES: Readonly<Record<BindState, readonly BindState[]>> = {
  /** Not started, or stopped for good. Ends with `start`. */
  closed: ['connecting'],
  /** All its sessions connect by TCP, and TLS if set. Ends when all are connected, when one cannot, or with `stop`. */
  connecting: ['binding', 'backoff', 'closed'],
  /** Ends when the carrier accepts all binds or refuses one, when a connection is lost, or with `stop`. */
  binding: ['bound', 'backoff', 'closed'],
  /**
   * Submits may be written, and receipts come in. Ends with `stop`, with the carrier's unbind, when an answer says that
   * the session is not usable (each: `draining`), or when a connection is lost.
   */
  bound: ['draining', 'backoff'],
  /** No more submits are written; answers to earlier ones are awaited. Then closes (`stop`) or connects again. */
  draining: ['backoff', 'closed'],
  /** Not connected; waits before the next try. Ends when the pause is over, or with `stop`. */
  backoff: ['connecting', 'closed'],
};
