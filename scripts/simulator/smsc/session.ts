import type { Socket } from 'node:net';
import {
  type BindKind,
  type BindRequest,
  bindKindOf,
  bindResponse,
  COMMAND,
  FieldReader,
  FrameReader,
  HEADER_OCTETS,
  MalformedPdu,
  readBind,
  responseTo,
  STATUS,
  VERSION_WITH_TLVS,
  writePdu,
} from '../smpp/pdu.ts';
import { Submit } from '../smpp/submit.ts';
import type { DefaultAlphabet } from '../smpp/text.ts';
import type { Delivery, ReceivingSession } from './mailboxes.ts';
import type { Direction } from './options.ts';

/** What a session needs of its SMSC. */
export interface SessionOwner {
  /** Whether a client may bind, as the answer's command_status. */
  admit(session: Session, request: BindRequest): number;
  bound(session: Session): void;
  /** A readable submit_sm on a session that may send. The owner answers with {@link Session.answerSubmit}. */
  submitted(session: Session, submit: Submit): void;
  refused(status: number): void;
  /** For query_sm; undefined for an unknown message. */
  find(messageId: string): Submit | undefined;
  /** A deliver_sm_resp or generic_nack came. Returns whether a deliver_sm waited for it. */
  answered(session: Session, sequence: number, status: number): boolean;
  /** The stream or a PDU could not be understood. */
  bad(session: Session, what: string): void;
  /** Called before the bytes of one turn of the event loop are written. */
  beforeWrite(): void;
  /** The connection has ended. Called once. */
  closed(session: Session): void;
  readonly onFrame: ((direction: Direction, bytes: Buffer, sessionId: number) => void) | undefined;
  readonly defaultAlphabet: DefaultAlphabet;
}

/** No further reading from a client that leaves this many bytes unread. */
const MAX_UNSENT_OCTETS = 1_000_000;

const SMSC_SYSTEM_ID = 'SIMULATOR';

/**
 * A client's connection: `open` until a bind succeeds, `bound` until an unbind or the connection's end, then `closed`,
 * when nothing is sent or read any more. Everything sent in one turn of the event loop leaves in one write. Responses
 * to unknown requests are ignored.
 */
export class Session implements ReceivingSession {
  readonly id: number;
  readonly outstanding = new Map<number, { readonly delivery: Delivery; readonly sentAt: number }>();
  systemId = '';
  /** Undefined until the session is bound. */
  kind: BindKind | undefined;
  takesTlvs = false;
  /** Read but unanswered submit_sm. `peakUnanswered`, the most so far, shows the client's window. */
  unanswered = 0;
  peakUnanswered = 0;
  #answered = 0;
  readonly #socket: Socket;
  readonly #owner: SessionOwner;
  readonly #reader = new FrameReader();
  #state: 'open' | 'bound' | 'closed' = 'open';
  #outgoing: Buffer[] = [];
  #flushing = false;
  #sequence = 0;
  #paused = false;

  constructor(id: number, socket: Socket, owner: SessionOwner) {
    this.id = id;
    this.#socket = socket;
    this.#owner = owner;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('drain', () => this.#readIfAble());
    socket.on('error', () => {}); // The client has reset the connection. 'close' follows and does the rest.
    socket.on('close', () => this.#gone());
  }

  /** Whether deliver_sm may be sent on this session. */
  get receives(): boolean {
    return this.#state === 'bound' && this.kind !== 'transmitter';
  }

  get bound(): boolean {
    return this.#state === 'bound';
  }

  nextSequence(): number {
    this.#sequence = this.#sequence >= 0x7fffffff ? 1 : this.#sequence + 1;
    return this.#sequence;
  }

  /** Queues bytes for the write at the end of this turn. */
  send(bytes: Buffer): void {
    if (this.#state === 'closed') return;
    this.#owner.onFrame?.('out', bytes, this.id);
    this.#outgoing.push(bytes);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.#flush());
  }

  /** The answer has no body unless the message was accepted (SMPP 3.4 §4.4.2). */
  answerSubmit(sequence: number, status: number, messageId: string): void {
    this.#answered += 1;
    const command = responseTo(COMMAND.submitSm);
    if (status !== STATUS.ok) this.send(writePdu(command, status, sequence));
    else this.send(writePdu(command, status, sequence, (fields) => fields.cString(messageId)));
  }

  /** For requests without parameters: enquire_link, unbind. */
  request(command: number): void {
    this.send(writePdu(command, 0, this.nextSequence()));
  }

  /** While true, nothing is read or written. */
  set paused(paused: boolean) {
    this.#paused = paused;
    this.#readIfAble();
    this.#flush();
  }

  /** Breaks the connection without an unbind, after the writes of this turn. */
  cut(): void {
    if (this.#state === 'closed') return;
    this.#flush();
    this.#socket.destroy();
    this.#gone();
  }

  /** Like `cut`, but with a reset (RST), so that bytes on their way are lost too. */
  reset(): void {
    if (this.#state === 'closed') return;
    this.#socket.resetAndDestroy();
    this.#gone();
  }

  #gone(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#outgoing = [];
    this.#owner.closed(this);
  }

  #readIfAble(): void {
    if (this.#paused || this.#socket.writableLength > MAX_UNSENT_OCTETS) this.#socket.pause();
    else this.#socket.resume();
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#state === 'closed' || this.#paused || this.#outgoing.length === 0) return;
    this.unanswered -= this.#answered;
    this.#answered = 0;
    this.#owner.beforeWrite();
    const [only] = this.#outgoing;
    this.#socket.write(this.#outgoing.length === 1 && only !== undefined ? only : Buffer.concat(this.#outgoing));
    this.#outgoing = [];
    if (this.#socket.writableLength > MAX_UNSENT_OCTETS) this.#readIfAble();
  }

  #read(chunk: Buffer): void {
    const badLength = this.#reader.read(chunk, (frame) => {
      if (this.#state !== 'closed') this.#take(frame);
    });
    if (badLength === undefined || this.#isClosed()) return;
    this.#owner.bad(this, `command_length ${badLength}`);
    this.send(writePdu(COMMAND.genericNack, STATUS.invalidCommandLength, 0));
    this.#end();
  }

  // A method, because the compiler cannot know that reading a chunk may close the session.
  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Closes the connection after the queued bytes have left. */
  #end(): void {
    this.#flush();
    this.#socket.destroySoon();
    this.#gone();
  }

  #take(frame: Buffer): void {
    this.#owner.onFrame?.('in', frame, this.id);
    const command = frame.readUInt32BE(4);
    const sequence = frame.readUInt32BE(HEADER_OCTETS - 4);
    try {
      this.#handle(command, sequence, frame);
    } catch (error) {
      if (!(error instanceof MalformedPdu)) throw error;
      this.#owner.bad(this, `${error.message} in command 0x${command.toString(16)}`);
      this.#refuse(command, sequence, error.status);
    }
  }

  #handle(command: number, sequence: number, frame: Buffer): void {
    const kind = bindKindOf(command);
    if (kind !== undefined) {
      this.#bind(command, sequence, readBind(kind, frame));
      return;
    }
    switch (command) {
      case COMMAND.submitSm:
        if (this.kind === undefined || this.kind === 'receiver') {
          this.#refuse(command, sequence, STATUS.invalidBindStatus);
          return;
        }
        this.#submit(new Submit(frame, this.id, this.systemId, this.#owner.defaultAlphabet));
        return;
      case COMMAND.enquireLink:
        this.send(writePdu(responseTo(command), STATUS.ok, sequence));
        return;
      case COMMAND.unbind:
        this.send(writePdu(responseTo(command), STATUS.ok, sequence));
        this.#end();
        return;
      case responseTo(COMMAND.unbind):
        this.#end();
        return;
      case COMMAND.querySm:
        this.#query(sequence, frame);
        return;
      case responseTo(COMMAND.deliverSm):
      case COMMAND.genericNack: {
        const status = frame.readUInt32BE(8);
        const refused = command === COMMAND.genericNack && status === STATUS.ok ? STATUS.systemError : status;
        this.#owner.answered(this, sequence, refused);
        return;
      }
      default:
        if (command >= COMMAND.genericNack) return;
        this.send(writePdu(COMMAND.genericNack, STATUS.invalidCommand, sequence));
    }
  }

  #bind(command: number, sequence: number, request: BindRequest): void {
    const status = this.#state === 'bound' ? STATUS.alreadyBound : this.#owner.admit(this, request);
    if (status !== STATUS.ok) {
      this.#refuse(command, sequence, status);
      return;
    }
    this.#state = 'bound';
    this.systemId = request.systemId;
    this.kind = request.kind;
    this.takesTlvs = request.interfaceVersion >= VERSION_WITH_TLVS;
    this.send(bindResponse(command, sequence, SMSC_SYSTEM_ID, request.interfaceVersion));
    this.#owner.bound(this);
  }

  #submit(submit: Submit): void {
    this.unanswered += 1;
    this.peakUnanswered = Math.max(this.peakUnanswered, this.unanswered);
    this.#owner.submitted(this, submit);
  }

  /** Answers query_sm (SMPP 3.4 §4.8.2) with message_id, final_date, message_state and error_code. */
  #query(sequence: number, frame: Buffer): void {
    const messageId = new FieldReader(frame).cString(65, STATUS.invalidMessageId);
    const submit = this.#owner.find(messageId);
    if (submit === undefined || submit.systemId !== this.systemId) {
      this.#refuse(COMMAND.querySm, sequence, STATUS.queryFailed);
      return;
    }
    this.send(
      writePdu(responseTo(COMMAND.querySm), STATUS.ok, sequence, (fields) => {
        fields.cString(messageId).cString('').uint8(submit.messageState).uint8(0);
      }),
    );
  }

  #refuse(command: number, sequence: number, status: number): void {
    if (command === COMMAND.submitSm) this.#owner.refused(status);
    this.send(writePdu(responseTo(command), status, sequence));
  }
}
