import type { Collection, Db } from 'mongodb';
import type { Clock } from '../runtime/clock.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { EndpointDocument } from './endpoint.ts';

/** What announcing needs to know of an active endpoint. */
export type Subscription = Pick<EndpointDocument, '_id' | 'channel' | 'events'>;

/**
 * How long a process believes what it read: an endpoint made or changed gets its events from then on at the latest, and is
 * registered only when that time is over (gateway/chatapp/webhook.ts waits for it). Short, because somebody waits; long enough
 * for one busy account to cost two reads a second in place of one for each group of events.
 */
export const SUBSCRIPTIONS_FRESH_MS = 500;
/** Accounts kept at a time; the oldest reading makes room. An account's endpoints are few (endpoint-store.ts). */
const ACCOUNTS_MAX = 10_000;

interface Reading {
  readonly atMs: number;
  readonly subscriptions: readonly Subscription[];
}

/** The active endpoints of accounts, remembered for a moment: a busy account does not cost one read per event. */
export class Subscriptions {
  readonly #endpoints: Collection<EndpointDocument>;
  readonly #clock: Clock;
  readonly #readings = new Map<AccountId, Reading>();

  constructor(db: Db, clock: Clock) {
    this.#endpoints = db.collection('endpoints');
    this.#clock = clock;
  }

  /** By account, every account given is in the result; one read for all those that are not fresh. */
  async of(accounts: ReadonlySet<AccountId>): Promise<ReadonlyMap<AccountId, readonly Subscription[]>> {
    const nowMs = this.#clock.monotonicMs();
    const found = new Map<AccountId, readonly Subscription[]>();
    const stale: AccountId[] = [];
    for (const account of accounts) {
      const reading = this.#readings.get(account);
      if (reading !== undefined && nowMs - reading.atMs < SUBSCRIPTIONS_FRESH_MS)
        found.set(account, reading.subscriptions);
      else stale.push(account);
    }
    if (stale.length > 0) {
      for (const [account, subscriptions] of await this.#read(stale)) {
        found.set(account, subscriptions);
        this.#remember(account, { atMs: nowMs, subscriptions });
      }
    }
    return found;
  }

  async #read(accounts: readonly AccountId[]): Promise<Map<AccountId, Subscription[]>> {
    const byAccount = new Map<AccountId, Subscription[]>(accounts.map((account) => [account, []]));
    const endpoints = this.#endpoints
      .find({ account: { $in: [...accounts] }, status: 'active' })
      .project<Pick<EndpointDocument, '_id' | 'account' | 'channel' | 'events'>>({ account: 1, channel: 1, events: 1 });
    for await (const { _id, account, channel, events } of endpoints)
      byAccount.get(account)?.push({ _id, channel, events });
    return byAccount;
  }

  #remember(account: AccountId, reading: Reading): void {
    this.#readings.delete(account); // So that the map's order is the readings' age.
    this.#readings.set(account, reading);
    if (this.#readings.size <= ACCOUNTS_MAX) return;
    for (const oldest of this.#readings.keys()) {
      this.#readings.delete(oldest);
      return;
    }
  }
}
