import { type BindReport, type BindTrouble, endedBind, refusedBind } from '../../../shared/carriers/bind-report.ts';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { STATUS, statusReason } from '../../../shared/carriers/command-status.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { type BindEnd, FRESH, pauseAfter, type Streak } from './backoff.ts';
import type { BindCommand, Deliver } from './pdu.ts';
import { Session, type SubmitAnswer } from './session.ts';
import type { LostSubmits } from './unanswered-submits.ts';

/**
 * One bind of a carrier, kept up for ever: a transceiver, or a transmitter and a receiver that live and die together.
 *
 * - `closed`: before `start` and after `stop`.
 * - `connecting`: TCP (and TLS) of all its sessions.
 * - `binding`: bind requests are under way.
 * - `bound`: submits may be written, receipts come.
 * - `draining`: no more submits; what is unanswered is waited for. Then it unbinds (our stop) or confirms the peer's unbind.
 * - `backoff`: waits to connect again.
 *
 * Whatever ends a connection, `onLost` gets every submit without an answer once, before the state changes.
 */
export type BindState = BindReport['state'];

export interface BindOptions<Context> {
  readonly carrier: CarrierDocument;
  /** Opened. */
  readonly password: string;
  readonly index: number;
  readonly clock: Clock;
  readonly log: Log;
  /** The lease is held: looked at right before each write. */
  mayWrite(): boolean;
  /** `trouble`: why it waits (`backoff`). */
  onState(state: BindState, trouble?: BindTrouble): void;
  onAnswer(context: Context, answer: SubmitAnswer): void;
  onTimeout(context: Context): void;
  onLost(lost: LostSubmits<Context>): void;
  onDeliver(deliver: Deliver, answer: (status: number) => void): void;
  /** Submits without an answer; a drain ends when there are none. */
  unanswered(): number;
}

/** SMPP 3.4 (§5.2.4); the codec's own default is 5.0, which some carriers refuse. */
const INTERFACE_VERSION = 0x34;
const BIND_TIMEOUT_MS = 10_000;
const UNBIND_TIMEOUT_MS = 2_000;
/** How long answers are waited for after the peer asked to unbind. */
const PEER_DRAIN_MS = 2_000;
const DRAIN_TICK_MS = 10;
const SESSION_REFUSED = 'session_refused';

const COMMANDS: Readonly<Record<CarrierDocument['bindKind'], readonly BindCommand[]>> = {
  transceiver: ['bind_transceiver'],
  pair: ['bind_transmitter', 'bind_receiver'],
};

export class Bind<Context> {
  readonly #options: BindOptions<Context>;
  #streak: Streak = FRESH;
  #state: BindState = 'closed';
  /** The first one submits. */
  #sessions: Session<Context>[] = [];
  /** Why the carrier refused the last bind, until the wait that it leads to. */
  #refusedStatus: number | undefined;
  /** When this connection was bound. */
  #boundAtMs: number | undefined;
  /** Why the first of its sessions ended, while the others follow. */
  #why: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: BindOptions<Context>) {
    this.#options = options;
  }

  get state(): BindState {
    return this.#state;
  }

  /** Whether a submit written now would go out. */
  get ready(): boolean {
    const [session] = this.#sessions;
    return this.#state === 'bound' && session?.open === true && !session.congested;
  }

  start(): void {
    this.#connect();
  }

  /** Only while `ready`; the caller keeps to the window. */
  submit(frame: Buffer, context: Context): void {
    const [session] = this.#sessions;
    if (session === undefined) throw new Error('a submit without a session');
    session.submit(frame, context);
  }

  /** Stops reading for a moment, so that the carrier slows down. */
  pauseReading(ms: number): void {
    for (const session of this.#sessions) session.pauseReading(ms);
  }

  /** Ends the connection and binds anew later: the carrier says that this session is not usable. */
  recycle(): void {
    for (const session of this.#sessions) session.destroy(SESSION_REFUSED);
  }

  /** Waits for answers, at most `waitMs`, unbinds and closes for good. May be called in any state. */
  async stop(waitMs: number): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    if (this.#state === 'bound') {
      this.#become('draining');
      await this.#drained(waitMs);
      const open = this.#sessions.filter((session) => session.open);
      await Promise.all(open.map((session) => session.unbind(UNBIND_TIMEOUT_MS)));
    }
    for (const session of this.#sessions) session.destroy('stopped');
    while (this.#sessions.length > 0) await tick();
    this.#become('closed');
  }

  #connect(): void {
    this.#become('connecting');
    const { carrier } = this.#options;
    const commands = COMMANDS[carrier.bindKind];
    let opening = commands.length;
    const sessions = commands.map((): Session<Context> => {
      const session = new Session<Context>({
        host: carrier.host,
        port: carrier.port,
        tls: carrier.tls,
        clock: this.#options.clock,
        responseTimeoutMs: carrier.responseTimeoutMs,
        enquireLinkMs: carrier.enquireLinkMs,
        mayWrite: () => this.#options.mayWrite(),
        onOpen: () => {
          opening -= 1;
          if (opening === 0) void this.#bind(sessions, commands);
        },
        onAnswer: (context, answer) => this.#options.onAnswer(context, answer),
        onTimeout: (context) => this.#options.onTimeout(context),
        onDeliver: (deliver, answer) => this.#options.onDeliver(deliver, answer),
        onUnbind: (confirm) => void this.#onPeerUnbind(session, confirm),
        onClose: (reason, lost) => this.#onClose(session, reason, lost),
      });
      return session;
    });
    this.#sessions = sessions;
  }

  async #bind(sessions: readonly Session<Context>[], commands: readonly BindCommand[]): Promise<void> {
    this.#become('binding');
    const { carrier, password, log, index } = this.#options;
    const fields = {
      system_id: carrier.systemId,
      password,
      system_type: carrier.systemType,
      interface_version: INTERFACE_VERSION,
    };
    const answers = await Promise.all(
      sessions.map((session, i) => session.bind(commands[i] ?? 'bind_transceiver', fields, BIND_TIMEOUT_MS)),
    );
    if (this.#state !== 'binding' || this.#sessions.length !== sessions.length || this.#sessions[0] !== sessions[0]) {
      return; // Closed meanwhile; whoever closed it goes on.
    }
    const refusal = answers.find((answer) => answer !== STATUS.ok);
    if (refusal === undefined) {
      this.#boundAtMs = this.#options.clock.monotonicMs();
      log.info('bound', { carrier: carrier._id, bind: index });
      this.#become('bound');
      return;
    }
    const status = refusal === 'no_answer' ? undefined : refusal;
    log.warn('bind_refused', {
      carrier: carrier._id,
      bind: index,
      status,
      reason: status === undefined ? 'no answer' : statusReason(status),
    });
    this.#refusedStatus = status;
    for (const session of sessions) session.destroy(status === undefined ? 'bind_unanswered' : 'bind_refused');
  }

  /** The first of its sessions to end takes the others with it; the last one starts the wait. */
  #onClose(session: Session<Context>, reason: string, lost: LostSubmits<Context>): void {
    const { carrier, log, index } = this.#options;
    this.#options.onLost(lost);
    this.#sessions = this.#sessions.filter((other) => other !== session);
    this.#why ??= reason;
    if (!this.#stopped) log.info('bind_closed', { carrier: carrier._id, bind: index, reason, state: this.#state });
    for (const other of this.#sessions) other.destroy('pair_closed');
    if (this.#sessions.length > 0 || this.#stopped) return;
    const trouble = this.#troubleOf(this.#why);
    const { waitMs, streak } = pauseAfter(this.#endOf(this.#why), this.#streak, Math.random());
    this.#streak = streak;
    this.#refusedStatus = undefined;
    this.#boundAtMs = undefined;
    this.#why = undefined;
    log.info('bind_waits', { carrier: carrier._id, bind: index, wait_ms: Math.round(waitMs) });
    this.#become('backoff', trouble);
    this.#timer = setTimeout(() => this.#connect(), waitMs);
  }

  /** How this connection ended, for the wait behind it. A session that the carrier called unusable has not worked. */
  #endOf(reason: string): BindEnd {
    if (this.#refusedStatus !== undefined) return { kind: 'refused', status: this.#refusedStatus };
    if (this.#boundAtMs === undefined || reason === SESSION_REFUSED) return { kind: 'failed' };
    const boundMs = this.#options.clock.monotonicMs() - this.#boundAtMs;
    return { kind: 'worked', boundMs };
  }

  #troubleOf(reason: string): BindTrouble {
    if (this.#refusedStatus !== undefined) return refusedBind(this.#refusedStatus);
    if (this.#boundAtMs !== undefined) return endedBind('lost', reason);
    return endedBind(this.#state === 'connecting' ? 'unreachable' : 'unanswered', reason);
  }

  async #onPeerUnbind(session: Session<Context>, confirm: () => void): Promise<void> {
    if (this.#state === 'bound') {
      this.#become('draining');
      await this.#drained(PEER_DRAIN_MS);
    }
    confirm();
    session.end();
  }

  async #drained(waitMs: number): Promise<void> {
    const deadlineMs = this.#options.clock.monotonicMs() + waitMs;
    while (
      this.#sessions.length > 0 &&
      this.#options.unanswered() > 0 &&
      this.#options.clock.monotonicMs() < deadlineMs
    ) {
      await tick();
    }
  }

  #become(state: BindState, trouble?: BindTrouble): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onState(state, trouble);
  }
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, DRAIN_TICK_MS));
}
