import type { Db } from 'mongodb';
import { readQueues, type WaitingLane } from '../../shared/messages/queue/waiting-lanes.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';

const LABELS = ['path', 'lane'] as const;

/**
 * What waits to leave, for `/metrics`. Gauges of all processes are summed there, so only the holder of the maintenance lease may
 * have these.
 */
export class QueueGauges {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #waiting;
  readonly #oldest;

  constructor(db: Db, clock: Clock, metrics: Metrics) {
    this.#db = db;
    this.#clock = clock;
    this.#waiting = metrics.gauge('queue_messages', 'Messages that wait to leave, up to 10,000 a lane.', LABELS);
    this.#oldest = metrics.gauge('queue_oldest_seconds', 'How long the oldest of them has waited.', LABELS);
  }

  /**
   * Reads the queues and sets the gauges. Removes them when `held` says, before or after the read, that the lease is not ours:
   * then it returns undefined.
   */
  async look(held: () => boolean): Promise<readonly WaitingLane[] | undefined> {
    const lanes = held() ? await readQueues(this.#db) : [];
    this.#waiting.reset();
    this.#oldest.reset();
    if (!held()) return undefined;
    for (const { path, lane, waiting, oldest } of lanes) {
      this.#waiting.set({ path, lane }, waiting);
      this.#oldest.set({ path, lane }, Math.max(0, this.#clock.now().getTime() - oldest.at.getTime()) / 1_000);
    }
    return lanes;
  }
}
