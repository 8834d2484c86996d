import type { Db } from 'mongodb';
import { type Announcer, createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { type BatchDocument, type BatchState, close } from '../../shared/messages/batch.ts';
import type { QueueDocument } from '../../shared/messages/queue/queue-document.ts';
import { queueOf } from '../../shared/messages/queue/queue-store.ts';
import { LeasedWorker, type LeasedWorkerOptions } from '../../shared/platform/leases/leased-worker.ts';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { type AppDeps, startLeased } from '../../shared/platform/processes/run-app.ts';
import type { BatchId } from '../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../shared/platform/runtime/log.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';
import type { Found } from '../../shared/platform/runtime/poll-loop.ts';
import { RenderThreads } from './render-threads.ts';
import { splitNext } from './split.ts';
import { type StopDeps, stopBatch, stopLeftovers } from './stop.ts';
import { openBatches, stoppingBatches, Turns } from './turns.ts';

export interface BatchWorkerOptions extends LeasedWorkerOptions {
  readonly announcer: Announcer;
}

const IDLE_MS = 100;
/** How often to check a stopped batch whose last messages are with a carrier. */
const LEFTOVERS_MS = 1_000;
/** How long a batch that failed is passed over, so that later ones of its account have their turn. */
const FAILED_MS = 10_000;

/**
 * Makes messages of the batches in its partitions, and stops batches. A round does the stops first, then makes one
 * chunk of each of some batches: the oldest of each account, accounts in rotation. After a crash the next holder
 * continues at the same chunk.
 */
export class BatchWorker extends LeasedWorker<BatchId> {
  readonly #options: BatchWorkerOptions;
  readonly #threads = new RenderThreads();
  readonly #made: ReturnType<Metrics['counter']>;
  #inHand: readonly BatchDocument[] = [];
  readonly #open: Turns;
  readonly #stops: Turns;
  /** Whether any batch made progress since the first account had its turn. */
  #progressed = false;
  /** Whether since then any batch was left for later because enough lines wait on its path. */
  #crowded = false;
  /** When to look again at batches that failed, or whose last messages are with a carrier. */
  readonly #againAtMs = new Map<BatchId, number>();

  constructor(options: BatchWorkerOptions) {
    super(options, { name: 'batches', idleMs: IDLE_MS, hears: ['batches'] });
    this.#options = options;
    const { db } = options;
    this.#open = new Turns((place) => openBatches(db, place));
    this.#stops = new Turns((place) => stoppingBatches(db, place));
    this.#made = options.metrics.counter('batch_messages_total', 'Entries of batches that became messages');
  }

  protected async round(): Promise<Found> {
    const { batches, underway } = await this.#look();
    // Another process may have taken a partition during the last read.
    this.#inHand = batches.filter(({ _id }) => this.partitions.owns(_id));
    try {
      if (await this.#work(this.#inHand)) this.#progressed = true;
    } finally {
      this.#inHand = [];
    }
    if (underway) return 'more';
    const [progressed, crowded] = [this.#progressed, this.#crowded];
    this.#progressed = false;
    this.#crowded = false;
    if (progressed) return 'more';
    return crowded ? 'waiting' : 'idle';
  }

  protected hasInHand(fits: (batch: BatchId) => boolean): boolean {
    return this.#inHand.some(({ _id }) => fits(_id));
  }

  protected override cutOff(): Promise<void> {
    return this.#threads.close();
  }

  /** Batches to stop, batches to split in turns, and all batches of the page that need only their last step. */
  async #look(): Promise<{ readonly batches: readonly BatchDocument[]; readonly underway: boolean }> {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [id, atMs] of this.#againAtMs) if (atMs <= nowMs) this.#againAtMs.delete(id);
    const mayTake = ({ _id }: BatchDocument) => this.partitions.owns(_id) && !this.#againAtMs.has(_id);

    const open = await this.#open.look(
      (batch) => batch.state === 'paid' && mayTake(batch),
      () => roomInQueue(this.#options.db, this.#options.clock.now()),
    );
    this.#crowded ||= open.crowded;
    const ending = open.page.filter((batch) => ['split', 'stopped'].includes(batch.state) && mayTake(batch));
    const noStops = open.whole && !open.page.some(({ state }) => state === 'stopping');
    const stops = noStops ? undefined : await this.#stops.look(mayTake);
    return {
      batches: [...(stops?.turns ?? []), ...open.turns, ...ending],
      underway: open.underway || stops?.underway === true,
    };
  }

  async #work(batches: readonly BatchDocument[]): Promise<boolean> {
    const inState = (wanted: BatchState) => batches.filter(({ state }) => state === wanted);
    let progressed = false;
    const guard = async (batch: BatchDocument, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
        progressed ||= batch.state !== 'stopped';
      } catch (error) {
        const { _id, account } = batch;
        this.#options.log.warn('batch_failed', { batch: _id, account, ...errorFields(error) });
        if (!isStoreTrouble(error)) this.#notBefore(_id, FAILED_MS);
      }
    };
    for (const batch of inState('stopping')) await guard(batch, () => stopBatch(this.#stopDeps(batch), batch));
    await Promise.all(inState('paid').map((batch) => guard(batch, () => this.#split(batch))));
    for (const batch of inState('split')) await guard(batch, () => close(this.#options.db, batch._id, 'split'));
    for (const batch of inState('stopped')) await guard(batch, () => this.#stopLeftovers(batch));
    return progressed;
  }

  async #split(batch: BatchDocument): Promise<void> {
    this.#made.inc(await splitNext(this.#splitDeps(), batch));
  }

  async #stopLeftovers(batch: BatchDocument): Promise<void> {
    this.#notBefore(batch._id, LEFTOVERS_MS);
    if (await stopLeftovers(this.#stopDeps(batch), batch)) await close(this.#options.db, batch._id, 'stopped');
  }

  #notBefore(batch: BatchId, pauseMs: number): void {
    this.#againAtMs.set(batch, this.#options.clock.monotonicMs() + pauseMs);
  }

  #splitDeps() {
    return { db: this.#options.db, clock: this.#options.clock, render: this.#threads.render.bind(this.#threads) };
  }

  #stopDeps({ _id }: BatchDocument): StopDeps {
    const { announcer } = this.#options;
    return { ...this.#splitDeps(), announcer, held: () => this.partitions.owns(_id) };
  }
}

/**
 * A batch is split further while fewer lines of batches than this wait on its path without being written out: 0.2 s at
 * 2,700 a second. Lines of a bulk send then leave before they are written out, which saves an insert and an update.
 */
const LINES_MAX = 600;

type Waiting = Pick<QueueDocument, 'batch' | 'path' | 'n' | 'next'>;

/**
 * Whether a batch has room in the queue beside those asked about before it; each that has room is counted. Lines that
 * have waited long take no room, because they are written out or about to be: behind a slow carrier batches are still
 * split. A batch counts on its own path and, when routes moved its waiting lines, on theirs.
 */
export async function roomInQueue(db: Db, now: Date): Promise<(batch: BatchDocument) => boolean> {
  const waiting: readonly Waiting[] = await queueOf(db)
    .find({ writeAt: { $gt: now }, open: true, batch: { $exists: true }, written: { $exists: false } })
    .project<Waiting>({ batch: 1, path: 1, n: 1, next: 1, _id: 0 })
    .toArray();
  const lines = new Map<string, number>();
  const add = (path: string, count: number) => lines.set(path, (lines.get(path) ?? 0) + count);
  for (const { path, n, next } of waiting) add(path, n - next);
  return ({ _id, path, reserved, total, perChunk }) => {
    const own = waiting.filter(({ batch }) => batch === _id).map((document) => document.path);
    const paths = new Set([path, ...own]);
    for (const one of paths) if ((lines.get(one) ?? 0) >= LINES_MAX) return false;
    for (const one of paths) add(one, Math.min(perChunk, total - reserved));
    return true;
  };
}

const PARTITIONS = 4;

export function startBatches(deps: AppDeps): Promise<void> {
  const work = { app: 'background', name: 'batches', partitions: PARTITIONS };
  return startLeased(deps, work, (given) => new BatchWorker({ ...given, announcer: createAnnouncer(deps) }));
}
