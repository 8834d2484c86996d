import type { Db } from 'mongodb';
import { markPaid } from '../batches/store.ts';
import { insertNew } from '../mongo/insert-new.ts';
import { pauseMs, REPEAT_MS } from '../mongo/until-answered.ts';
import type { Clock } from '../runtime/clock.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import { Grouper } from '../runtime/grouper.ts';
import type { AccountId, BatchId, GroupId } from '../runtime/ids.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { storeBooked } from '../schedules/store-booked.ts';
import type { DebitRequest } from './debit.ts';
import { debitEnterer } from './enter-debits.ts';
import type { Paid } from './pending.ts';

/** What a debit of SMS has paid for. */
export interface PaidGroup extends Partial<Pick<Paid, 'schedules'>>, Pick<Paid, 'messages'> {
  readonly group: GroupId;
  readonly batch?: { readonly id: BatchId } | undefined;
}

/** Stores what debits have paid for, many in one insert each for messages and schedules. Doing it twice writes the same. */
export async function storePaid(db: Db, groups: readonly PaidGroup[]): Promise<void> {
  const messages = groups.flatMap((group) => group.messages);
  const schedules = groups.flatMap((group) => group.schedules ?? []);
  await Promise.all([
    insertNew(db, 'messages', messages),
    storeBooked(db, schedules),
    ...groups.map(({ group, batch }) => batch && markPaid(db, batch.id, group)),
  ]);
}

/** Most groups per insert. Debits of many small accounts stay single; their inserts are shared. */
const GROUPS_MAX = 200;
/** Most accounts for which the groups to be cleared are remembered. */
const ACCOUNTS_MAX = 10_000;
/**
 * Most groups of an account without a ledger entry. Each carries its messages in the account's document. Above this, an answer
 * waits for its entry.
 */
const UNENTERED_MAX = 16;

/**
 * Follow-up of a debit: its messages are stored, then its ledger entry is written, then the account's next debit clears the
 * pending change. If a process dies in between, the group stays in the account's `pending`, and the sweep finishes it
 * (workers/maintenance/finish-pending.ts).
 */
export class FollowUp {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #storing: Grouper<DebitRequest, true>;
  readonly #entering: Grouper<DebitRequest, boolean>;
  /** By account: groups whose follow-up is complete; the next debit clears them. */
  readonly #done = new Map<AccountId, GroupId[]>();
  /** By account: number of groups that are stored but not in the ledger yet. */
  readonly #unentered = new Map<AccountId, number>();

  constructor({ db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
    this.#entering = debitEnterer(db);
    this.#storing = new Grouper<DebitRequest, true>({
      maxItems: GROUPS_MAX,
      gatherMs: 0,
      run: async (groups) => {
        await storePaid(db, groups);
        return groups.map(() => true);
      },
    });
  }

  /**
   * The groups that the account's next debit must clear. They are returned once; call `addDone` if that debit did not clear them.
   */
  takeDone(account: AccountId): readonly GroupId[] {
    const groups = this.#done.get(account) ?? [];
    this.#done.delete(account);
    return groups;
  }

  /** The sweep clears what is forgotten here. */
  addDone(account: AccountId, groups: readonly GroupId[]): void {
    if (groups.length === 0) return;
    const [oldest] = this.#done.keys();
    if (this.#done.size >= ACCOUNTS_MAX && oldest !== undefined) this.#done.delete(oldest);
    const known = this.#done.get(account);
    if (known === undefined) this.#done.set(account, [...groups]);
    else known.push(...groups);
  }

  /**
   * Resolves when the messages and the schedules are stored. The ledger entry follows later, unless too many entries are missing.
   * Never rejects. `mayClear`: whether the next debit may clear the pending change once everything is done.
   */
  async store(request: DebitRequest, mayClear: boolean): Promise<void> {
    const { account, group } = request;
    const stored = await this.#untilDone(group, () => this.#storing.add(request));
    if (stored === undefined) return;
    crashPoint('accept:inserted');
    const unentered = (this.#unentered.get(account) ?? 0) + 1;
    this.#unentered.set(account, unentered);
    const entered = this.#enter(request, mayClear);
    if (unentered > UNENTERED_MAX) await entered;
  }

  async #enter(request: DebitRequest, mayClear: boolean): Promise<void> {
    const { account, group } = request;
    const entered = await this.#untilDone(group, () => this.#entering.add(request));
    if (entered !== undefined) crashPoint('accept:stored');
    if (entered === true && mayClear) this.addDone(account, [group]);
    const left = (this.#unentered.get(account) ?? 1) - 1;
    if (left === 0) this.#unentered.delete(account);
    else this.#unentered.set(account, left);
  }

  /** The result of `write`; undefined when it failed for too long. Then the sweep does it. */
  async #untilDone<T>(group: GroupId, write: () => Promise<T>): Promise<T | undefined> {
    const deadline = this.#clock.monotonicMs() + REPEAT_MS;
    for (let failed = 1; ; failed++) {
      try {
        return await write();
      } catch (error) {
        this.#log.warn('follow_up_failed', { group, ...errorFields(error) });
        if (this.#clock.monotonicMs() >= deadline) return undefined;
        await new Promise((resolve) => setTimeout(resolve, pauseMs(error, failed)));
      }
    }
  }
}
