import type { Db } from 'mongodb';
import { markPaid } from '../../messages/batch.ts';
import { queueDocuments } from '../../messages/queue/queue-document.ts';
import { insertAgain, insertFirst } from '../../messages/queue/queue-store.ts';
import { storeBooked } from '../../messages/schedule.ts';
import { isStoreTrouble } from '../../platform/mongo/errors.ts';
import { findAtOnce } from '../../platform/mongo/find-one.ts';
import { pauseMs, REPEAT_MS } from '../../platform/mongo/until-answered.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import { Grouper } from '../../platform/runtime/grouper.ts';
import type { AccountId, BatchId, GroupId } from '../../platform/runtime/ids.ts';
import { errorFields, type Log } from '../../platform/runtime/log.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { enterTogether, ledgerEntryOf } from '../ledger/store.ts';
import type { DebitRequest } from './debit.ts';
import { DECIDED, type Paid, purchaseEntry } from './pending.ts';

export interface PaidGroup extends Partial<Pick<Paid, 'schedules'>>, Pick<Paid, 'messages'> {
  readonly group: GroupId;
  readonly batch?: { readonly id: BatchId } | undefined;
  /** Nobody has tried to store it yet, and nobody else does meanwhile. */
  readonly first?: boolean;
}

/**
 * Stores what debits have paid for: by one insert each the lines of the queue and the schedules. May be repeated, if
 * only the first attempt says `first`. First attempts for what one command has paid for belong into one call.
 */
export async function storePaid(db: Db, groups: readonly PaidGroup[], now: Date): Promise<void> {
  await Promise.all([
    queuePaid(db, groups, now),
    storeBooked(
      db,
      groups.flatMap(({ schedules = [] }) => schedules),
    ),
    ...groups.map(({ group, batch }) => batch && markPaid(db, batch.id, group)),
  ]);
}

async function queuePaid(db: Db, groups: readonly PaidGroup[], now: Date): Promise<void> {
  const first = groups.filter((group) => group.first);
  const areNew = await insertFirst(db, queueDocuments(first, now));
  const again = areNew ? groups.filter((group) => !group.first) : groups;
  await insertAgain(
    db,
    again.flatMap((group) => queueDocuments([group], now)),
    now,
  );
}

const COMMANDS_MAX = 20;
/** Least time between two inserts, while the gateway is busy. Only the carrier waits for them, no answer. */
const STORE_GAP_MS = 5;
/**
 * How long debits are collected before they are entered together, successive ones of an account in one document. Nobody
 * waits for a ledger entry: until it exists, the pending change stands for it.
 */
const ENTER_GATHER_MS = 100;
const ENTRIES_MAX = 1_000;
/** Accounts for which it is remembered what their next debits take out of `pending`. */
const ACCOUNTS_MAX = 10_000;

/** Groups that leave `pending`: only their messages, once queued, or all, once in the ledger too. */
export type Leaving = ReadonlyMap<GroupId, 'messages' | 'all'>;

/** Without its messages, to spare the garbage collector. */
interface StoredDebit extends Pick<DebitRequest, 'account' | 'group'> {
  readonly entry: ReturnType<typeof purchaseEntry>;
}

export interface PaidDebit extends DebitRequest {
  readonly first: boolean;
}

/**
 * Follow-up of a debit, after its answer: its messages are stored in the queue and leave the account's document with
 * its next debit, then the ledger entry is written, and a later debit clears the pending change. If the process dies in
 * between, the group stays in `pending`, and maintenance finishes it (workers/maintenance/finish-pending.ts).
 */
export class FollowUp {
  readonly #clock: Clock;
  readonly #log: Log;
  /** An item: what one command has paid for. */
  readonly #storing: Grouper<readonly PaidDebit[], readonly boolean[]>;
  readonly #entering: Grouper<StoredDebit, boolean>;
  readonly #open = new OpenGroups();
  /** By account: what its next debit takes out of `pending`. */
  readonly #leaving = new Map<AccountId, Leaving>();

  constructor({ db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
    this.#storing = new Grouper<readonly PaidDebit[], readonly boolean[]>({
      maxItems: COMMANDS_MAX,
      gatherMs: 0,
      gapMs: STORE_GAP_MS,
      run: async (commands) => {
        const stored = await this.#untilTaken(commands.flat(), async (some, repeated) => {
          await storePaid(db, repeated ? some.map((group) => ({ ...group, first: false })) : some, clock.now());
          return some.map(() => true);
        });
        let begin = 0;
        return commands.map(({ length }) => {
          begin += length;
          return stored.slice(begin - length, begin);
        });
      },
    });
    this.#entering = new Grouper<StoredDebit, boolean>({
      maxItems: ENTRIES_MAX,
      gatherMs: ENTER_GATHER_MS,
      pauseMs: ENTER_GATHER_MS,
      run: (groups) => this.#untilTaken(groups, (some) => enterDebits(db, some)),
    });
  }

  /** For the account's next debit. Returned once; call `leave` if that debit did not take them out. */
  takeLeaving(account: AccountId): Leaving {
    const leaving = this.#leaving.get(account) ?? new Map();
    this.#leaving.delete(account);
    return leaving;
  }

  /** Remembers this for `takeLeaving`, for `ACCOUNTS_MAX` accounts. Maintenance clears what is forgotten. */
  leave(account: AccountId, groups: Leaving): void {
    if (groups.size === 0) return;
    const known = this.#leaving.get(account);
    if (known === undefined) {
      const [oldest] = this.#leaving.keys();
      if (this.#leaving.size >= ACCOUNTS_MAX && oldest !== undefined) this.#leaving.delete(oldest);
    }
    const all = new Map(known);
    for (const [group, what] of groups) if (all.get(group) !== 'all') all.set(group, what);
    this.#leaving.set(account, all);
  }

  /**
   * Resolves when the messages and schedules of one command's debits are stored; the ledger entries follow later. Never
   * rejects. `first`: the debit was made by one attempt, and no other process makes it or stores what it paid for. Then
   * the next debit may clear the pending change once everything is done.
   */
  async store(debits: readonly PaidDebit[]): Promise<void> {
    if (debits.length === 0) return;
    for (const debit of debits) this.#open.paid(debit);
    const stored = await this.#storing.add(debits);
    debits.forEach((debit, i) => {
      this.#open.stored(debit);
      if (stored[i]) crashPoint('accept:inserted');
      if (stored[i] && debit.first && debit.batch === undefined) {
        this.leave(debit.account, new Map([[debit.group, 'messages']]));
      }
      const { account, group } = debit;
      void this.#enter({ account, group, entry: purchaseEntry(debit) }, stored[i] === true, debit.first);
    });
  }

  /** False while too much that the account has paid for waits for the store. */
  hasRoom(account: AccountId): boolean {
    return this.#open.hasRoom(account);
  }

  /** Resolves when the account may be debited, or when that takes too long. */
  room(account: AccountId): Promise<void> {
    return this.#open.room(account, REPEAT_MS);
  }

  /** Resolves when nothing more is to be done, or when that takes too long: then maintenance does the rest. */
  settled(): Promise<void> {
    return this.#open.none(REPEAT_MS);
  }

  async #enter(debit: StoredDebit, stored: boolean, mayClear: boolean): Promise<void> {
    const entered = stored && (await this.#entering.add(debit));
    if (entered) crashPoint('accept:stored');
    if (entered && mayClear) this.leave(debit.account, new Map([[debit.group, 'all']]));
    this.#open.finished(debit.account);
  }

  /**
   * The results of `write` for each group; false for one that maintenance has to do. Repeated while the store has
   * trouble: meanwhile the groups count as open, so accounts are not debited without end. After another error each
   * group is written alone, so that a refused one holds up no others, and repeated for some seconds.
   */
  async #untilTaken<Group extends Pick<DebitRequest, 'group'>>(
    groups: readonly Group[],
    write: (some: readonly Group[], repeated: boolean) => Promise<readonly boolean[]>,
    apart = false,
  ): Promise<readonly boolean[]> {
    const deadline = this.#clock.monotonicMs() + REPEAT_MS;
    for (let failed = 1; ; failed++) {
      try {
        return await write(groups, apart || failed > 1);
      } catch (error) {
        this.#log.warn('follow_up_failed', {
          groups: groups.length,
          group: groups[0]?.group,
          ...errorFields(error),
        });
        if (!isStoreTrouble(error)) {
          if (groups.length > 1) {
            return (await Promise.all(groups.map((one) => this.#untilTaken([one], write, true)))).flat();
          }
          if (this.#clock.monotonicMs() >= deadline) return [false];
        }
        // A process without anything else to do may end: maintenance goes on.
        await new Promise((resolve) => setTimeout(resolve, pauseMs(error, failed)).unref());
      }
    }
  }
}

/**
 * Enters paid debits in the ledger, with the number and balance that the store gave each. False for a debit that is not
 * pending: maintenance has entered it, or the account was read from an old view; maintenance clears what is left. May
 * be repeated.
 */
async function enterDebits(db: Db, debits: readonly StoredDebit[]): Promise<readonly boolean[]> {
  const accounts = await readPending(db, debits);
  const entries = debits.map((debit) => {
    const pending = accounts.get(debit.account)?.pending?.[debit.group];
    return pending && ledgerEntryOf(debit.account, debit.group, { ...pending, ...debit.entry });
  });
  await enterTogether(
    db,
    entries.filter((entry) => entry !== undefined),
  );
  return entries.map((entry) => entry !== undefined);
}

/** Only the `DECIDED` fields of `pending`. */
type WithPending = Pick<AccountDocument, '_id' | 'pending'>;

async function readPending(
  db: Db,
  debits: readonly StoredDebit[],
): Promise<ReadonlyMap<AccountDocument['_id'], WithPending>> {
  const projection: Record<string, 1> = {};
  for (const { group } of debits) for (const name of DECIDED) projection[`pending.${group}.${name}`] = 1;
  const accounts = [...new Set(debits.map(({ account }) => account))];
  const found = await findAtOnce<AccountDocument>(db, 'accounts', {
    filter: { _id: { $in: accounts } },
    projection,
    sort: { _id: 1 },
    limit: accounts.length,
  });
  return new Map(found.map((account) => [account._id, account]));
}

/**
 * Most unfinished groups and unstored messages of an account. They lie in its document, 150 bytes each group and some
 * 500 each message, which every debit writes anew: the larger, the slower. A group is there for some 200 ms, a message
 * for 20.
 */
const GROUPS_MAX = 64;
const MESSAGES_MAX = 128;
/** Most paid and unstored messages of a process, which keeps them in memory. */
const UNSTORED_MAX = 20_000;

interface Open {
  readonly groups: number;
  readonly messages: number;
}

const NONE: Open = { groups: 0, messages: 0 };

/** Limits the unfinished groups of a process: whoever debits an account asks here first whether there is room. */
class OpenGroups {
  readonly #byAccount = new Map<AccountId, Open>();
  #unstored = 0;
  readonly #waiting = new Set<() => void>();

  paid({ account, messages }: DebitRequest): void {
    const open = this.#openOf(account);
    this.#byAccount.set(account, { groups: open.groups + 1, messages: open.messages + messages.length });
    this.#unstored += messages.length;
  }

  stored({ account, messages }: DebitRequest): void {
    const open = this.#openOf(account);
    this.#byAccount.set(account, { ...open, messages: open.messages - messages.length });
    this.#unstored -= messages.length;
    this.#tell();
  }

  /** The follow-up of one group is done, or left to maintenance. */
  finished(account: AccountId): void {
    const open = this.#openOf(account);
    if (open.groups === 1) this.#byAccount.delete(account);
    else this.#byAccount.set(account, { ...open, groups: open.groups - 1 });
    this.#tell();
  }

  hasRoom(account: AccountId): boolean {
    const { groups, messages } = this.#openOf(account);
    return groups <= GROUPS_MAX && messages <= MESSAGES_MAX && this.#unstored <= UNSTORED_MAX;
  }

  /** Resolves when there is room for another debit of the account, or after `waitMs`. */
  room(account: AccountId, waitMs: number): Promise<void> {
    return this.#until(() => this.hasRoom(account), waitMs);
  }

  /** Resolves when the follow-up of all groups is finished, or after `waitMs`. */
  none(waitMs: number): Promise<void> {
    return this.#until(() => this.#byAccount.size === 0, waitMs);
  }

  #openOf(account: AccountId): Open {
    return this.#byAccount.get(account) ?? NONE;
  }

  async #until(isSo: () => boolean, waitMs: number): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const look = (): void => {
        if (isSo()) end();
      };
      const timer = setTimeout(end, waitMs);
      this.#waiting.add(look);
    });
  }

  #tell(): void {
    for (const look of this.#waiting) look();
  }
}
