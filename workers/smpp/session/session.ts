import { STATUS } from '../../../shared/carriers/command-status.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import {
  type BindCommand,
  type BindFields,
  COMMAND,
  type Deliver,
  decodeDeliver,
  decodeMessageId,
  encodeBind,
  encodeDeliverAnswer,
  encodeHeaderOnly,
  isResponse,
  type PduHeader,
  readHeader,
  setSequence,
} from './pdu.ts';
import { Reading } from './reading.ts';
import { SmppSocket } from './socket.ts';
import { type LostSubmits, UnansweredSubmits } from './unanswered-submits.ts';

/**
 * One SMPP session: requests and their answers over one socket. An answer belongs to a request when sequence number AND command
 * fit (SMPP 3.4 §2.4.1). Every submit ends in exactly one of: answered, timed out (and perhaps answered late), lost at the
 * close: nothing is forgotten without a word.
 *
 * `Context` is whatever the caller wants back with the answer to a submit.
 */
export interface SessionOptions<Context> {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly clock: Clock;
  readonly responseTimeoutMs: number;
  readonly enquireLinkMs: number;
  mayWrite(): boolean;
  onOpen(): void;
  onAnswer(context: Context, answer: SubmitAnswer): void;
  /** No answer within the response timeout; it may still come (`onAnswer` again), for `LATE_MS`. */
  onTimeout(context: Context): void;
  /** `answer` stores nothing and may be called once, at any later time; 0 says that the PDU was taken. */
  onDeliver(deliver: Deliver, answer: (status: number) => void): void;
  /** The peer wants to end; `confirm` sends the unbind_resp. */
  onUnbind(confirm: () => void): void;
  onClose(reason: string, lost: LostSubmits<Context>): void;
}

export interface SubmitAnswer {
  readonly status: number;
  /** Empty when refused, or when the carrier gave none. */
  readonly messageId: string;
}

interface Control {
  readonly response: number;
  readonly deadlineMs: number;
  readonly resolve: (status: number | 'no_answer') => void;
}

const MAX_SEQUENCE = 0x7fffffff;
const ENQUIRE_ANSWER_MS = 10_000;
/** Unanswered enquire_link in a row until the link counts as dead. */
const ENQUIRE_MISSES = 2;

export class Session<Context> {
  readonly #options: SessionOptions<Context>;
  readonly #socket: SmppSocket;
  readonly #reading: Reading;
  readonly #submits = new UnansweredSubmits<Context>();
  readonly #controls = new Map<number, Control>();
  readonly #timer: NodeJS.Timeout;
  #sequence = 0;
  #lastReadMs: number;
  #enquiring = false;
  #misses = 0;
  /** Before the bind there are no receipts, and enquire_link is not ours to send. */
  #bound = false;

  constructor(options: SessionOptions<Context>) {
    this.#options = options;
    this.#lastReadMs = options.clock.monotonicMs();
    this.#socket = new SmppSocket(
      {
        host: options.host,
        port: options.port,
        tls: options.tls,
        mayWrite: () => options.mayWrite(),
        onFrame: (frame) => this.#onFrame(frame),
        onClose: (reason, unwritten) => this.#onClose(reason, unwritten),
      },
      () => options.onOpen(),
    );
    this.#reading = new Reading(this.#socket, options.clock);
    const tickMs = Math.min(Math.max(Math.min(options.responseTimeoutMs, options.enquireLinkMs) / 4, 10), 500);
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  get open(): boolean {
    return this.#socket.open;
  }

  /** Whether more submits would only pile up in memory. */
  get congested(): boolean {
    return this.#socket.congested;
  }

  /** `frame` is a submit_sm; its sequence number is set here. The caller keeps to the window. */
  submit(frame: Buffer, context: Context): void {
    const sequence = this.#nextSequence();
    setSequence(frame, sequence);
    this.#submits.add(sequence, context, this.#options.clock.monotonicMs());
    this.#socket.send(frame, sequence);
  }

  /** The bind's command_status, or `no_answer`. */
  bind(command: BindCommand, fields: BindFields, timeoutMs: number): Promise<number | 'no_answer'> {
    const sequence = this.#nextSequence();
    const ids = {
      bind_transceiver: COMMAND.bindTransceiver,
      bind_transmitter: COMMAND.bindTransmitter,
      bind_receiver: COMMAND.bindReceiver,
    };
    return this.#control(ids[command], sequence, encodeBind(command, sequence, fields), timeoutMs);
  }

  unbind(timeoutMs: number): Promise<number | 'no_answer'> {
    const sequence = this.#nextSequence();
    const frame = encodeHeaderOnly({ command: COMMAND.unbind, status: 0, sequence });
    return this.#control(COMMAND.unbind, sequence, frame, timeoutMs);
  }

  /** Reads nothing for a moment: what the peer sends waits there, and it slows down. */
  pauseReading(ms: number): void {
    this.#reading.pause(ms);
  }

  end(): void {
    this.#socket.end();
  }

  destroy(reason: string): void {
    this.#socket.destroy(reason);
  }

  #nextSequence(): number {
    do this.#sequence = this.#sequence >= MAX_SEQUENCE ? 1 : this.#sequence + 1;
    while (this.#submits.has(this.#sequence));
    return this.#sequence;
  }

  #control(command: number, sequence: number, frame: Buffer, timeoutMs: number): Promise<number | 'no_answer'> {
    return new Promise((resolve) => {
      const deadlineMs = this.#options.clock.monotonicMs() + timeoutMs;
      this.#controls.set(sequence, { response: responseOf(command), deadlineMs, resolve });
      this.#socket.send(frame, sequence);
    });
  }

  #onFrame(frame: Buffer): void {
    this.#lastReadMs = this.#options.clock.monotonicMs();
    this.#misses = 0;
    const header = readHeader(frame);
    if (isResponse(header.command)) this.#onResponse(header, frame);
    else this.#onRequest(header, frame);
  }

  #onResponse(header: PduHeader, frame: Buffer): void {
    const { command, sequence, status } = header;
    const control = this.#controls.get(sequence);
    if (control !== undefined && (command === control.response || command === COMMAND.genericNack)) {
      this.#controls.delete(sequence);
      // At once: the carrier may send receipts in the same packet as the answer to the bind.
      if (status === 0 && BIND_RESPONSES.has(command)) this.#bound = true;
      control.resolve(status === 0 && command === COMMAND.genericNack ? STATUS.systemError : status);
      return;
    }
    if (command !== responseOf(COMMAND.submitSm) && command !== COMMAND.genericNack) return;
    const submit = this.#submits.take(sequence);
    if (submit === undefined) return;
    // A generic_nack refuses whatever its status says; 0 would read as success.
    const refused = command === COMMAND.genericNack && status === 0 ? STATUS.systemError : status;
    this.#options.onAnswer(submit.context, {
      status: refused,
      messageId: refused === 0 ? decodeMessageId(frame) : '',
    });
  }

  #onRequest(header: PduHeader, frame: Buffer): void {
    switch (header.command) {
      case COMMAND.enquireLink:
        this.#answer(header, 0);
        break;
      case COMMAND.deliverSm:
      case COMMAND.dataSm:
        this.#onDeliver(header, frame);
        break;
      case COMMAND.unbind:
        this.#options.onUnbind(() => this.#answer(header, 0));
        break;
      case COMMAND.alertNotification:
      case COMMAND.outbind:
        break; // Have no answer (§4.12, §4.1.7).
      default:
        this.#nack(header, STATUS.invalidCommandId);
    }
  }

  #onDeliver(header: PduHeader, frame: Buffer): void {
    if (!this.#bound) {
      this.#send(encodeDeliverAnswer(header, STATUS.incorrectBindStatus), header.sequence);
      return;
    }
    let deliver: Deliver;
    try {
      deliver = decodeDeliver(frame);
    } catch {
      this.#nack(header, STATUS.systemError);
      return;
    }
    this.#reading.onDeliver();
    this.#options.onDeliver(deliver, (status) => {
      this.#send(encodeDeliverAnswer(header, status), header.sequence);
      this.#reading.onDeliverAnswered();
    });
  }

  #answer(request: PduHeader, status: number): void {
    const answer = { command: responseOf(request.command), status, sequence: request.sequence };
    this.#send(encodeHeaderOnly(answer), request.sequence);
  }

  #nack(request: PduHeader, status: number): void {
    const nack = { command: COMMAND.genericNack, status, sequence: request.sequence };
    this.#send(encodeHeaderOnly(nack), request.sequence);
  }

  /** Answers carry the peer's numbers: kept out of our own (a lost answer is not a lost request). */
  #send(frame: Buffer, sequence: number): void {
    this.#socket.send(frame, -sequence);
  }

  #tick(): void {
    if (this.#reading.deaf) return;
    const nowMs = this.#options.clock.monotonicMs();
    for (const [sequence, control] of this.#controls) {
      if (nowMs < control.deadlineMs) continue;
      this.#controls.delete(sequence);
      control.resolve('no_answer');
    }
    this.#submits.age(nowMs, this.#options.responseTimeoutMs, (context) => this.#options.onTimeout(context));
    if (this.#bound && !this.#enquiring && nowMs - this.#lastReadMs >= this.#options.enquireLinkMs) this.#enquire();
  }

  #enquire(): void {
    this.#enquiring = true;
    const sequence = this.#nextSequence();
    const frame = encodeHeaderOnly({ command: COMMAND.enquireLink, status: 0, sequence });
    const timeoutMs = Math.min(ENQUIRE_ANSWER_MS, this.#options.enquireLinkMs);
    void this.#control(COMMAND.enquireLink, sequence, frame, timeoutMs).then((answer) => {
      this.#enquiring = false;
      if (answer !== 'no_answer') return;
      this.#misses += 1;
      if (this.#misses >= ENQUIRE_MISSES) this.destroy('enquire_link_unanswered');
      else this.#enquire();
    });
  }

  #onClose(reason: string, unwritten: ReadonlySet<number>): void {
    clearInterval(this.#timer);
    this.#reading.end();
    for (const control of this.#controls.values()) control.resolve('no_answer');
    this.#controls.clear();
    this.#options.onClose(reason, this.#submits.lose(unwritten));
  }
}

const BIND_RESPONSES: ReadonlySet<number> = new Set(
  [COMMAND.bindTransceiver, COMMAND.bindTransmitter, COMMAND.bindReceiver].map(responseOf),
);

function responseOf(command: number): number {
  return (command | COMMAND.genericNack) >>> 0;
}
