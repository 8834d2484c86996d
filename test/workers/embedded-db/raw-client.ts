import { connect, type Socket } from 'node:net';
import { type Document, deserialize } from 'bson';

/** A later answer means a hanging store: each command of these tests is only some ms of work. */
const ANSWER_MS = 60_000;

/** Sends commands as bytes, also such as no driver would make. */
export class RawClient {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #waiting: { readonly answered: (reply: Buffer) => void; readonly failed: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#take();
    });
    socket.on('error', () => {}); // 'close' follows.
    socket.on('close', () => this.#waiting?.failed(new Error('the store closed the connection')));
  }

  static async open(path: string): Promise<RawClient> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawClient(socket);
  }

  /** Rejects if there is no reply, or it is not BSON. */
  async command(body: Uint8Array): Promise<Document> {
    const message = Buffer.alloc(21 + body.length);
    message.writeInt32LE(message.length, 0);
    message.writeInt32LE(2013, 12);
    message.set(body, 21);
    const reply = new Promise<Buffer>((answered, failed) => {
      const timer = setTimeout(() => failed(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
      };
      this.#waiting = {
        answered: (bytes) => {
          end();
          answered(bytes);
        },
        failed: (error) => {
          end();
          failed(error);
        },
      };
    });
    this.#socket.write(message);
    return deserialize((await reply).subarray(21), { bsonRegExp: true, validation: { utf8: false } });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(): void {
    if (this.#received.length < 4) return;
    const length = this.#received.readInt32LE(0);
    if (this.#received.length < length) return;
    const reply = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    this.#waiting?.answered(reply);
  }
}
