import type { Clock } from '../../platform/runtime/clock.ts';
import { STATUS } from '../command-status.ts';
import { type Deliver, decodeDeliver } from './deliver-sm.ts';
import {
  type BindCommand,
  type BindFields,
  COMMAND,
  decodeMessageId,
  encodeBind,
  encodeDeliverAnswer,
  encodeHeaderOnly,
  isResponse,
  type PduHeader,
  readHeader,
  responseOf,
} from './pdu.ts';
import { SmppSocket, type SocketOptions } from './socket.ts';
import { setSequence } from './submit-sm.ts';
import { type LostSubmits, UnansweredSubmits } from './unanswered-submits.ts';

/** A submit_sm, with whatever the caller wants back with its answer. */
export interface Submit {
  readonly frame: Buffer;
}

export interface SessionOptions<Context extends Submit> {
  readonly host: string;
  readonly port: number;
  readonly tls: SocketOptions['tls'];
  readonly command: BindCommand;
  readonly fields: BindFields;
  readonly clock: Clock;
  readonly responseTimeoutMs: number;
  readonly enquireLinkMs: number;
  readonly delivers: DeliverTaker;
  mayWrite(): boolean;
  /** Called with every PDU of the session, for `ops carrier test`. */
  onFrame?(direction: 'in' | 'out', frame: Buffer): void;
  onOpen(): void;
  onAnswer(context: Context, answer: SubmitAnswer): void;
  /** No answer came within the response timeout. For `LATE_MS` it may still come; `onAnswer` is then called too. */
  onTimeout(context: Context): void;
  /** `confirm` sends the unbind_resp. */
  onUnbind(confirm: () => void): void;
  onClose(reason: string, lost: LostSubmits<Context>): void;
}

export interface SubmitAnswer {
  readonly status: number;
  /** Empty if the submit was refused, or if the carrier gave no id. */
  readonly messageId: string;
}

const MAX_SEQUENCE = 0x7fffffff;

/**
 * One SMPP session over one socket. An answer belongs to the request with its sequence number AND its command (SMPP 3.4
 * §2.4.1). Every submit ends in one of these ways, and the caller is told which: it is answered, it times out (and may
 * still be answered late), or it is lost with the connection.
 */
export class Session<Context extends Submit> {
  unboundMs: number | undefined;
  readonly #options: SessionOptions<Context>;
  readonly #socket: SmppSocket;
  readonly #reading: Reading;
  readonly #submits = new UnansweredSubmits<Context>();
  readonly #controls = new ControlRequests();
  readonly #timer: NodeJS.Timeout;
  #sequence = 0;
  readonly #check: LinkCheck;
  /** Until the bind is accepted, deliver_sm are refused and no enquire_link is sent. */
  #bound = false;

  constructor(options: SessionOptions<Context>) {
    this.#options = options;
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
    this.#check = new LinkCheck({
      everyMs: options.enquireLinkMs,
      nowMs: options.clock.monotonicMs(),
      enquire: (timeoutMs) => this.#enquireLink(timeoutMs),
      onDead: () => this.destroy('enquire_link_unanswered'),
    });
    const tickMs = Math.min(Math.max(Math.min(options.responseTimeoutMs, options.enquireLinkMs) / 4, 10), 500);
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  get open(): boolean {
    return this.#socket.open;
  }

  get heardMs(): number {
    return this.#check.heardMs;
  }

  /** Whether the peer reads so slowly that further submits would only fill our memory. */
  get congested(): boolean {
    return this.#socket.congested;
  }

  get certificateUntil(): Date | undefined {
    return this.#socket.certificateUntil;
  }

  /** Sets the frame's sequence number. The caller must not exceed the carrier's window. */
  submit(context: Context): void {
    const sequence = this.#nextSequence();
    setSequence(context.frame, sequence);
    this.#submits.add(sequence, context, this.#options.clock.monotonicMs());
    this.#write(context.frame, sequence);
  }

  bind(timeoutMs: number): Promise<number | 'no_answer'> {
    const { command, fields } = this.#options;
    const sequence = this.#nextSequence();
    return this.#request(BIND_COMMAND_IDS[command], sequence, encodeBind(command, sequence, fields), timeoutMs);
  }

  /** First answers deliver_sm for at most `answersMs`: unanswered ones are sent again. Reads no more. */
  async unbind(timeoutMs: number, answersMs: number): Promise<number | 'no_answer'> {
    await this.#reading.untilAnswered(answersMs);
    if (!this.open) return 'no_answer';
    const sequence = this.#nextSequence();
    const frame = encodeHeaderOnly({ command: COMMAND.unbind, status: 0, sequence });
    const askedMs = this.#options.clock.monotonicMs();
    const answer = await this.#request(COMMAND.unbind, sequence, frame, timeoutMs);
    if (answer !== 'no_answer') this.unboundMs = askedMs;
    return answer;
  }

  /** Meanwhile input waits in the kernel, so the peer has to slow down. */
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

  #request(command: number, sequence: number, frame: Buffer, timeoutMs: number): Promise<number | 'no_answer'> {
    const answered = this.#controls.add(sequence, command, this.#options.clock.monotonicMs() + timeoutMs);
    this.#write(frame, sequence);
    return answered;
  }

  #enquireLink(timeoutMs: number): Promise<number | 'no_answer'> {
    const sequence = this.#nextSequence();
    const frame = encodeHeaderOnly({ command: COMMAND.enquireLink, status: 0, sequence });
    return this.#request(COMMAND.enquireLink, sequence, frame, timeoutMs);
  }

  #onFrame(frame: Buffer): void {
    this.#check.heard(this.#options.clock.monotonicMs());
    this.#options.onFrame?.('in', frame);
    const header = readHeader(frame);
    if (isResponse(header.command)) this.#onResponse(header, frame);
    else this.#onRequest(header, frame);
  }

  #onResponse(header: PduHeader, frame: Buffer): void {
    const { command, sequence, status } = header;
    // A generic_nack is always a refusal, also with status 0.
    const refused = command === COMMAND.genericNack && status === 0 ? STATUS.systemError : status;
    if (this.#controls.answer(header, refused)) {
      // Set before the next PDU is read: the answer to the bind and the first receipts may come in one packet.
      if (refused === 0 && BIND_RESPONSES.has(command)) this.#bound = true;
      return;
    }
    if (command !== responseOf(COMMAND.submitSm) && command !== COMMAND.genericNack) return;
    const submit = this.#submits.take(sequence);
    if (submit === undefined) return;
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
        break; // These have no answer (§4.12, §4.1.7).
      default:
        this.#nack(header, STATUS.invalidCommandId);
    }
  }

  #onDeliver(header: PduHeader, frame: Buffer): void {
    if (!this.#bound) {
      this.#send(encodeDeliverAnswer(header, STATUS.incorrectBindStatus), header.sequence);
      return;
    }
    this.#reading.onDeliver();
    const answer = (status: number): void => {
      this.#send(encodeDeliverAnswer(header, status), header.sequence);
      this.#reading.onDeliverAnswered();
    };
    void this.#options.delivers.take(decodeDeliver(frame), answer, { session: this, sequence: header.sequence });
  }

  #answer(request: PduHeader, status: number): void {
    const answer = { command: responseOf(request.command), status, sequence: request.sequence };
    this.#send(encodeHeaderOnly(answer), request.sequence);
  }

  #nack(request: PduHeader, status: number): void {
    const nack = { command: COMMAND.genericNack, status, sequence: request.sequence };
    this.#send(encodeHeaderOnly(nack), request.sequence);
  }

  /** Negates the peer's sequence number, so that a lost answer does not look like one of our requests. */
  #send(frame: Buffer, sequence: number): void {
    this.#write(frame, -sequence);
  }

  #write(frame: Buffer, sequence: number): void {
    this.#options.onFrame?.('out', frame);
    this.#socket.send(frame, sequence);
  }

  #tick(): void {
    if (this.#reading.deaf) return;
    const { clock, responseTimeoutMs } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#controls.age(nowMs);
    const overdueSinceMs = this.#submits.overdueSinceMs(nowMs, responseTimeoutMs);
    // On a dead link, a submit sent in the slot that a timeout frees would be lost.
    if (this.#bound && this.#check.tick(nowMs, overdueSinceMs) === 'asking') return;
    this.#submits.age(nowMs, responseTimeoutMs, (context) => this.#options.onTimeout(context));
  }

  #onClose(reason: string, unwritten: ReadonlySet<number>): void {
    clearInterval(this.#timer);
    this.#reading.end();
    this.#controls.lose();
    this.#options.onClose(reason, this.#submits.lose(unwritten));
  }
}

const BIND_COMMAND_IDS: Readonly<Record<BindCommand, number>> = {
  bind_transceiver: COMMAND.bindTransceiver,
  bind_transmitter: COMMAND.bindTransmitter,
  bind_receiver: COMMAND.bindReceiver,
};
const BIND_RESPONSES: ReadonlySet<number> = new Set(Object.values(BIND_COMMAND_IDS).map(responseOf));

interface ControlRequest {
  readonly response: number;
  readonly deadlineMs: number;
  readonly resolve: (status: number | 'no_answer') => void;
}

/** The bind, unbind and enquire_link requests that wait for their answers, by sequence number. */
class ControlRequests {
  readonly #open = new Map<number, ControlRequest>();

  /** Resolves to the answer's command_status, or to `no_answer` at the deadline or when the connection ends. */
  add(sequence: number, command: number, deadlineMs: number): Promise<number | 'no_answer'> {
    return new Promise((resolve) => {
      this.#open.set(sequence, { response: responseOf(command), deadlineMs, resolve });
    });
  }

  /** False when the response answers none of these requests. */
  answer({ sequence, command }: PduHeader, status: number): boolean {
    const request = this.#open.get(sequence);
    if (request === undefined || (command !== request.response && command !== COMMAND.genericNack)) return false;
    this.#open.delete(sequence);
    request.resolve(status);
    return true;
  }

  age(nowMs: number): void {
    for (const [sequence, request] of this.#open) {
      if (nowMs < request.deadlineMs) continue;
      this.#open.delete(sequence);
      request.resolve('no_answer');
    }
  }

  /** The connection has ended, so no answer can come. */
  lose(): void {
    for (const request of this.#open.values()) request.resolve('no_answer');
    this.#open.clear();
  }
}

interface LinkCheckOptions {
  /** After this time without any PDU, enquire_link is sent. */
  readonly everyMs: number;
  readonly nowMs: number;
  enquire(timeoutMs: number): Promise<number | 'no_answer'>;
  onDead(): void;
}

const ANSWER_MS = 10_000;
/** The link counts as dead after this many unanswered enquire_link in a row. */
const MISSES = 2;

/** Detects a dead link by enquire_link (SMPP 3.4 §4.11). */
class LinkCheck {
  readonly #options: LinkCheckOptions;
  #heardMs: number;
  #enquiring = false;
  #misses = 0;

  constructor(options: LinkCheckOptions) {
    this.#options = options;
    this.#heardMs = options.nowMs;
  }

  get heardMs(): number {
    return this.#heardMs;
  }

  heard(nowMs: number): void {
    this.#heardMs = nowMs;
    this.#misses = 0;
  }

  /**
   * `asking`: an enquire_link is unanswered, so whatever is sent now may be lost. `overdueSinceMs`: when the oldest
   * overdue request was sent; if nothing was heard since, the peer is asked at once.
   */
  tick(nowMs: number, overdueSinceMs: number | undefined): 'asking' | 'alive' {
    const silent = nowMs - this.#heardMs >= this.#options.everyMs || (overdueSinceMs ?? -1) >= this.#heardMs;
    if (!this.#enquiring && silent) this.#enquire();
    return this.#enquiring ? 'asking' : 'alive';
  }

  #enquire(): void {
    const { enquire, everyMs, onDead } = this.#options;
    this.#enquiring = true;
    void enquire(Math.min(ANSWER_MS, everyMs)).then((answer) => {
      this.#enquiring = false;
      if (answer !== 'no_answer') return;
      this.#misses += 1;
      if (this.#misses >= MISSES) onDead();
      else this.#enquire();
    });
  }
}

/** Most deliver_sm that wait for our answer. At this limit reading stops, until half of them are answered. */
const MAX_UNANSWERED_DELIVERS = 2_000;
/** For this long after a pause in reading, no request times out: its answer may have waited in the kernel. */
const AFTER_PAUSE_MS = 2_000;

/** Stops reading while the caller wants a pause, and while too many deliver_sm wait for our answer. */
class Reading {
  readonly #socket: SmppSocket;
  readonly #clock: Clock;
  #unansweredDelivers = 0;
  #timer: NodeJS.Timeout | undefined;
  #deafUntilMs = 0;
  #allAnswered: (() => void) | undefined;

  constructor(socket: SmppSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** Whether an answer may have arrived that was not read yet, so that nothing may time out. */
  get deaf(): boolean {
    return this.#socket.paused || this.#clock.monotonicMs() < this.#deafUntilMs;
  }

  pause(ms: number): void {
    clearTimeout(this.#timer);
    this.#socket.setPaused(true);
    this.#timer = setTimeout(() => this.#resume(), ms);
  }

  /** Stops reading until every deliver_sm that was read is answered, for at most `ms`. Resolves then. */
  async untilAnswered(ms: number): Promise<void> {
    if (this.#unansweredDelivers === 0) return;
    this.pause(ms);
    await new Promise<void>((resolve) => {
      this.#allAnswered = resolve;
    });
  }

  onDeliver(): void {
    this.#unansweredDelivers += 1;
    if (this.#unansweredDelivers >= MAX_UNANSWERED_DELIVERS) this.#socket.setPaused(true);
  }

  onDeliverAnswered(): void {
    this.#unansweredDelivers -= 1;
    const relieved = this.#unansweredDelivers <= MAX_UNANSWERED_DELIVERS / 2;
    if (this.#socket.paused && relieved && this.#timer === undefined) this.#resume();
    else if (this.#allAnswered !== undefined && this.#unansweredDelivers === 0) this.#resume();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#allAnswered?.();
  }

  #resume(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#allAnswered?.();
    this.#allAnswered = undefined;
    this.#deafUntilMs = this.#clock.monotonicMs() + AFTER_PAUSE_MS;
    if (this.#unansweredDelivers < MAX_UNANSWERED_DELIVERS) this.#socket.setPaused(false);
  }
}

export interface DeliverSession {
  readonly open: boolean;
  /** When the peer last sent something, by the monotonic clock. */
  readonly heardMs: number;
  /** When we asked to unbind. Set once the peer has answered that. */
  readonly unboundMs?: number | undefined;
}

export interface DeliverVia {
  readonly session: DeliverSession;
  readonly sequence: number;
}

/** Takes what the carrier delivers (receipts/receive.ts). */
export interface DeliverTaker {
  /** Takes one deliver_sm or data_sm. Calls `answer` once, now or later; status 0: taken. Never rejects. */
  take(deliver: Deliver, answer: (status: number) => void, via: DeliverVia): Promise<void>;
}
