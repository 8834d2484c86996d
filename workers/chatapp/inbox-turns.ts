import type { Db } from 'mongodb';
import type { InboxItemDocument } from '../../shared/chat-inbox/inbox-item.ts';
import { dueItems } from '../../shared/chat-inbox/store.ts';
import { isStoreTrouble } from '../../shared/mongo/errors.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import { LeaseLostError } from '../../shared/settlement/intents.ts';
import type { Figures } from './figures.ts';
import type { ShareDuty } from './share-duty.ts';

export interface InboxTurnsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly figures: Figures;
  /** Undefined: another process serves the account by now. */
  dutyOf(account: AccountId): ShareDuty | undefined;
  /** Works off a group of items, of accounts of one share. */
  workOff(items: readonly InboxItemDocument[], duty: ShareDuty): Promise<void>;
}

/** Items of one read, and reads of one turn. */
const GROUP = 200;
const READS = 4;
/** How long an account is left alone whose items cannot be read or worked off. */
const ASIDE_MS = 30_000;

type Page = Awaited<ReturnType<typeof dueItems>>;

/**
 * Whose items are next. Accounts come one after the other, in the order of their ids, and a read ends with the account that
 * fills it: the next begins behind it, in the next turn where this one stopped. So a flood of one account's stands before nobody
 * else's. An account that makes the store or us fail is set aside for half a minute, and told; the others go on.
 */
export class InboxTurns {
  readonly #options: InboxTurnsOptions;
  /** The account at which the last turn stopped. */
  #upTo = '';
  readonly #asideUntilMs = new Map<AccountId, number>();

  constructor(options: InboxTurnsOptions) {
    this.#options = options;
  }

  /**
   * One turn for these accounts, all of this process; whether any had items. Throws when the store is away or a share is lost, but
   * not before all that was begun has ended.
   */
  async work(accounts: readonly AccountId[]): Promise<boolean> {
    const groups = new Map<ShareDuty, InboxItemDocument[]>();
    const items = await this.#nextItems(accounts.filter((account) => !this.#isAside(account)));
    for (const item of items) {
      const duty = this.#options.dutyOf(item.account);
      if (duty === undefined) continue;
      const group = groups.get(duty);
      if (group === undefined) groups.set(duty, [item]);
      else group.push(item);
    }
    const ends = await Promise.allSettled([...groups].map(([duty, group]) => this.#workOff(group, duty)));
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

  /** When it fails for another reason than the store's own: by halves, until the account is found for which it does. */
  async #read(accounts: readonly AccountId[]): Promise<Page> {
    const { db, clock } = this.#options;
    try {
      return await dueItems(db, accounts, clock.now(), GROUP);
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

  async #workOff(items: readonly InboxItemDocument[], duty: ShareDuty): Promise<void> {
    try {
      await this.#options.workOff(items, duty);
    } catch (error) {
      if (isStoreTrouble(error) || error instanceof LeaseLostError) throw error;
      const accounts = new Set(items.map(({ account }) => account));
      for (const account of accounts) {
        if (accounts.size === 1) this.#setAside(account, error);
        else
          await this.#workOff(
            items.filter((item) => item.account === account),
            duty,
          );
      }
    }
  }

  #setAside(account: AccountId, error: unknown): void {
    const { clock, log, figures } = this.#options;
    this.#asideUntilMs.set(account, clock.monotonicMs() + ASIDE_MS);
    figures.inboxAside.inc();
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
