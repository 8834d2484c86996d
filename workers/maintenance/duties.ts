import type { Db } from 'mongodb';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { QueueDocument } from '../../shared/messages/queue/queue-document.ts';
import { writeOut } from '../../shared/messages/queue/queue-store.ts';
import { oldestUnannounced, redoIntents } from '../../shared/messages/settlement/intents.ts';
import { Settler } from '../../shared/messages/settlement/settle.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { LIVE } from '../../shared/money/accounts/store.ts';
import { hasMoved } from '../../shared/money/statements/periods.ts';
import {
  findIssued,
  isSettled,
  monthIn,
  readStatement,
  type StatementSettings,
} from '../../shared/money/statements/statement.ts';
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
import { Brake } from './brake.ts';
import { closeAccounts } from './close-accounts.ts';
import { HourCounter } from './count-hours.ts';
import { eraseNumber } from './erase-number.ts';
import { finishPending } from './finish-pending.ts';
import { pruneClosed, pruneConversations, pruneOld, type Retention } from './prune.ts';
import { pruneUnpaid } from './prune-messages.ts';
import type { StoreKind } from './prune-walk.ts';
import { Reroute, type RerouteDeps } from './reroute.ts';
import { DueMessages } from './settle-due.ts';
import { QueueGauges, Watch } from './watch.ts';

const LEASE = 'maintenance';
/** The holder's name on lines that it has claimed. No carrier has such a name. */
const HOLDER = '@maintenance';

export interface DutiesDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly notes: ProcessNotes;
  readonly storeDir?: string | undefined;
  readonly publicUrl?: string | undefined;
  readonly announcer: Announcer;
  readonly box: SecretBox;
  readonly retention: Retention;
  readonly statements: StatementSettings;
  readonly store: StoreKind;
  readonly stopMs: number;
}

/** Repeated by the process that holds the lease. Its name is logged when it fails. */
interface Duty {
  /** Seconds after the end of its last run, or a cron pattern with seconds. */
  readonly when: number | string;
  run(): Promise<void>;
  leave?(): void;
}

export type DutyName = keyof ReturnType<typeof dutiesOf>;

/**
 * The duties of the process that holds the maintenance lease. A failed duty is logged and tried again at its next time.
 * Without the lease, and after the stop, duties do nothing.
 */
export class Duties {
  readonly #deps: DutiesDeps;
  readonly #lease: Lease;
  readonly #duties: Readonly<Record<DutyName, Duty>>;
  /** Set while this process holds the lease and has redone the unfinished work of the holder before it. */
  #due: DueMessages | undefined;
  #epoch = 0;
  readonly #running = new Set<Promise<void>>();
  #stopping = false;

  constructor(deps: DutiesDeps) {
    this.#deps = deps;
    this.#lease = new Lease({ name: LEASE, db: deps.db, clock: deps.clock });
    this.#duties = dutiesOf({
      ...deps,
      held: () => this.#mayGoOn,
      due: () => this.#due,
      holder: () => ({ carrier: HOLDER, epoch: this.#lease.epoch }),
    });
  }

  get timetable(): readonly (readonly [DutyName, Duty['when']])[] {
    return (Object.keys(this.#duties) as DutyName[]).map((name) => [name, this.#duties[name].when]); // its own keys
  }

  /** A new holder first redoes the unfinished work of the one before. */
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

  run(name: DutyName): Promise<void> {
    const duty = this.#duties[name];
    return this.#guarded(name, async () => {
      if (this.#lease.held) await duty.run();
      if (!this.#lease.held) duty.leave?.();
    });
  }

  /** Inserts messages whose lines have waited long. Unlike the duties it rejects with the store's error. */
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

  /**
   * Waits for running duties, then gives the lease back. Keeps it if one has not ended in time: the next holder could
   * redo that duty's group before its last write arrives, and nobody would do what follows from that write.
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

  get #mayGoOn(): boolean {
    return this.#lease.held && !this.#stopping;
  }

  async #guarded(duty: string, work: () => Promise<void>): Promise<void> {
    if (this.#stopping) return;
    const run = work().catch((error) => this.#deps.log.warn('duty_failed', { duty, ...unexpectedErrorFields(error) }));
    this.#running.add(run);
    await run;
    this.#running.delete(run);
  }
}

interface DutyDeps extends DutiesDeps, Pick<RerouteDeps, 'holder'> {
  held(): boolean;
  due(): DueMessages | undefined;
}

function dutiesOf(deps: DutyDeps) {
  const { db, clock, log, metrics, retention, statements, held } = deps;
  const settled = metrics.counter('maintenance_due_total', 'Messages whose due time came');
  const finished = metrics.counter(
    'maintenance_pending_total',
    'Accounts whose pending changes were finished by the maintenance',
  );
  const pruned = metrics.counter('maintenance_pruned_total', 'Old documents that were removed', ['what']);
  const pruning = { ...deps, onRemoved: (what: string, count: number) => pruned.inc({ what }, count) };
  const rerouting = new Reroute(deps);
  const counting = new HourCounter({ db, clock, messageDays: retention.messages, held });
  const queues = new QueueGauges(db, clock, metrics);
  const watch = new Watch(deps);
  const brake = new Brake(deps);
  let issued: string | undefined;
  /** When the last removal that got to its end began. */
  let prunedAt: Date | undefined;
  const tell = (event: string, what: string, count: number): void => {
    if (count > 0) log.info(event, { [what]: count });
  };
  return {
    /** Retries, ended validity, `sent` without a receipt. Waiting messages are delayed by at most this pause. */
    due: {
      when: 1,
      async run() {
        // Until nothing is due, so that a backlog does not wait for the next run.
        for (let due = deps.due(); due !== undefined && held(); due = deps.due()) {
          const count = await due.settleGroup();
          settled.inc(count);
          if (count === 0) return;
        }
      },
    },
    reroute: { when: 2, run: async () => tell('messages_rerouted', 'messages', await rerouting.run()) },
    announce: {
      when: 3,
      async run() {
        for (const announce of [announceTemplates, announceVerifications, announceActs]) {
          while ((await announce(deps)) > 0) if (!held()) return;
        }
        await announceConditions(deps);
      },
    },
    announce_approvals: { when: 60, run: () => announceApprovals(deps) },
    pending: {
      when: 10,
      async run() {
        const accounts = await finishPending(db, clock, held);
        finished.inc(accounts);
        tell('pending_finished', 'accounts', accounts);
      },
    },
    close_accounts: {
      when: 5,
      run: async () => tell('accounts_closed', 'accounts', await closeAccounts(db, clock, held)),
    },
    erase_numbers: {
      when: 5,
      async run() {
        while (held() && (await eraseNumber({ db, clock, messageDays: retention.messages, held })));
      },
    },
    batches: { when: 10, run: async () => tell('unpaid_batches_pruned', 'batches', await pruneUnpaid(db)) },
    statistics: { when: 5, run: () => counting.run(), leave: () => counting.leave() },
    /** Not more often, because a process reports its metrics every 10 s. */
    watch: {
      when: 10,
      async run() {
        const lanes = await queues.look();
        if (held()) await watch.look(lanes);
      },
      leave() {
        queues.leave();
        watch.leave();
      },
    },
    watch_accounts: { when: 60, run: () => watch.lookAtAccounts(held) },
    brake: { when: 15, run: () => brake.run(held) },
    prune: {
      when: '0 17 * * * *',
      async run() {
        const begun = clock.now();
        await pruneOld(pruning, prunedAt);
        // A run that lost the lease ended early.
        if (held()) prunedAt = begun;
      },
    },
    /** Every hour, because a month ends at another time in each zone. */
    statements: {
      when: '0 37 * * * *',
      async run() {
        const month = lastMonth(clock.now(), statements);
        if (month === issued) return;
        const done = await issueMonth(deps, month);
        if (done.isDone) issued = month;
        if (done.issued > 0) log.info('statements_issued', { month, statements: done.issued });
      },
    },
    prune_conversations: { when: '0 47 3 * * *', run: () => pruneConversations(pruning) },
    erase_closed_accounts: { when: '0 27 3 * * *', run: () => pruneClosed(pruning) },
  } satisfies Readonly<Record<string, Duty>>;
}

function lastMonth(now: Date, { statementZone: timeZone }: StatementSettings): string {
  const [year = 0, month = 0] = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' })
    .format(now)
    .split('-')
    .map(Number);
  return new Date(Date.UTC(year, month - 2)).toISOString().slice(0, 7);
}

/**
 * Issues the statements of a month that nobody has asked for yet, so that a later price or address changes none of
 * them. `isDone`: it got through all accounts, and need not be run again.
 */
export async function issueMonth(
  { db, clock, statements, held }: Pick<DutyDeps, 'db' | 'clock' | 'statements' | 'held'>,
  month: string,
): Promise<{ issued: number; isDone: boolean }> {
  const ask = { month, zone: statements.statementZone, now: clock.now() };
  if (!isSettled(ask)) return { issued: 0, isDone: false };
  const { bounds } = monthIn(month, ask.zone);
  const [from, to] = [bounds[0] ?? ask.now, bounds.at(-1) ?? ask.now];
  const accounts = db
    .collection<AccountDocument>('accounts')
    .find({ ...LIVE, 'closed.erasedAt': null as never }, { projection: { pending: 0 } })
    .sort({ _id: 1 });
  let issued = 0;
  for await (const account of accounts) {
    if (!held()) return { issued, isDone: false };
    if ((await findIssued(db, account._id, month)) !== undefined) continue;
    // Two looks into the ledger are enough for most accounts; a whole statement takes some hundred.
    if (!(await hasMoved(db, account._id, from, to))) continue;
    const { number } = await readStatement(db, statements, account, ask);
    if (number !== null) issued++;
  }
  return { issued, isDone: true };
}
