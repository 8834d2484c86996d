import type { BatchDocument, BatchState } from '../../shared/batches/batch.ts';
import { close, findOpen } from '../../shared/batches/store.ts';
import { LeasedWorker, type LeasedWorkerOptions } from '../../shared/leases/leased-worker.ts';
import type { AccountId, BatchId } from '../../shared/runtime/ids.ts';
import { errorFields } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Found } from '../../shared/runtime/poll-loop.ts';
import type { Announcer } from '../../shared/webhooks/announce.ts';
import { RenderThreads } from './render-threads.ts';
import { splitNext } from './split.ts';
import { type StopDeps, stopBatch, stopLeftovers } from './stop.ts';

export interface BatchWorkerOptions extends LeasedWorkerOptions {
  readonly announcer: Announcer;
}

const IDLE_MS = 100;
/** The most batches that a round looks at, the oldest first. They can have five million messages. */
const OPEN_MAX = 500;
/** Batches that are split at the same time. Each belongs to a different account. */
const SIDE_BY_SIDE = 4;
/** How often to check a stopped batch whose last messages are with a carrier. */
const LEFTOVERS_MS = 1_000;

/**
 * Makes messages of the batches in its partitions, and stops batches. A round reads the open batches, does the stops
 * first, then makes one chunk of the oldest batch of each account, the accounts in rotation. After a crash the next
 * holder continues at the same chunk.
 */
export class BatchWorker extends LeasedWorker<BatchId> {
  readonly #options: BatchWorkerOptions;
  readonly #threads = new RenderThreads();
  readonly #made: ReturnType<Metrics['counter']>;
  /** The open batches that the current round has read. */
  #inHand: readonly BatchDocument[] = [];
  /** The account that was served last. */
  #cursor = '';
  readonly #leftoversAtMs = new Map<BatchId, number>();

  constructor(options: BatchWorkerOptions) {
    super(options, { name: 'batches', idleMs: IDLE_MS, hears: ['batches'] });
    this.#options = options;
    this.#made = options.metrics.counter('batch_messages_total', 'Entries of batches that became messages');
  }

  protected async round(): Promise<Found> {
    try {
      const found = await findOpen(this.#options.db, OPEN_MAX);
      this.#inHand = found.filter(({ _id }) => this.partitions.owns(_id));
      return (await this.#work(this.#inHand)) ? 'more' : 'idle';
    } finally {
      this.#inHand = [];
    }
  }

  protected hasInHand(fits: (batch: BatchId) => boolean): boolean {
    return this.#inHand.some(({ _id }) => fits(_id));
  }

  protected override cutOff(): Promise<void> {
    return this.#threads.close();
  }

  /** Returns whether any batch made progress. If all failed, the next round comes after a pause. */
  async #work(open: readonly BatchDocument[]): Promise<boolean> {
    const inState = (wanted: BatchState) => open.filter(({ state }) => state === wanted);
    let went = false;
    const guard = async (batch: BatchDocument, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
        went ||= batch.state !== 'stopped';
      } catch (error) {
        const { _id, account } = batch;
        this.#options.log.warn('batch_failed', { batch: _id, account, ...errorFields(error) });
      }
    };
    for (const batch of inState('stopping')) await guard(batch, () => stopBatch(this.#stopDeps(batch), batch));
    const next = this.#nextInRotation(inState('paid'));
    await Promise.all(next.map((batch) => guard(batch, () => this.#split(batch))));
    for (const batch of inState('split')) await guard(batch, () => close(this.#options.db, batch._id, 'split'));
    for (const batch of inState('stopped')) await guard(batch, () => this.#lookAfter(batch));
    return went;
  }

  async #split(batch: BatchDocument): Promise<void> {
    this.#made.inc(await splitNext(this.#splitDeps(), batch));
  }

  async #lookAfter(batch: BatchDocument): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < (this.#leftoversAtMs.get(batch._id) ?? 0)) return;
    this.#leftoversAtMs.set(batch._id, nowMs + LEFTOVERS_MS);
    if (!(await stopLeftovers(this.#stopDeps(batch), batch))) return;
    await close(this.#options.db, batch._id, 'stopped');
    this.#leftoversAtMs.delete(batch._id);
  }

  /** The oldest batch of each account, starting after the account that was served last. */
  #nextInRotation(paid: readonly BatchDocument[]): readonly BatchDocument[] {
    const oldest = new Map<AccountId, BatchDocument>();
    for (const batch of paid) if (!oldest.has(batch.account)) oldest.set(batch.account, batch);
    const ordered = [...oldest.values()].sort((a, b) => (a.account < b.account ? -1 : 1));
    const start = ordered.findIndex(({ account }) => account > this.#cursor);
    const rotated = start === -1 ? ordered : [...ordered.slice(start), ...ordered.slice(0, start)];
    const chosen = rotated.slice(0, SIDE_BY_SIDE);
    this.#cursor = chosen.at(-1)?.account ?? this.#cursor;
    return chosen;
  }

  #splitDeps() {
    return { db: this.#options.db, render: this.#threads.render.bind(this.#threads) };
  }

  #stopDeps({ _id }: BatchDocument): StopDeps {
    const { clock, announcer } = this.#options;
    return { ...this.#splitDeps(), clock, announcer, held: () => this.partitions.owns(_id) };
  }
}
