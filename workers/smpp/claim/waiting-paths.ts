import type { Db } from 'mongodb';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { findAtOnce } from '../../../shared/mongo/find-at-once.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

/** Up to this many paths are read one by one. Finding the empty ones first would cost as much. */
const FEW = 3;
/** The result is used for this long. */
const FRESH_MS = 100;

/**
 * Finds the paths on which messages wait. In a backlog each lane of each path is a queue that must be read. Routes can give a
 * carrier dozens of paths, and nearly all are empty. This skips through the index: one read for each path with messages, and one
 * more that finds the end.
 */
export class WaitingPaths {
  readonly #db: Db;
  readonly #clock: Clock;
  #found: readonly string[] = [];
  #of: readonly string[] = [];
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Returns those of `paths` (sorted) that have waiting messages. */
  async among(paths: readonly string[]): Promise<readonly string[]> {
    if (paths.length <= FEW) return paths;
    const nowMs = this.#clock.monotonicMs();
    if (paths === this.#of && nowMs < this.#untilMs) return this.#found;
    const found: string[] = [];
    for (let left = paths; left.length > 0; ) {
      const [first] = await findAtOnce<MessageDocument>(this.#db, 'messages', {
        filter: { path: { $in: [...left] }, state: 'queued', validUntil: { $gt: this.#clock.now() } },
        projection: { path: 1 },
        sort: { path: 1, lane: 1, account: 1, _id: 1 },
        limit: 1,
      });
      if (first === undefined) break;
      found.push(first.path);
      left = left.filter((path) => path > first.path);
    }
    [this.#found, this.#of, this.#untilMs] = [found, paths, nowMs + FRESH_MS];
    return found;
  }
}
