import type { Db } from 'mongodb';
import { dueItems, type InboxItemDocument } from '../../shared/messages/chat-inbox.ts';
import { LeaseLostError } from '../../shared/messages/settlement/intents.ts';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import type { HeldPartition } from './held-partition.ts';
import type { ChatMetrics } from './metrics.ts';

export interface InboxRotationOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  /** Undefined when another process serves the account by now. */
  partitionOf(account: AccountId): HeldPartition | undefined;
  /** Works off items that all belong to accounts of this partition. */
  workOff(items: readonly InboxItemDocument[], partition: HeldPartition): Promise<void>;
}

/** The most items of one read, and the most reads of one look. */
const ITEMS_MAX = 200;
const READS = 4;
/** How long an account is skipped after its items could not be read or worked off. */
const ASIDE_MS = 30_000;

type Page = Awaited<ReturnType<typeof dueItems>>;

/**
 * Decides which account's items are next. Accounts come one after the other, in the order of their ids. A read ends
 * with the account that fills it. The next read begins after that account, and the next look where this one stopped.
 * So a flood of items for one account delays no other account. An account whose items fail is skipped for half a
 * minute, and logged.
 */
export class InboxRotation {
  readonly #options: InboxRotationOptions;
  /** The account at which the last look stopped. */
  #upTo = '';
  readonly #asideUntilMs = new Map<AccountId, number>();

  constructor(options: InboxRotationOptions) {
    this.#options = options;
  }

  /**
   * One look at the items of these accounts, which this process serves. Returns whether there were any. Throws when
   * the store is not available or a partition is lost, but only after everything that was begun has ended.
   */
  async work(accounts: readonly AccountId[]): Promise<boolean> {
    const groups = new Map<HeldPartition, InboxItemDocument[]>();
    const items = await this.#nextItems(accounts.filter((account) => !this.#isAside(account)));
    for (const item of items) {
      const partition = this.#options.partitionOf(item.account);
      if (partition === undefined) continue;
      const group = groups.get(partition);
      if (group === undefined) groups.set(partition, [item]);
      else group.push(item);
    }
    const ends = await Promise.allSettled([...groups].map(([partition, group]) => this.#workOff(group, partition)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return items.length > 0;
  }

  async #nextItems(accounts: readonly AccountId[]): Promise<readonly InboxItemDocument[]> {
    const items: InboxItemDocument[] = [];
    const start = this.#upTo;
    const parts = [accounts.filter((account) => account > start), accounts.filter((account) => account <= start)];
    for (let reads = 0; reads < READS && parts.length > 0; ) {
      const [part = []] = parts;
      if (part.length > 0) reads++;
      const page = await this.#read(part);
      items.push(...page.items);
      const last = page.items.at(-1)?.account;
      if (page.more && last !== undefined) {
        parts[0] = part.filter((account) => account > last);
        this.#upTo = last;
      } else {
        parts.shift();
        this.#upTo = '';
      }
    }
    return items;
  }

  /**
   * If a read fails for a reason other than the store's availability, reads the accounts by halves until the failing
   * account is found.
   */
  async #read(accounts: readonly AccountId[]): Promise<Page> {
    const { db, clock } = this.#options;
    try {
      return await dueItems(db, accounts, clock.now(), ITEMS_MAX);
    } catch (error) {
      if (isStoreTrouble(error)) throw error;
      const [only, second] = accounts;
      if (only !== undefined && second === undefined) {
        this.#setAside(only, error);
        return { items: [], more: false };
      }
      const half = Math.ceil(accounts.length / 2);
      const first = await this.#read(accounts.slice(0, half));
      const rest = await this.#read(accounts.slice(half));
      return { items: [...first.items, ...rest.items], more: first.more || rest.more };
    }
  }

  async #workOff(items: readonly InboxItemDocument[], partition: HeldPartition): Promise<void> {
    try {
      await this.#options.workOff(items, partition);
    } catch (error) {
      if (isStoreTrouble(error) || error instanceof LeaseLostError) throw error;
      const accounts = new Set(items.map(({ account }) => account));
      for (const account of accounts) {
        if (accounts.size === 1) this.#setAside(account, error);
        else
          await this.#workOff(
            items.filter((item) => item.account === account),
            partition,
          );
      }
    }
  }

  #setAside(account: AccountId, error: unknown): void {
    const { clock, log, metrics } = this.#options;
    this.#asideUntilMs.set(account, clock.monotonicMs() + ASIDE_MS);
    metrics.inboxAside.inc();
    log.error('inbox_account_set_aside', { account, pause_ms: ASIDE_MS, ...errorFields(error) });
  }

  #isAside(account: AccountId): boolean {
    const untilMs = this.#asideUntilMs.get(account);
    if (untilMs === undefined) return false;
    if (this.#options.clock.monotonicMs() < untilMs) return true;
    this.#asideUntilMs.delete(account);
    return false;
  }
}
