import { createServer, type Server } from 'node:net';
import { listenLocally } from './listen.ts';
import { magicNumbers } from './magic-numbers.ts';
import { Delays } from './pace/pace.ts';
import { COMMAND } from './smpp/pdu.ts';
import { Reassembly, type Submit, type WholeText, wholeTexts } from './smpp/submit.ts';
import { Acceptance, KeptSubmits, type SubmitCounts } from './smsc/acceptance.ts';
import { type DeliveryCounts, Mailboxes, type MobileOriginated, phoneMessage } from './smsc/mailboxes.ts';
import { SMSC_DEFAULTS, type SmscOptions } from './smsc/options.ts';
import { AuditFile, type SessionInfo, Sessions } from './smsc/sessions.ts';

export interface SmscStats {
  readonly submits: Readonly<SubmitCounts>;
  /** The most submits in a second; `peakUnanswered`: the most without an answer at one time on one session. */
  readonly peakPerSecond: number;
  readonly peakUnanswered: number;
  /** Of deliver_sm: receipts and messages from phones. */
  readonly deliveries: Readonly<DeliveryCounts>;
  /** deliver_sm that wait, are unanswered or will be retried; `waiting` counts only the first kind, by system_id. */
  readonly pending: number;
  readonly waiting: Readonly<Record<string, number>>;
  /** Due receipts held back by `hold()`. */
  readonly held: number;
  readonly connections: number;
  readonly binds: number;
  readonly refusedBinds: number;
  /** PDUs and streams that could not be understood. */
  readonly bad: number;
}

/** Interval of looking for deliver_sm that were not answered in time. */
const EXPIRE_MS = 100;

const MAX_CONNECTIONS = 1_000;

/** Rejects with the error of `listen` (EADDRINUSE), or of opening the log file. */
export async function startSmsc(overrides: Partial<SmscOptions> = {}): Promise<Smsc> {
  const smsc = new Smsc({ ...SMSC_DEFAULTS, ...overrides });
  await smsc.listen();
  return smsc;
}

/** A carrier's SMSC for any number of clients. */
export class Smsc {
  readonly #options: SmscOptions;
  readonly #audit: AuditFile | undefined;
  readonly #delays = new Delays();
  readonly #mailboxes: Mailboxes;
  readonly #kept: KeptSubmits;
  readonly #reassembly = new Reassembly();
  readonly #acceptance: Acceptance;
  readonly #sessions: Sessions;
  readonly #server: Server;
  readonly #timers: NodeJS.Timeout[] = [];
  #port = 0;

  /** Throws when the log file cannot be opened. */
  constructor(options: SmscOptions) {
    this.#options = options;
    this.#audit = options.log === '' ? undefined : new AuditFile(options.log);
    this.#mailboxes = new Mailboxes(options, this.#delays);
    this.#kept = new KeptSubmits(options.keepMessages);
    this.#acceptance = new Acceptance(options, magicNumbers(), {
      kept: this.#kept,
      mailboxes: this.#mailboxes,
      delays: this.#delays,
      accepted: (submit) => this.#accepted(submit),
    });
    this.#sessions = new Sessions({
      options,
      acceptance: this.#acceptance,
      mailboxes: this.#mailboxes,
      kept: this.#kept,
      audit: this.#audit,
    });
    this.#server = createServer((socket) => this.#sessions.open(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Call it once. */
  async listen(): Promise<void> {
    this.#port = await listenLocally(this.#server, this.#options.port);
    this.#timers.push(setInterval(() => this.#mailboxes.expire(), EXPIRE_MS));
    const { enquireLinkMs } = this.#options;
    if (enquireLinkMs > 0) this.#timers.push(setInterval(() => this.enquireSessions(), enquireLinkMs));
  }

  get port(): number {
    return this.#port;
  }

  stats(): SmscStats {
    const { counts, rate, held } = this.#acceptance;
    return {
      submits: { ...counts, refused: { ...counts.refused } },
      peakPerSecond: rate.peak,
      peakUnanswered: this.#sessions.peakUnanswered,
      deliveries: { ...this.#mailboxes.counts },
      pending: this.#mailboxes.pending,
      waiting: this.#mailboxes.waiting(),
      held,
      ...this.#sessions.totals,
    };
  }

  sessions(): SessionInfo[] {
    return this.#sessions.info();
  }

  /** The last accepted messages, oldest first, each segment by itself. */
  messages(): Submit[] {
    return this.#kept.all();
  }

  texts(): WholeText[] {
    return wholeTexts(this.#kept.all());
  }

  /** Breaks all connections, or one, without an unbind. Returns how many. */
  cutSessions(sessionId?: number): number {
    const cut = this.#sessions.addressed(sessionId);
    for (const session of cut) session.cut();
    return cut.length;
  }

  /** Resets all connections, so that bytes on their way to the client are lost too. */
  resetSessions(): void {
    for (const session of this.#sessions.addressed()) session.reset();
  }

  unbindSessions(): void {
    this.#sessions.requestAll(COMMAND.unbind);
  }

  enquireSessions(): void {
    this.#sessions.requestAll(COMMAND.enquireLink);
  }

  /** Hangs like a faulty carrier: until `resume()` nothing is read or sent, not even on new connections. */
  pause(): void {
    this.#setPaused(true);
  }

  resume(): void {
    this.#setPaused(false);
  }

  /** Receipts that become due wait for `release()`. */
  hold(): void {
    this.#acceptance.hold();
  }

  release(): void {
    this.#acceptance.release();
  }

  /** Writes raw bytes to all sessions, or to one. Throws RangeError if there is none. */
  inject(bytes: Buffer, sessionId?: number): void {
    const targets = this.#sessions.addressed(sessionId);
    if (targets.length === 0) throw new RangeError('no such session');
    for (const session of targets) session.send(bytes);
  }

  /** Queues a deliver_sm. Throws RangeError if it names no account, unless exactly one account is bound. */
  sendMo(message: MobileOriginated): void {
    this.#mailboxes.post(message.systemId ?? this.#sessions.onlyAccount(), phoneMessage(message));
  }

  /** Breaks all connections and frees the port. May be called twice. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#delays.clear();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#sessions.close();
    await closed;
    this.#audit?.close();
  }

  #accepted(submit: Submit): void {
    this.#audit?.add(submit);
    if (this.#options.onEvent === undefined) return;
    const text = this.#reassembly.add(submit);
    if (text !== undefined) this.#options.onEvent({ kind: 'text', text });
  }

  #setPaused(paused: boolean): void {
    this.#mailboxes.paused = paused;
    this.#sessions.paused = paused;
  }
}
