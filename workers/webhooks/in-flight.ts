import type { AccountId } from '../../shared/runtime/ids.ts';
import type { DeliveryId } from '../../shared/webhooks/delivery.ts';
import { Destinations } from './destinations.ts';
import { type InFlight, type Limit, SLOW_MS } from './quota.ts';

/** The posts to one endpoint that have begun and have no result yet. */
export interface EndpointPosts {
  readonly account: AccountId;
  /** Where its posts go to. Does not change while any is in flight. */
  readonly host: string;
  /** When each post in flight began, the oldest first. */
  readonly startedMs: Map<DeliveryId, number>;
  /** Whether its last post, or one in flight, took longer than `SLOW_MS`. */
  slow: boolean;
}

/** The posts in flight of this process, counted for each limit of quota.ts. */
export class InFlightCounts {
  /** Endpoints with posts in flight, by account. */
  readonly #accounts = new Map<AccountId, Set<EndpointPosts>>();
  readonly #destinations = new Destinations();
  #all = 0;
  #slow = 0;

  get all(): number {
    return this.#all;
  }

  of({ account, host, startedMs }: EndpointPosts): InFlight {
    const destination = this.#destinations.destinationOf(host);
    let [ofAccount, accountThere] = [0, 0];
    for (const other of this.#accounts.get(account) ?? []) {
      ofAccount += other.startedMs.size;
      if (this.#destinations.destinationOf(other.host) === destination) accountThere += other.startedMs.size;
    }
    return {
      all: this.#all,
      slow: this.#slow,
      account: ofAccount,
      destination: this.#destinations.inFlight(host),
      accountThere,
      endpoint: startedMs.size,
    };
  }

  begin(posts: EndpointPosts, id: DeliveryId, nowMs: number): void {
    posts.startedMs.set(id, nowMs);
    this.#all++;
    if (posts.slow) this.#slow++;
    const ofAccount = this.#accounts.get(posts.account);
    if (ofAccount === undefined) this.#accounts.set(posts.account, new Set([posts]));
    else ofAccount.add(posts);
    this.#destinations.begin(posts.host);
  }

  /** False when the delivery was not in flight. */
  end(posts: EndpointPosts, id: DeliveryId, nowMs: number): boolean {
    const startedMs = posts.startedMs.get(id);
    if (startedMs === undefined) return false;
    posts.startedMs.delete(id);
    this.#all--;
    if (posts.slow) this.#slow--;
    if (posts.startedMs.size === 0) this.#forget(posts);
    this.#destinations.end(posts.host);
    this.#setSlow(posts, nowMs - startedMs > SLOW_MS);
    return true;
  }

  /** Checks whether the oldest post in flight has become slow. */
  review(posts: EndpointPosts, nowMs: number): void {
    const [oldestMs] = posts.startedMs.values();
    if (oldestMs !== undefined && nowMs - oldestMs > SLOW_MS) this.#setSlow(posts, true);
  }

  /** Notes that the host was connected to this address. */
  connected(host: string, address: string): void {
    this.#destinations.connected(host, address);
  }

  /** The limit that an endpoint has reached, with the account or destination that it is counted for. */
  nameOf(limit: Limit, { account, host }: EndpointPosts): string {
    if (limit === 'account') return `account ${account}`;
    return limit === 'destination' ? `destination ${this.#destinations.destinationOf(host)}` : limit;
  }

  #forget(posts: EndpointPosts): void {
    const ofAccount = this.#accounts.get(posts.account);
    ofAccount?.delete(posts);
    if (ofAccount?.size === 0) this.#accounts.delete(posts.account);
  }

  #setSlow(posts: EndpointPosts, slow: boolean): void {
    if (posts.slow === slow) return;
    posts.slow = slow;
    this.#slow += slow ? posts.startedMs.size : -posts.startedMs.size;
  }
}
