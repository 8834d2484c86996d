import { connect, type Socket } from 'node:net';

/** The part of an answer that the load checks. */
export interface LaneAnswer {
  readonly status: number;
}

interface Waiting {
  resolve(answer: LaneAnswer): void;
  reject(error: Error): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** `HTTP/1.1 200 OK`: the status is the second word. */
const STATUS_AT = 9;

/**
 * One keep-alive HTTP/1.1 connection with one request at a time. It costs half the CPU of a full client, which would otherwise be
 * among the largest consumers of a benchmark on two cores. It connects at the first request, and again when the server has closed
 * it between two requests. Understands only answers with Content-Length.
 */
export class HttpLane {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #waiting: Waiting | undefined;
  #received: Buffer = Buffer.alloc(0);

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  get busy(): boolean {
    return this.#waiting !== undefined;
  }

  /** Posts a body; `headers` are whole lines with their line ends. Rejects when the connection breaks. */
  post(path: string, headers: string, body: string): Promise<LaneAnswer> {
    return this.send(postRequest(path, headers, body));
  }

  /** Sends a whole request. Rejects when the connection breaks. */
  send(request: string): Promise<LaneAnswer> {
    if (this.busy) throw new Error('one request at a time');
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket ??= this.#connect();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect(this.#port, this.#host);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => {
      this.#socket = undefined;
      this.#fail(new Error('the gateway closed the connection'));
    });
    return socket;
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(length)) {
      this.#fail(new Error(`an answer without Content-Length: ${head}`));
      return;
    }
    if (this.#received.length < headEnd + HEAD_END.length + length) return;
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(STATUS_AT, STATUS_AT + 3)) });
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }
}

/** A whole POST; `headers` are whole lines with their line ends. */
export function postRequest(path: string, headers: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `POST ${path} HTTP/1.1\r\nHost: bench\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`;
}
