import { connect, type Socket } from 'node:net';

export interface LoadResult {
  readonly accepted: number;
  /** Rejecting answers by status. */
  readonly refused: Readonly<Record<string, number>>;
  /** `machineMs` of the first request and of the last answer. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly answerMs: readonly number[];
  /** When each destination's request left; in an open loop, when it was due. */
  readonly sentAt: ReadonlyMap<string, number>;
  /** When each destination's request was accepted. */
  readonly acceptedAt: ReadonlyMap<string, number>;
}

/** Destinations used so far; each is used once. They end in 000, which is no magic number of the simulator. */
let destinations = 0;

export function nextDestination(): string {
  return `91${String(++destinations).padStart(7, '0')}000`;
}

/** Each connection sends the next request when it has its answer. */
export async function closedLoop(target: Target, connections: number, total: number): Promise<LoadResult> {
  const tally = new Tally(target);
  let left = total;
  const lanes = newLanes(target, connections);
  await Promise.all(
    lanes.map(async (lane) => {
      while (left > 0) {
        left -= 1;
        await tally.send(lane, machineMs());
      }
    }),
  );
  for (const lane of lanes) lane.close();
  return tally.result();
}

/** How often an open loop checks which sends are due. */
const STEP_MS = 2;
/** The most sends in flight in an open loop. Further sends wait, but their time already runs. */
const OPEN_LOOP_LANES = 128;

/** Sends at a steady rate. A request's time begins when it was due, so waiting behind slow answers counts. */
export async function openLoop(target: Target, perSecond: number, total: number): Promise<LoadResult> {
  const tally = new Tally(target);
  const lanes = newLanes(target, OPEN_LOOP_LANES);
  const free = [...lanes];
  const beganMs = machineMs();
  let begun = 0;
  let ended = 0;
  await new Promise<void>((resolve, reject) => {
    const sendDue = (): void => {
      for (; begun < total; begun++) {
        const dueMs = beganMs + (begun * 1000) / perSecond;
        const lane = dueMs <= machineMs() ? free.pop() : undefined;
        if (lane === undefined) return;
        tally.send(lane, dueMs).then(() => {
          free.push(lane);
          ended += 1;
          if (ended === total) resolve();
        }, reject);
      }
      clearInterval(timer);
    };
    const timer = setInterval(sendDue, STEP_MS);
  });
  for (const lane of lanes) lane.close();
  return tally.result();
}

function newLanes({ url }: Target, count: number): HttpLane[] {
  const { hostname, port } = new URL(url);
  return Array.from({ length: count }, () => new HttpLane(hostname, Number(port)));
}

class Tally {
  readonly #target: Target;
  readonly #sentAt = new Map<string, number>();
  readonly #acceptedAt = new Map<string, number>();
  readonly #answerMs: number[] = [];
  readonly #refused: Record<string, number> = {};
  #next = 0;
  #accepted = 0;
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = 0;

  constructor(target: Target) {
    this.#target = target;
  }

  async send(lane: HttpLane, sentMs: number): Promise<void> {
    const to = nextDestination();
    this.#firstMs = Math.min(this.#firstMs, sentMs);
    const { status } = await lane.send(this.#target.request(this.#next++, to));
    this.#lastMs = machineMs();
    this.#answerMs.push(this.#lastMs - sentMs);
    if (status === this.#target.acceptedStatus) {
      this.#accepted += 1;
      this.#sentAt.set(to, sentMs);
      this.#acceptedAt.set(to, this.#lastMs);
    } else this.#refused[status] = (this.#refused[status] ?? 0) + 1;
  }

  result(): LoadResult {
    return {
      accepted: this.#accepted,
      refused: this.#refused,
      firstMs: this.#firstMs,
      lastMs: this.#lastMs,
      answerMs: this.#answerMs,
      sentAt: this.#sentAt,
      acceptedAt: this.#acceptedAt,
    };
  }
}

/** Where single sends go, and in which form. */
export interface Target {
  /** `http://127.0.0.1:3000` */
  readonly url: string;
  readonly acceptedStatus: number;
  /** The nth send as a whole HTTP request. */
  request(n: number, to: string): string;
}

export interface ProductTarget extends Target {
  /** Used in rotation. */
  readonly keys: readonly string[];
  readonly route: 'transactional' | 'promotional';
}

export const TEXT = 'Your one-time code for Harkara is 482913. It is valid for ten minutes. Tell it to nobody.';
export const SENDER = 'HARKRA';

export function productTarget(
  url: string,
  keys: readonly string[],
  route: ProductTarget['route'] = 'transactional',
): ProductTarget {
  const headers = keys.map((key) => `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`);
  return {
    url,
    keys,
    route,
    acceptedStatus: 200,
    request: (n, to) => {
      const body = JSON.stringify({ to, message: TEXT, sender: SENDER, route });
      return postRequest('/v2/send', headers[n % headers.length] ?? '', body);
    },
  };
}

interface LaneAnswer {
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
 * One keep-alive HTTP/1.1 connection with one request at a time. It needs half the CPU of a full client, which would
 * otherwise be a large part of a benchmark on two cores. It connects at the first request, and again if the server
 * closed it between requests. Requires answers with Content-Length.
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

  /** `headers` are whole lines with line ends. Rejects if the connection breaks. */
  post(path: string, headers: string, body: string): Promise<LaneAnswer> {
    return this.send(postRequest(path, headers, body));
  }

  /** Sends a whole request. Rejects if the connection breaks. */
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

/** `headers` are whole lines with line ends. */
function postRequest(path: string, headers: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `POST ${path} HTTP/1.1\r\nHost: bench\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`;
}

/** Milliseconds of the machine's monotonic clock (CLOCK_MONOTONIC), comparable between processes. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
