import type { Db } from 'mongodb';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { QueueDocument } from '../../shared/messages/queue/queue-document.ts';
import { writeOut } from '../../shared/messages/queue/queue-store.ts';
import { oldestUnannounced, redoIntents } from '../../shared/messages/settlement/intents.ts';
import { Settler } from '../../shared/messages/settlement/settle.ts';
import type { StatementSettings } from '../../shared/money/statements/statement.ts';
import { Lease } from '../../shared/platform/leases/lease.ts';
import { findAtOnce } from '../../shared/platform/mongo/find-one.ts';
import type { ProcessNotes } from '../../shared/platform/processes/report.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';
import type { Found } from '../../shared/platform/runtime/poll-loop.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import { within } from '../../shared/platform/runtime/within.ts';
import {
  announceActs,
  announceApprovals,
  announceConditions,
  announceTemplates,
  announceVerifications,
} from './announce.ts';
import { closeAccounts } from './close-accounts.ts';
import { eraseNumber } from './erase-number.ts';
import { finishPending } from './finish-pending.ts';
import { issueMonth, lastMonth } from './issue-statements.ts';
import { type PruneDeps, pruneClosed, pruneConversations, pruneOld, type Retention } from './prune.ts';
import { pruneUnpaid } from './pruning/batches.ts';
import type { StoreKind } from './pruning/walk.ts';
import { Reroute } from './reroute.ts';
import { DueMessages } from './settle-due.ts';
import { HourCounter } from './statistics/count-hours.ts';
import { Brake } from './traffic/brake.ts';
import { QueueGauges, Watch } from './watch.ts';

const LEASE = 'maintenance';
/** Its name on lines that it has claimed. No carrier has such a name. */
const HOLDER = '@maintenance';

export interface DutiesDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What the process tells operators with its reports. */
  readonly notes: ProcessNotes;
  /** The directory of the embedded store. */
  readonly storeDir?: string | undefined;
  readonly publicUrl?: string | undefined;
  readonly announcer: Announcer;
  readonly box: SecretBox;
  readonly retention: Retention;
  readonly statements: StatementSettings;
  readonly store: StoreKind;
  /** How long a stop waits for duties that are running. */
  readonly stopMs: number;
}

/**
 * The duties of the process that holds the maintenance lease; start.ts says when each runs. A failed duty is logged
 * and tried again at its next time. Without the lease, and after the stop, duties do nothing.
 */
export class Duties {
  readonly #deps: DutiesDeps;
  readonly #lease: Lease;
  readonly #rerouting: Reroute;
  readonly #counting: HourCounter;
  readonly #queues: QueueGauges;
  readonly #watch: Watch;
  readonly #brake: Brake;
  readonly #counters: ReturnType<typeof countersOf>;
  /** Set while this process holds the lease and has redone the unfinished work of the holder before it. */
  #due: DueMessages | undefined;
  #epoch = 0;
  /** The last month of which all statements are issued. */
  #issued: string | undefined;
  /** When the last removal began that got to its end. */
  #pruned: Date | undefined;
  readonly #running = new Set<Promise<void>>();
  #stopping = false;

  constructor(deps: DutiesDeps) {
    this.#deps = deps;
    this.#lease = new Lease({ name: LEASE, db: deps.db, clock: deps.clock });
    this.#rerouting = new Reroute({
      ...{ db: deps.db, clock: deps.clock, held: () => this.#mayGoOn },
      holder: () => ({ carrier: HOLDER, epoch: this.#lease.epoch }),
    });
    this.#counting = new HourCounter({
      ...{ db: deps.db, clock: deps.clock, messageDays: deps.retention.messages },
      held: () => this.#mayGoOn,
    });
    this.#queues = new QueueGauges(deps.db, deps.clock, deps.metrics);
    this.#watch = new Watch(deps);
    this.#brake = new Brake(deps);
    this.#counters = countersOf(deps.metrics);
  }

  /** Takes or renews the lease. A new holder first redoes the unfinished work of the one before. */
  keepLease(): Promise<void> {
    return this.#guarded('lease', async () => {
      const { db, clock, log, announcer } = this.#deps;
      const held = await this.#lease.keep();
      const { epoch } = this.#lease;
      if (held && this.#epoch === epoch) return;
      this.#due = undefined;
      this.#epoch = 0;
      if (!held) return;
      await redoIntents(db, announcer, LEASE, epoch, oldestUnannounced(clock.now()));
      this.#epoch = epoch;
      const settler = new Settler({ db, announcer, lease: LEASE, epoch, stream: 'due' });
      this.#due = new DueMessages({ db, settler, clock });
      log.info('lease_taken', { lease: LEASE, epoch });
    });
  }

  /** Settles due messages: retries, ended validity, `sent` without a receipt. */
  settleDue(): Promise<void> {
    return this.#guarded('due', async () => {
      // Loops until nothing is due, so that a backlog does not wait for the next run.
      while (this.#due !== undefined && this.#mayGoOn) {
        const count = await this.#due.settleGroup();
        this.#counters.settled.inc(count);
        if (count === 0) return;
      }
    });
  }

  /** Gives waiting messages another path after the routes have changed. */
  reroute(): Promise<void> {
    return this.#guarded('reroute', async () => {
      if (!this.#lease.held) return;
      const count = await this.#rerouting.run();
      if (count > 0) this.#deps.log.info('messages_rerouted', { messages: count });
    });
  }

  /**
   * Announces what was decided about templates, how verifications ended, what happened to keys, users and senders, and what has been
   * wrong for a while.
   */
  announce(): Promise<void> {
    return this.#guarded('announce', async () => {
      if (!this.#lease.held) return;
      while ((await announceTemplates(this.#deps)) > 0) if (!this.#mayGoOn) return;
      while ((await announceVerifications(this.#deps)) > 0) if (!this.#mayGoOn) return;
      while ((await announceActs(this.#deps)) > 0) if (!this.#mayGoOn) return;
      await announceConditions(this.#deps);
    });
  }

  /** Tells operators that something waits for their decision. */
  announceApprovals(): Promise<void> {
    return this.#guarded('announce_approvals', async () => {
      if (this.#mayGoOn) await announceApprovals(this.#deps);
    });
  }

  /** Inserts messages that have waited as lines for long. Unlike the others it rejects with the store's error. */
  async writeOut(): Promise<Found> {
    if (!this.#mayGoOn) return 'idle';
    const { db, clock } = this.#deps;
    const [next] = await findAtOnce<QueueDocument>(db, 'queue', {
      filter: { writeAt: { $exists: true } },
      projection: { writeAt: 1 },
      sort: { writeAt: 1 },
      limit: 1,
    });
    if (next?.writeAt === undefined) return 'idle';
    const now = clock.now();
    if (next.writeAt > now) return 'waiting';
    await writeOut(db, now, { writeAt: { $lte: now } });
    return 'more';
  }

  /** Holds prefixes whose traffic looks like fraud, for accounts that want it. */
  brake(): Promise<void> {
    return this.#guarded('brake', async () => {
      if (this.#lease.held) await this.#brake.run(() => this.#mayGoOn);
    });
  }

  /** Finishes what dead gateways left pending in accounts. */
  finishPending(): Promise<void> {
    return this.#guarded('pending', async () => {
      const accounts = await finishPending(this.#deps.db, this.#deps.clock, () => this.#mayGoOn);
      this.#counters.finished.inc(accounts);
      if (accounts > 0) this.#deps.log.info('pending_finished', { accounts });
    });
  }

  /** Does what follows from the closing of accounts. */
  closeAccounts(): Promise<void> {
    return this.#guarded('close_accounts', async () => {
      if (!this.#lease.held) return;
      const accounts = await closeAccounts(this.#deps.db, this.#deps.clock, () => this.#mayGoOn);
      if (accounts > 0) this.#deps.log.info('accounts_closed', { accounts });
    });
  }

  /** Erases numbers of people who asked for it. */
  eraseNumbers(): Promise<void> {
    return this.#guarded('erase_numbers', async () => {
      const { db, clock, retention } = this.#deps;
      const deps = { db, clock, messageDays: retention.messages, held: () => this.#mayGoOn };
      while (this.#mayGoOn && (await eraseNumber(deps)));
    });
  }

  /** Issues the statements of the last month. */
  issueStatements(): Promise<void> {
    return this.#guarded('statements', async () => {
      if (!this.#mayGoOn) return;
      const { db, clock, statements: settings, log } = this.#deps;
      const month = lastMonth(clock.now(), settings);
      if (month === this.#issued) return;
      const { issued, isDone } = await issueMonth({ db, clock, settings, mayGoOn: () => this.#mayGoOn }, month);
      if (isDone) this.#issued = month;
      if (issued > 0) log.info('statements_issued', { month, statements: issued });
    });
  }

  /** Removes batches that were stored and never paid for. */
  pruneBatches(): Promise<void> {
    return this.#guarded('batches', async () => {
      if (!this.#lease.held) return;
      const count = await pruneUnpaid(this.#deps.db);
      if (count > 0) this.#deps.log.info('unpaid_batches_pruned', { batches: count });
    });
  }

  /** Counts what became of the messages of each hour. */
  countHours(): Promise<void> {
    return this.#guarded('statistics', () => this.#counting.run());
  }

  /** Tells in the metrics what waits to leave, and looks for what is wrong with the installation. */
  watch(): Promise<void> {
    return this.#guarded('watch', async () => {
      const queues = await this.#queues.look(() => this.#lease.held);
      if (queues === undefined) this.#watch.leave();
      else await this.#watch.look(queues);
    });
  }

  /** Looks for what is wrong with accounts. */
  watchAccounts(): Promise<void> {
    return this.#guarded('watch_accounts', async () => {
      if (this.#mayGoOn) await this.#watch.lookAtAccounts(() => this.#mayGoOn);
    });
  }

  /** Removes what ended long ago. Can take hours, and ends when the lease is lost. */
  pruneOld(): Promise<void> {
    return this.#guarded('prune', async () => {
      const begun = this.#deps.clock.now();
      await pruneOld(this.#pruning(), this.#pruned);
      // A run that lost the lease ended early; another process then begins from the start.
      this.#pruned = this.#mayGoOn ? begun : undefined;
    });
  }

  /** Removes chat-app customers without an exchange for a long time. */
  pruneConversations(): Promise<void> {
    return this.#guarded('prune_conversations', () => pruneConversations(this.#pruning()));
  }

  /** Erases accounts that were closed long ago. */
  eraseClosedAccounts(): Promise<void> {
    return this.#guarded('erase_closed_accounts', () => pruneClosed(this.#pruning()));
  }

  /**
   * Waits for the duties that are running, then gives the lease back. If one of them has not ended in time, the lease is not given
   * back: the next holder could redo that duty's group before its last write arrives, and nobody would do what follows from that
   * write.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    const ended = await within(
      this.#deps.stopMs,
      Promise.all(this.#running).then(() => true),
    );
    if (ended === true) await this.#lease.release();
    else this.#deps.log.warn('lease_kept', { lease: LEASE, running: this.#running.size });
  }

  /** Whether a long duty may begin its next step. */
  get #mayGoOn(): boolean {
    return this.#lease.held && !this.#stopping;
  }

  #pruning(): PruneDeps {
    return {
      ...this.#deps,
      held: () => this.#mayGoOn,
      onRemoved: (what, count) => this.#counters.pruned.inc({ what }, count),
    };
  }

  async #guarded(duty: string, work: () => Promise<void>): Promise<void> {
    if (this.#stopping) return;
    const run = work().catch((error) => this.#deps.log.warn('duty_failed', { duty, ...unexpectedErrorFields(error) }));
    this.#running.add(run);
    await run;
    this.#running.delete(run);
  }
}

function countersOf(metrics: Metrics) {
  return {
    settled: metrics.counter('maintenance_due_total', 'Messages whose due time came'),
    finished: metrics.counter(
      'maintenance_pending_total',
      'Accounts whose pending changes were finished by the maintenance',
    ),
    pruned: metrics.counter('maintenance_pruned_total', 'Old documents that were removed', ['what']),
  };
}
