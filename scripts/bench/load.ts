import { HttpLane } from './http-lane.ts';
import { machineMs } from './machine-time.ts';
import type { Target } from './target.ts';

export interface LoadResult {
  readonly accepted: number;
  /** Answers that did not accept, by status. */
  readonly refused: Readonly<Record<string, number>>;
  /** `machineMs` of the first request and of the last answer. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** From request to answer, in milliseconds. */
  readonly answerMs: readonly number[];
  /** When each destination's request left (in an open loop: was due to leave). */
  readonly sentAt: ReadonlyMap<string, number>;
  /** When each destination's request was accepted. */
  readonly acceptedAt: ReadonlyMap<string, number>;
}

/** Number of destinations used by this process; each is used once. They end in 000, which is no magic number of the simulator. */
let destinations = 0;

export function nextDestination(): string {
  return `91${String(++destinations).padStart(7, '0')}000`;
}

/** `total` sends over `connections` connections. Each connection sends the next request when it has its answer. */
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
/** The most sends in flight in an open loop. Further sends wait, but their time runs already. */
const OPEN_LOOP_LANES = 128;

/**
 * `total` sends at a steady rate, whether earlier ones are answered or not. A request's time begins when it was due, so that
 * waiting behind a slow answer counts too.
 */
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

/** Sends requests and records the results. */
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
