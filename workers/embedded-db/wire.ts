import type { Socket } from 'node:net';
import { notSupported, StoreError } from './bson/errors.ts';
import { byteAt, int32At, MAX_DEPTH, TOO_DEEP, TYPE, type Value, validDocumentEnd } from './bson/read.ts';
import { MAX_MESSAGE_BYTES } from './commands/registry.ts';

/** `done` gets the reply's document, at once or later. */
export type Dispatch = (request: Request, done: (reply: Buffer) => void) => void;

/** mongod takes 16 KiB more than it tells drivers, for what surrounds the documents. */
const LARGEST_MESSAGE = MAX_MESSAGE_BYTES + 16_384;

/** Why nothing is read: the client has not read its replies, or has sent much that is not run yet. */
type Hold = 'unread' | 'full';

/**
 * One client. Its messages are run strictly one after the other, also those without an answer. All replies of one turn
 * are sent in one write. Reading stops while the client does not read its replies, or is more than one largest message
 * ahead.
 */
export class Connection {
  private readonly socket: Socket;
  private readonly dispatch: Dispatch;
  private received: Buffer[] = [];
  private receivedBytes = 0;
  private replies: Buffer[] = [];
  private busy = false;
  private readonly holds = new Set<Hold>();

  constructor(socket: Socket, dispatch: Dispatch) {
    this.socket = socket;
    this.dispatch = dispatch;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.received.push(chunk);
      this.receivedBytes += chunk.length;
      this.proceed();
      if (this.receivedBytes > LARGEST_MESSAGE) this.hold('full');
    });
    socket.on('drain', () => this.release('unread'));
    // A reset is a normal end of a client; 'close' follows.
    socket.on('error', () => socket.destroy());
  }

  private proceed(): void {
    while (!this.busy && !this.socket.destroyed) {
      const message = this.takeMessage();
      if (message === undefined) return;
      const request = parseRequest(message);
      if (request === undefined) {
        this.socket.destroy();
        return;
      }
      this.run(request);
    }
  }

  private run(request: Request): void {
    this.busy = true;
    let inTurn = true;
    this.dispatch(request, (doc) => {
      this.busy = false;
      if (!request.silent) this.send(encodeReply(request, doc));
      if (!inTurn) this.proceed();
    });
    inTurn = false;
  }

  /** Undefined when the next message has not arrived yet. Closes the connection when its length is impossible. */
  private takeMessage(): Buffer | undefined {
    if (this.receivedBytes < 4) return undefined;
    let first = this.received[0];
    if (first === undefined || first.length < 4) first = this.joinReceived();
    const length = first.readInt32LE(0);
    if (length < HEADER_BYTES || length > LARGEST_MESSAGE) {
      this.socket.destroy();
      return undefined;
    }
    if (this.receivedBytes < length) return undefined;
    if (first.length < length) first = this.joinReceived();
    if (first.length === length) this.received.shift();
    else this.received[0] = first.subarray(length);
    this.receivedBytes -= length;
    if (this.receivedBytes <= LARGEST_MESSAGE) this.release('full');
    return first.subarray(0, length);
  }

  private hold(why: Hold): void {
    this.holds.add(why);
    this.socket.pause();
  }

  private release(why: Hold): void {
    if (this.holds.delete(why) && this.holds.size === 0) this.socket.resume();
  }

  private joinReceived(): Buffer {
    const joined = Buffer.concat(this.received);
    this.received = [joined];
    return joined;
  }

  private send(reply: Buffer): void {
    this.replies.push(reply);
    if (this.replies.length > 1) return;
    queueMicrotask(() => {
      const replies = this.replies;
      this.replies = [];
      const [only] = replies;
      const bytes = replies.length === 1 && only !== undefined ? only : Buffer.concat(replies);
      if (!this.socket.destroyed && !this.socket.write(bytes)) this.hold('unread');
    });
  }
}

/** The wire protocol's messages (mongodb-wire-protocol): OP_MSG, and OP_QUERY for the driver's first hello. */
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

const FLAG_CHECKSUM = 1;
const FLAG_MORE_TO_COME = 2;
/** Flag bits 0-15 are required: a receiver that does not know one must refuse the message. */
const FLAGS_KNOWN = FLAG_CHECKSUM | FLAG_MORE_TO_COME;

export interface Request {
  readonly id: number;
  readonly op: 'msg' | 'query';
  /** The client wants no answer (write concern w: 0). */
  readonly silent: boolean;
  readonly body: Buffer;
  readonly sequences: ReadonlyMap<string, readonly Value[]>;
  /** The message is answered with this error, and not read any further. */
  readonly refusal?: StoreError;
}

const NO_SEQUENCES: ReadonlyMap<string, readonly Value[]> = new Map();

/** Parses one whole message; undefined when it is malformed, and then the connection cannot be trusted any more. */
function parseRequest(message: Buffer): Request | undefined {
  const id = int32At(message, 4);
  switch (int32At(message, 12)) {
    case OP_MSG:
      return parseMsg(id, message);
    case OP_QUERY:
      return parseQuery(id, message);
    default:
      return undefined;
  }
}

function parseMsg(id: number, message: Buffer): Request | undefined {
  if (message.length < HEADER_BYTES + 4) return undefined;
  const flags = int32At(message, HEADER_BYTES);
  if ((flags & 0xffff & ~FLAGS_KNOWN) !== 0) return undefined;
  // The CRC-32C of a checksum is not verified: the transport is a local socket.
  const end = message.length - ((flags & FLAG_CHECKSUM) === 0 ? 0 : 4);
  let body: Buffer | undefined;
  let sequences: Map<string, readonly Value[]> | undefined;
  let at = HEADER_BYTES + 4;
  while (at < end) {
    const kind = byteAt(message, at++);
    if (kind === 0) {
      const bodyEnd = validDocumentEnd(message, at, end);
      if (bodyEnd < -1) return refused(id, flags, bodyEnd);
      if (bodyEnd < 0 || body !== undefined) return undefined;
      body = message.subarray(at, bodyEnd);
      at = bodyEnd;
    } else if (kind === 1) {
      const sequence = parseSequence(message, at, end);
      if (typeof sequence === 'number') return refused(id, flags, sequence);
      if (sequence === undefined || sequences?.has(sequence.name) === true) return undefined;
      sequences ??= new Map();
      sequences.set(sequence.name, sequence.docs);
      at = sequence.end;
    } else {
      return undefined;
    }
  }
  if (body === undefined) return undefined;
  return {
    id,
    op: 'msg',
    silent: (flags & FLAG_MORE_TO_COME) !== 0,
    body,
    sequences: sequences ?? NO_SEQUENCES,
  };
}

function refused(id: number, flags: number, fault: number): Request {
  const silent = (flags & FLAG_MORE_TO_COME) !== 0;
  const refusal =
    fault === TOO_DEEP
      ? new StoreError(15, `BSONObj exceeds maximum nested object depth: ${MAX_DEPTH}`)
      : notSupported('A value of this BSON type');
  return { id, op: 'msg', silent, body: Buffer.alloc(0), sequences: NO_SEQUENCES, refusal };
}

function parseSequence(
  message: Buffer,
  start: number,
  limit: number,
): { name: string; docs: Value[]; end: number } | number | undefined {
  if (start + 5 > limit) return undefined;
  const end = start + int32At(message, start);
  if (end <= start || end > limit) return undefined;
  const nameEnd = message.indexOf(0, start + 4);
  if (nameEnd < 0 || nameEnd >= end) return undefined;
  const docs: Value[] = [];
  for (let at = nameEnd + 1; at < end; ) {
    const docEnd = validDocumentEnd(message, at, end);
    if (docEnd < 0) return docEnd === -1 ? undefined : docEnd;
    docs.push({ type: TYPE.object, buf: message, pos: at });
    at = docEnd;
  }
  return { name: message.toString('utf8', start + 4, nameEnd), docs, end };
}

function parseQuery(id: number, message: Buffer): Request | undefined {
  const nameEnd = message.indexOf(0, HEADER_BYTES + 4);
  if (nameEnd < 0 || nameEnd + 9 > message.length) return undefined;
  if (!message.toString('latin1', HEADER_BYTES + 4, nameEnd).endsWith('.$cmd')) return undefined;
  const end = validDocumentEnd(message, nameEnd + 9, message.length);
  if (end < -1) return { ...refused(id, 0, end), op: 'query' };
  if (end < 0) return undefined;
  const body = message.subarray(nameEnd + 9, end);
  return { id, op: 'query', silent: false, body, sequences: NO_SEQUENCES };
}

let lastReplyId = 0;

function encodeReply(request: Request, doc: Buffer): Buffer {
  const query = request.op === 'query';
  const bodyAt = query ? HEADER_BYTES + 20 : HEADER_BYTES + 5;
  const out = Buffer.allocUnsafe(bodyAt + doc.length);
  lastReplyId = (lastReplyId + 1) & 0x7fffffff;
  out.writeInt32LE(out.length, 0);
  out.writeInt32LE(lastReplyId, 4);
  out.writeInt32LE(request.id, 8);
  out.writeInt32LE(query ? OP_REPLY : OP_MSG, 12);
  out.fill(0, HEADER_BYTES, bodyAt);
  if (query) {
    out.writeInt32LE(8, HEADER_BYTES); // AwaitCapable, as mongod
    out.writeInt32LE(1, HEADER_BYTES + 16); // one document
  }
  doc.copy(out, bodyAt);
  return out;
}
