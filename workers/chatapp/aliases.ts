import type { Db } from 'mongodb';
import { linkCustomers, type Pair } from '../../shared/conversations/names.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { ToldMessage } from './match-statuses.ts';

/** The most pairs that are remembered as linked, and for how long. Then all are forgotten, and linked again. */
const REMEMBERED_MAX = 10_000;
const REMEMBERED_MS = 3_600_000;

/** Learns by which other numbers the provider knows customers. Their own messages come from these. */
export class Aliases {
  readonly #db: Db;
  readonly #clock: Clock;
  /** Pairs that are linked in the store: the answer and each of three statuses name them. */
  readonly #linked = new Set<string>();
  #sinceMs = 0;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Links numbers that differ. May be repeated. */
  async learn(pairs: readonly Pair[]): Promise<void> {
    this.#forget(pairs.length);
    const fresh = new Map<string, Pair>();
    for (const pair of pairs) {
      const key = `${pair.account} ${pair.customer} ${pair.alias}`;
      if (pair.alias !== pair.customer && !this.#linked.has(key)) fresh.set(key, pair);
    }
    if (fresh.size === 0) return;
    await linkCustomers(this.#db, [...fresh.values()], this.#clock.now());
    for (const key of fresh.keys()) this.#linked.add(key);
  }

  #forget(room: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#linked.size + room <= REMEMBERED_MAX && nowMs - this.#sinceMs < REMEMBERED_MS) return;
    this.#linked.clear();
    this.#sinceMs = nowMs;
  }
}

/** A status names the customer as the provider knows it (WhatsApp Cloud API, Webhooks: `recipient_id`). Pure. */
export function toldPairs(told: readonly ToldMessage[]): readonly Pair[] {
  return told.flatMap(({ message: { account, to }, statuses }) =>
    statuses.flatMap(({ recipient }) => (recipient === undefined ? [] : [{ account, customer: to, alias: recipient }])),
  );
}
