import { createServer, type Server } from 'node:net';
import { listenLocally } from './listen.ts';
import { magicNumbers } from './magic-numbers.ts';
import { Delays } from './pace/delays.ts';
import { COMMAND } from './smpp/commands.ts';
import { Reassembly, type WholeText, wholeTexts } from './smpp/reassembly.ts';
import type { Submit } from './smpp/submit.ts';
import { Acceptance, type SubmitCounts } from './smsc/acceptance.ts';
import { AuditFile } from './smsc/audit-file.ts';
import { KeptSubmits } from './smsc/kept-submits.ts';
import { type DeliveryCounts, Mailboxes } from './smsc/mailboxes.ts';
import { type MobileOriginated, phoneMessage } from './smsc/mobile-originated.ts';
import { SMSC_DEFAULTS, type SmscOptions } from './smsc/options.ts';
import { type SessionInfo, Sessions } from './smsc/sessions.ts';

export interface SmscStats {
  readonly submits: Readonly<SubmitCounts>;
  /** The most submits in one second, and the most on one session without an answer. */
  readonly peakPerSecond: number;
  readonly peakUnanswered: number;
  /** deliver_sm: receipts and messages from phones. */
  readonly deliveries: Readonly<DeliveryCounts>;
  /** deliver_sm that wait, are under way or will be tried again; of those, what waits, by system_id. */
  readonly pending: number;
  readonly waiting: Readonly<Record<string, number>>;
  /** Receipts that are due and held back. */
  readonly held: number;
  readonly connections: number;
  readonly binds: number;
  readonly refusedBinds: number;
  /** PDUs and streams that could not be understood. */
  readonly bad: number;
}

/** How often unanswered deliver_sm are looked for. */
const SWEEP_MS = 100;

const MAX_CONNECTIONS = 1_000;

/** Starts an SMSC on 127.0.0.1. Rejects with the error of `listen` (EADDRINUSE) or of opening the log file. */
export async function startSmsc(overrides: Partial<SmscOptions> = {}): Promise<Smsc> {
  const smsc = new Smsc({ ...SMSC_DEFAULTS, ...overrides });
  await smsc.listen();
  return smsc;
}

/** A carrier's SMSC, for any number of clients. */
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

  /** To be called once. */
  async listen(): Promise<void> {
    this.#port = await listenLocally(this.#server, this.#options.port);
    this.#timers.push(setInterval(() => this.#mailboxes.sweep(), SWEEP_MS));
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

  /** The last accepted messages, one per segment, oldest first. */
  messages(): Submit[] {
    return this.#kept.all();
  }

  /** The whole texts among them. */
  texts(): WholeText[] {
    return wholeTexts(this.#kept.all());
  }

  /** Breaks all connections, or one, without a word; returns how many. */
  cutSessions(sessionId?: number): number {
    const cut = this.#sessions.addressed(sessionId);
    for (const session of cut) session.cut();
    return cut.length;
  }

  /** Resets all connections: what was on its way to the other side is lost, too. */
  resetSessions(): void {
    for (const session of this.#sessions.addressed()) session.reset();
  }

  /** Asks all bound sessions to unbind. */
  unbindSessions(): void {
    this.#sessions.requestAll(COMMAND.unbind);
  }

  /** Sends enquire_link on all bound sessions. */
  enquireSessions(): void {
    this.#sessions.requestAll(COMMAND.enquireLink);
  }

  /** From now on nothing is read or sent, new connections included, until `resume()`: a carrier that hangs. */
  pause(): void {
    this.#setPaused(true);
  }

  resume(): void {
    this.#setPaused(false);
  }

  /** From now on receipts that become due wait for `release()`. */
  hold(): void {
    this.#acceptance.hold();
  }

  /** Lets held receipts go. */
  release(): void {
    this.#acceptance.release();
  }

  /** Writes bytes as they are to all sessions, or one. Throws RangeError if there is none. */
  inject(bytes: Buffer, sessionId?: number): void {
    const targets = this.#sessions.addressed(sessionId);
    if (targets.length === 0) throw new RangeError('no such session');
    for (const session of targets) session.send(bytes);
  }

  /** Queues a deliver_sm. Throws RangeError if no account is named and not exactly one is bound. */
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
