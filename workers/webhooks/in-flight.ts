import type { AccountId } from '../../shared/runtime/ids.ts';
import type { DeliveryId } from '../../shared/webhooks/delivery.ts';
import { Destinations } from './destinations.ts';
import { type Full, type InFlight, SLOW_MS } from './quota.ts';

/** What is counted of one endpoint: its posts that have begun and have no result yet. */
export interface Sender {
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
  readonly #accounts = new Map<AccountId, Set<Sender>>();
  readonly #destinations = new Destinations();
  #all = 0;
  #slow = 0;

  get all(): number {
    return this.#all;
  }

  of({ account, host, startedMs }: Sender): InFlight {
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

  begin(sender: Sender, id: DeliveryId, nowMs: number): void {
    sender.startedMs.set(id, nowMs);
    this.#all++;
    if (sender.slow) this.#slow++;
    const ofAccount = this.#accounts.get(sender.account);
    if (ofAccount === undefined) this.#accounts.set(sender.account, new Set([sender]));
    else ofAccount.add(sender);
    this.#destinations.begin(sender.host);
  }

  /** False when the delivery was not in flight. */
  end(sender: Sender, id: DeliveryId, nowMs: number): boolean {
    const startedMs = sender.startedMs.get(id);
    if (startedMs === undefined) return false;
    sender.startedMs.delete(id);
    this.#all--;
    if (sender.slow) this.#slow--;
    if (sender.startedMs.size === 0) this.#forget(sender);
    this.#destinations.end(sender.host);
    this.#setSlow(sender, nowMs - startedMs > SLOW_MS);
    return true;
  }

  /** Checks whether the oldest post in flight has become slow. */
  review(sender: Sender, nowMs: number): void {
    const [oldestMs] = sender.startedMs.values();
    if (oldestMs !== undefined && nowMs - oldestMs > SLOW_MS) this.#setSlow(sender, true);
  }

  /** Notes that the host was connected to this address. */
  connected(host: string, address: string): void {
    this.#destinations.connected(host, address);
  }

  /** The name of the limit that a sender has reached. */
  nameOf(full: Full, { account, host }: Sender): string {
    if (full === 'account') return `account ${account}`;
    return full === 'destination' ? `destination ${this.#destinations.destinationOf(host)}` : full;
  }

  #forget(sender: Sender): void {
    const ofAccount = this.#accounts.get(sender.account);
    ofAccount?.delete(sender);
    if (ofAccount?.size === 0) this.#accounts.delete(sender.account);
  }

  #setSlow(sender: Sender, slow: boolean): void {
    if (sender.slow === slow) return;
    sender.slow = slow;
    this.#slow += slow ? sender.startedMs.size : -sender.startedMs.size;
  }
}
