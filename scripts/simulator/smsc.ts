import { type AddressInfo, createServer, type Socket } from 'node:net';
import { magicNumbers } from './magic-numbers.ts';
import { Delays } from './pace/delays.ts';
import type { BindRequest } from './smpp/bind.ts';
import { COMMAND, STATUS } from './smpp/commands.ts';
import { Reassembly, type WholeText, wholeTexts } from './smpp/reassembly.ts';
import type { Submit } from './smpp/submit.ts';
import { encodeGsm7, encodeUcs2, fitsGsm7 } from './smpp/text.ts';
import { Acceptance, type SubmitCounts } from './smsc/acceptance.ts';
import { AuditFile } from './smsc/audit-file.ts';
import type { DeliverSm } from './smsc/deliver-sm.ts';
import { KeptSubmits } from './smsc/kept-submits.ts';
import { type DeliveryCounts, Mailboxes } from './smsc/mailboxes.ts';
import { SMSC_DEFAULTS, type SmscOptions } from './smsc/options.ts';
import { Session, type SessionOwner } from './smsc/session.ts';

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

export interface SessionInfo {
  readonly id: number;
  /** Empty until bound. */
  readonly systemId: string;
  readonly kind: 'unbound' | 'receiver' | 'transmitter' | 'transceiver';
  /** deliver_sm sent and not answered, submit_sm taken and not answered. */
  readonly outstanding: number;
  readonly unanswered: number;
}

/** A message from a phone. `text` is encoded unless `userData` is given. */
export interface MobileOriginated extends Partial<DeliverSm> {
  readonly from: string;
  readonly to: string;
  readonly text?: string;
  /** The account that gets it; by default the only one bound. */
  readonly systemId?: string;
}

/** A running SMSC. */
export interface Smsc {
  readonly port: number;
  stats(): SmscStats;
  sessions(): SessionInfo[];
  /** The last accepted messages, one per segment, oldest first. */
  messages(): Submit[];
  /** The whole texts among them. */
  texts(): WholeText[];
  /** Breaks all connections, or one, without a word; returns how many. */
  cutSessions(sessionId?: number): number;
  /** Resets all connections: what was on its way to the other side is lost, too. */
  resetSessions(): void;
  /** Asks all bound sessions to unbind. */
  unbindSessions(): void;
  /** Sends enquire_link on all bound sessions. */
  enquireSessions(): void;
  /** From now on nothing is read or sent, new connections included, until `resume()`: a carrier that hangs. */
  pause(): void;
  resume(): void;
  hold(): void;
  /** Lets held receipts go. */
  release(): void;
  /** Writes bytes as they are to all sessions, or one. Throws RangeError if there is none. */
  inject(bytes: Buffer, sessionId?: number): void;
  /** Queues a deliver_sm. Throws RangeError if no account is named and not exactly one is bound. */
  sendMo(message: MobileOriginated): void;
  /** Breaks all connections and frees the port. May be called twice. */
  close(): Promise<void>;
}

/** How often unanswered deliver_sm are looked for. */
const SWEEP_MS = 100;

const MAX_CONNECTIONS = 1_000;

/** esm_class with the UDH indicator or not is the caller's; numbers are international ISDN unless said otherwise. */
const MO_DEFAULTS = { fromTon: 1, fromNpi: 1, toTon: 1, toNpi: 1, esmClass: 0, tlvs: new Map<number, Buffer>() };

/** Starts an SMSC on 127.0.0.1. Rejects with the error of `listen` (EADDRINUSE) or of opening the log file. */
export async function startSmsc(overrides: Partial<SmscOptions> = {}): Promise<Smsc> {
  const options: SmscOptions = { ...SMSC_DEFAULTS, ...overrides };
  const audit = options.log === '' ? undefined : new AuditFile(options.log);
  const delays = new Delays();
  const mailboxes = new Mailboxes(options, delays);
  const kept = new KeptSubmits(options.keepMessages);
  const sessions = new Map<number, Session>();
  const reassembly = new Reassembly();
  const totals = { connections: 0, binds: 0, refusedBinds: 0, bad: 0, peakUnanswered: 0 };
  let paused = false;

  const acceptance = new Acceptance(options, magicNumbers(), {
    kept,
    mailboxes,
    delays,
    accepted: (submit) => {
      audit?.add(submit);
      if (options.onEvent === undefined) return;
      const text = reassembly.add(submit);
      if (text !== undefined) options.onEvent({ kind: 'text', text });
    },
  });

  const owner: SessionOwner = {
    onFrame: options.onFrame,
    admit: (session, request) => {
      const status = admission(options, request);
      if (status !== STATUS.ok) {
        totals.refusedBinds += 1;
        options.onEvent?.({ kind: 'bind-refused', sessionId: session.id, systemId: request.systemId, status });
      }
      return status;
    },
    bound: (session) => {
      totals.binds += 1;
      const as = session.kind ?? '';
      options.onEvent?.({ kind: 'bound', sessionId: session.id, systemId: session.systemId, as });
      if (session.receives) mailboxes.join(session);
    },
    submitted: (session, submit) => acceptance.handle(session, submit),
    refused: (status) => acceptance.refused(status),
    find: (messageId) => kept.find(messageId),
    answered: (session, sequence, status) => mailboxes.answered(session, sequence, status),
    bad: (session, what) => {
      totals.bad += 1;
      options.onEvent?.({ kind: 'bad-frame', sessionId: session.id, what });
    },
    beforeWrite: () => audit?.flush(),
    closed: (session) => {
      sessions.delete(session.id);
      totals.peakUnanswered = Math.max(totals.peakUnanswered, session.peakUnanswered);
      mailboxes.leave(session);
      if (session.kind === undefined) return;
      options.onEvent?.({ kind: 'unbound', sessionId: session.id, systemId: session.systemId, as: session.kind });
    },
  };

  const server = createServer((socket) => {
    totals.connections += 1;
    const session = new Session(totals.connections, socket, owner, options.maxPduOctets);
    sessions.set(session.id, session);
    socket.setTimeout(options.idleTimeoutMs);
    session.paused = paused;
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  const port = (server.address() as AddressInfo).port; // Listening on TCP: the address is never a pipe's name.

  const timers = [setInterval(() => mailboxes.sweep(), SWEEP_MS)];
  if (options.enquireLinkMs > 0) timers.push(setInterval(() => requestAll(COMMAND.enquireLink), options.enquireLinkMs));
  const addressed = (sessionId: number | undefined): Session[] =>
    [...sessions.values()].filter((session) => sessionId === undefined || session.id === sessionId);
  const requestAll = (command: number): void => {
    for (const session of addressed(undefined)) if (session.bound) session.request(command);
  };
  const setPaused = (value: boolean): void => {
    paused = value;
    mailboxes.paused = value;
    for (const session of addressed(undefined)) session.paused = value;
  };

  return {
    port,
    stats: () => ({
      submits: { ...acceptance.counts, refused: { ...acceptance.counts.refused } },
      peakPerSecond: acceptance.rate.peak,
      peakUnanswered: Math.max(totals.peakUnanswered, ...addressed(undefined).map((each) => each.peakUnanswered)),
      deliveries: { ...mailboxes.counts },
      pending: mailboxes.pending,
      waiting: mailboxes.waiting(),
      held: acceptance.held,
      connections: totals.connections,
      binds: totals.binds,
      refusedBinds: totals.refusedBinds,
      bad: totals.bad,
    }),
    sessions: () => addressed(undefined).map(sessionInfo),
    messages: () => kept.all(),
    texts: () => wholeTexts(kept.all()),
    cutSessions: (sessionId) => {
      const cut = addressed(sessionId);
      for (const session of cut) session.cut();
      return cut.length;
    },
    resetSessions: () => {
      for (const session of addressed(undefined)) session.reset();
    },
    unbindSessions: () => requestAll(COMMAND.unbind),
    enquireSessions: () => requestAll(COMMAND.enquireLink),
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    hold: () => acceptance.hold(),
    release: () => acceptance.release(),
    inject: (bytes, sessionId) => {
      const targets = addressed(sessionId);
      if (targets.length === 0) throw new RangeError('no such session');
      for (const session of targets) session.send(bytes);
    },
    sendMo: (message) => mailboxes.post(message.systemId ?? onlyAccount(addressed(undefined)), phoneMessage(message)),
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      delays.clear();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of addressed(undefined)) session.cut();
      for (const socket of sockets) socket.destroy(); // Those that were ended but whose client does not read.
      await closed;
      audit?.close();
    },
  };
}

function admission(options: SmscOptions, request: BindRequest): number {
  if (options.systemId !== '' && request.systemId !== options.systemId) return STATUS.invalidSystemId;
  if (options.password !== '' && request.password !== options.password) return STATUS.invalidPassword;
  return STATUS.ok;
}

function sessionInfo(session: Session): SessionInfo {
  return {
    id: session.id,
    systemId: session.systemId,
    kind: session.kind ?? 'unbound',
    outstanding: session.outstanding.size,
    unanswered: session.unanswered,
  };
}

function onlyAccount(sessions: readonly Session[]): string {
  const accounts = new Set(sessions.filter((session) => session.receives).map((session) => session.systemId));
  const [account] = accounts;
  if (account === undefined || accounts.size > 1) throw new RangeError(`${accounts.size} accounts are bound`);
  return account;
}

function phoneMessage(message: MobileOriginated): DeliverSm {
  const text = message.text ?? '';
  const isGsm = fitsGsm7(text);
  return {
    ...MO_DEFAULTS,
    dataCoding: isGsm ? 0 : 8,
    userData: isGsm ? encodeGsm7(text) : encodeUcs2(text),
    ...message,
  };
}
