import type { Db } from 'mongodb';
import type { ScheduleDocument } from '../../shared/messages/schedule.ts';
import { findDue, findDueOf, firstWaiting } from '../../shared/messages/schedule-store.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';

/** The most schedules in one group. The store runs a command in one piece, so other commands wait some 20 ms. */
const GROUP_MAX = 250;
/**
 * How many of them are taken in rotation, which finds only what waits for its release. The others are the longest due, among them
 * releases and refunds that a dead worker left.
 */
const TURNS_MAX = GROUP_MAX / 2;
/** The most schedules of one account in one turn. */
const QUOTA = 25;
/** The most accounts that are looked at for one group. Each costs a read, also one whose bookings are all for later. */
const LOOKS_MAX = 50;

/**
 * Which due schedules come next. In a backlog, accounts take turns, so that nobody waits behind the thousands that another one has
 * booked for the same time.
 */
export class DueTurns {
  readonly #db: Db;
  /** The account that was looked at last. */
  #behind: AccountId | '' = '';

  constructor(db: Db) {
    this.#db = db;
  }

  /** Empty when nothing is due by `upTo`. Without a backlog it takes one read. */
  async next(upTo: Date): Promise<readonly ScheduleDocument[]> {
    const longestDue = await findDue(this.#db, upTo, GROUP_MAX);
    if (longestDue.length < GROUP_MAX) return longestDue;
    const others = await this.#others(upTo, new Set(longestDue.map(({ account }) => account)));
    return [...others, ...longestDue.slice(0, GROUP_MAX - others.length)];
  }

  /** What is due of accounts that are not among `served`, each up to its quota. */
  async #others(upTo: Date, served: ReadonlySet<AccountId>): Promise<readonly ScheduleDocument[]> {
    const found: ScheduleDocument[] = [];
    for (let looks = 0; looks < LOOKS_MAX && found.length < TURNS_MAX; looks++) {
      const first = await firstWaiting(this.#db, this.#behind);
      this.#behind = first?.account ?? '';
      if (first === undefined) break;
      if (first.at > upTo || served.has(first.account)) continue;
      found.push(...(await findDueOf(this.#db, first.account, upTo, Math.min(QUOTA, TURNS_MAX - found.length))));
    }
    return found;
  }
}
