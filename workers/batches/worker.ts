import type { Db } from 'mongodb';
import type { BatchDocument, BatchState } from '../../shared/batches/batch.ts';
import { close, findOpen } from '../../shared/batches/store.ts';
import type { Lease } from '../../shared/leases/lease.ts';
import { Shares, shareOf } from '../../shared/leases/shares.ts';
import type { ListenForChanges } from '../../shared/mongo/change-signal.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AccountId, BatchId } from '../../shared/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { PollLoop } from '../../shared/runtime/poll-loop.ts';
import type { Announcer } from '../../shared/webhooks/announce.ts';
import { RenderThreads } from './render-threads.ts';
import { splitNext } from './split.ts';
import { type StopDeps, stopBatch, stopLeftovers } from './stop.ts';

export interface WorkerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly announcer: Announcer;
  /** One per share of the batches. */
  readonly leases: readonly Lease[];
  /** How often leases are renewed and shared out, in milliseconds. */
  readonly leaseRoundMs: number;
  /** Where it can be heard that batches change. */
  readonly listen?: ListenForChanges | undefined;
  countWorkers(): Promise<number>;
}

const IDLE_MS = 100;
/** Batches that a round looks at, the oldest: five million messages. */
const OPEN_MAX = 500;
/** Batches that are split side by side, each of another account. */
const SIDE_BY_SIDE = 4;
/** How often a stopped batch whose last messages are with a carrier is looked at. */
const LEFTOVERS_MS = 1_000;

/**
 * Makes messages of the batches whose shares it holds, and stops those that are to be stopped. A round takes the open
 * batches, stops first, and goes one chunk on with the oldest batch of each account, the accounts in turn. All that it knows
 * is in the store: after a crash the next holder goes on at the same chunk.
 */
export class BatchWorker {
  readonly #options: WorkerOptions;
  readonly #shares: Shares;
  readonly #loop: PollLoop;
  readonly #threads = new RenderThreads();
  readonly #made: ReturnType<Metrics['counter']>;
  /** Shares of the batches in the round that runs. */
  #busy: ReadonlySet<number> = new Set();
  /** The account whose batch was split last. */
  #cursor = '';
  readonly #leftoversAtMs = new Map<BatchId, number>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { clock, log, leases, metrics, countWorkers, leaseRoundMs: roundMs, listen } = options;
    this.#made = metrics.counter('batch_messages_total', 'Entries of batches that became messages');
    const isBusy = (share: number) => this.#busy.has(share);
    this.#shares = new Shares({ leases, clock, log, countWorkers, isBusy, roundMs });
    this.#loop = new PollLoop({
      name: 'batches',
      idleMs: IDLE_MS,
      log,
      work: () => this.#round(),
      listen: (wake) => listen?.('batches', wake),
    });
  }

  /** Takes what shares it can and begins. Throws when the store cannot be asked. */
  async start(): Promise<void> {
    await this.#shares.start();
    this.#loop.start();
  }

  /** Ends the round that runs and gives the shares back. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#shares.stop();
    await this.#threads.close();
  }

  async #round(): Promise<'more' | 'idle'> {
    try {
      const found = await findOpen(this.#options.db, OPEN_MAX);
      const open = found.filter(({ _id }) => this.#shares.owns(_id));
      this.#busy = new Set(open.map(({ _id }) => this.#shareOf(_id)));
      return (await this.#work(open)) ? 'more' : 'idle';
    } finally {
      this.#busy = new Set();
    }
  }

  /** Whether anything went on: what only failed is tried again after a pause. */
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
    const next = this.#nextInTurn(inState('paid'));
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

  /** The oldest batch of each account, beginning behind the account that was last in turn. */
  #nextInTurn(paid: readonly BatchDocument[]): readonly BatchDocument[] {
    const oldest = new Map<AccountId, BatchDocument>();
    for (const batch of paid) if (!oldest.has(batch.account)) oldest.set(batch.account, batch);
    const ordered = [...oldest.values()].sort((a, b) => (a.account < b.account ? -1 : 1));
    const start = ordered.findIndex(({ account }) => account > this.#cursor);
    const turn = start === -1 ? ordered : [...ordered.slice(start), ...ordered.slice(0, start)];
    const chosen = turn.slice(0, SIDE_BY_SIDE);
    this.#cursor = chosen.at(-1)?.account ?? this.#cursor;
    return chosen;
  }

  #splitDeps() {
    return { db: this.#options.db, render: this.#threads.render.bind(this.#threads) };
  }

  #stopDeps({ _id }: BatchDocument): StopDeps {
    const { clock, announcer } = this.#options;
    return { ...this.#splitDeps(), clock, announcer, held: () => this.#shares.owns(_id) };
  }

  #shareOf(batch: BatchId): number {
    return shareOf(batch, this.#options.leases.length);
  }
}
