import { closeSync, openSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { type BindRequest, STATUS } from '../smpp/pdu.ts';
import type { Submit } from '../smpp/submit.ts';
import type { Acceptance, KeptSubmits } from './acceptance.ts';
import type { Mailboxes } from './mailboxes.ts';
import type { SmscOptions } from './options.ts';
import { Session, type SessionOwner } from './session.ts';

export interface SessionInfo {
  readonly id: number;
  /** Empty until the session is bound. */
  readonly systemId: string;
  readonly kind: 'unbound' | 'receiver' | 'transmitter' | 'transceiver';
  /** deliver_sm that the client has not answered; `unanswered`: submit_sm that the SMSC has not answered. */
  readonly outstanding: number;
  readonly unanswered: number;
}

interface SessionsDeps {
  readonly options: SmscOptions;
  readonly acceptance: Acceptance;
  readonly mailboxes: Mailboxes;
  readonly kept: KeptSubmits;
  readonly audit: AuditFile | undefined;
}

export class Sessions implements SessionOwner {
  readonly onFrame: SessionOwner['onFrame'];
  readonly defaultAlphabet: SessionOwner['defaultAlphabet'];
  readonly totals = { connections: 0, binds: 0, refusedBinds: 0, bad: 0 };
  readonly #deps: SessionsDeps;
  readonly #sessions = new Map<number, Session>();
  readonly #sockets = new Set<Socket>();
  #peakUnanswered = 0;
  #paused = false;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    this.onFrame = deps.options.onFrame;
    this.defaultAlphabet = deps.options.defaultAlphabet;
  }

  open(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    this.totals.connections += 1;
    const session = new Session(this.totals.connections, socket, this);
    this.#sessions.set(session.id, session);
    session.paused = this.#paused;
  }

  addressed(sessionId?: number): readonly Session[] {
    return [...this.#sessions.values()].filter(({ id }) => sessionId === undefined || id === sessionId);
  }

  info(): SessionInfo[] {
    return this.addressed().map((session) => ({
      id: session.id,
      systemId: session.systemId,
      kind: session.kind ?? 'unbound',
      outstanding: session.outstanding.size,
      unanswered: session.unanswered,
    }));
  }

  /** The most unanswered submits at one time on one session. */
  get peakUnanswered(): number {
    return Math.max(this.#peakUnanswered, ...this.addressed().map((session) => session.peakUnanswered));
  }

  set paused(paused: boolean) {
    this.#paused = paused;
    for (const session of this.addressed()) session.paused = paused;
  }

  requestAll(command: number): void {
    for (const session of this.addressed()) if (session.bound) session.request(command);
  }

  /** The account of all receiving sessions. Throws RangeError unless it is exactly one. */
  onlyAccount(): string {
    const accounts = new Set(this.addressed().flatMap(({ receives, systemId }) => (receives ? [systemId] : [])));
    const [account] = accounts;
    if (account === undefined || accounts.size > 1) throw new RangeError(`${accounts.size} accounts are bound`);
    return account;
  }

  /** Breaks all connections. */
  close(): void {
    for (const session of this.addressed()) session.cut();
    for (const socket of this.#sockets) socket.destroy(); // Ended sockets whose client does not read.
  }

  admit(session: Session, request: BindRequest): number {
    const { options } = this.#deps;
    const status = admission(options, request);
    if (status !== STATUS.ok) {
      this.totals.refusedBinds += 1;
      options.onEvent?.({ kind: 'bind-refused', sessionId: session.id, systemId: request.systemId, status });
    }
    return status;
  }

  bound(session: Session): void {
    const { options, mailboxes } = this.#deps;
    this.totals.binds += 1;
    const as = session.kind ?? '';
    options.onEvent?.({ kind: 'bound', sessionId: session.id, systemId: session.systemId, as });
    if (session.receives) mailboxes.join(session);
  }

  submitted(session: Session, submit: Submit): void {
    this.#deps.acceptance.handle(session, submit);
  }

  refused(status: number): void {
    this.#deps.acceptance.refused(status);
  }

  find(messageId: string): Submit | undefined {
    return this.#deps.kept.find(messageId);
  }

  answered(session: Session, sequence: number, status: number): boolean {
    return this.#deps.mailboxes.answered(session, sequence, status);
  }

  bad(session: Session, what: string): void {
    this.totals.bad += 1;
    this.#deps.options.onEvent?.({ kind: 'bad-frame', sessionId: session.id, what });
  }

  beforeWrite(): void {
    this.#deps.audit?.flush();
  }

  closed(session: Session): void {
    const { options, mailboxes } = this.#deps;
    this.#sessions.delete(session.id);
    this.#peakUnanswered = Math.max(this.#peakUnanswered, session.peakUnanswered);
    mailboxes.leave(session);
    if (session.kind === undefined) return;
    options.onEvent?.({ kind: 'unbound', sessionId: session.id, systemId: session.systemId, as: session.kind });
  }
}

function admission(options: SmscOptions, request: BindRequest): number {
  if (options.systemId !== '' && request.systemId !== options.systemId) return STATUS.invalidSystemId;
  if (options.password !== '' && request.password !== options.password) return STATUS.invalidPassword;
  return STATUS.ok;
}

/**
 * Appends each accepted message as a line of JSON. Lines are written before the same turn's answers leave, so every
 * message that a client was told of is in the file.
 */
export class AuditFile {
  readonly #file: number;
  #lines = '';

  /** Opens `path` for appending. Throws if that fails. */
  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  add(submit: Submit): void {
    if (this.#lines === '') setImmediate(() => this.flush()); // If nothing is answered in this turn, nothing else flushes.
    this.#lines += `${JSON.stringify(auditLine(submit))}\n`;
  }

  flush(): void {
    if (this.#lines === '') return;
    writeSync(this.#file, this.#lines);
    this.#lines = '';
  }

  close(): void {
    this.flush();
    closeSync(this.#file);
  }
}

/** `{"time":"2026-11-21T10:00:00.000Z","id":"…","from":"ACMEIN",…,"udh":"050003070201","tlvs":{"0x1400":"3131…"},"text":"…"}` */
function auditLine(submit: Submit): Record<string, unknown> {
  return {
    time: new Date(submit.receivedAt).toISOString(),
    id: submit.messageId,
    session: submit.sessionId,
    system_id: submit.systemId,
    sequence: submit.sequence,
    from: submit.from,
    to: submit.to,
    data_coding: submit.dataCoding,
    esm_class: submit.esmClass,
    registered_delivery: submit.registeredDelivery,
    validity_period: submit.validityPeriod,
    udh: submit.header.toString('hex'),
    tlvs: Object.fromEntries([...submit.tlvs].map(([tag, value]) => [tagName(tag), value.toString('hex')])),
    octets: submit.body.toString('hex'),
    text: submit.text,
  };
}

function tagName(tag: number): string {
  return `0x${tag.toString(16).padStart(4, '0')}`;
}
