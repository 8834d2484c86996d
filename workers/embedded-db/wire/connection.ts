import type { Socket } from 'node:net';
import { MAX_MESSAGE_BYTES } from '../commands/server-commands.ts';
import { encodeReply, HEADER_BYTES, parseRequest, type Request } from './message.ts';

/** Runs one request; `done` gets the reply's document, at once or later. */
export type Dispatch = (request: Request, done: (reply: Buffer) => void) => void;

/** mongod takes 16 KiB more than it tells drivers, for what surrounds the documents. */
const LARGEST_MESSAGE = MAX_MESSAGE_BYTES + 16_384;

/** Why nothing is read: the client has not read its replies, or has sent much that is not run yet. */
type Hold = 'unread' | 'full';

/**
 * One client. Its messages are run strictly one after the other, also those without an answer. All replies of one turn are sent
 * in one write. While the client does not read its replies, or has sent more than one largest message ahead, nothing more is read
 * from it.
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

  /** The next whole message; undefined when it has not arrived yet. Closes the connection when its length is impossible. */
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
