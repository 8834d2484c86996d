import type { Db } from 'mongodb';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, ChangeId } from '../accounts/account.ts';
import {
  entriesIn,
  type LedgerEntryDocument,
  ledgerCollection,
  ledgerEntryId,
  ledgerEntryOf,
} from '../ledger/store.ts';

/** `opening` and all movements add up to `closing`, exactly. Debits are negative. */
export interface Movements {
  readonly opening: number;
  readonly topUps: number;
  readonly corrections: number;
  readonly usage: number;
  /** Undefined: too many to be read; then `usage` includes them. */
  readonly refunds: number | undefined;
  readonly closing: number;
}

export interface LedgerPeriods {
  readonly whole: Movements;
  /** Between each two of the bounds. */
  readonly parts: readonly Movements[];
  /** Oldest first. */
  readonly credits: readonly LedgerEntryDocument[];
}

const REFUNDS_MAX = 50_000;
const SLICE = 1_000;
/** Clocks of gateways differ by less. An entry belongs to a period by its number: this only finds it. */
const SKEW_MS = 3_600_000;
/** Documents searched for an entry that is stored together with others, some of which are stored alone too. */
const NEAR = 500;

/**
 * Movements between each two of `bounds`, which rise. Debits are not read: an account has millions in a month. The
 * balance at each bound is that of the last entry before it, found by binary search; top-ups, corrections and refunds
 * are read; the rest is usage. Exact at any moment: the account is read first, and its pending changes count as
 * entered.
 */
export async function readPeriods(
  db: Db,
  account: AccountId,
  bounds: readonly Date[],
  refundsMax = REFUNDS_MAX,
): Promise<LedgerPeriods> {
  const { chain, pending, newest } = await chainOf(db, account);
  const places = await chain.placesOf(bounds, 0, newest);
  const balances = await Promise.all(places.map((seq) => chain.balanceAfter(seq)));
  const [first = 0, last = 0] = [places[0], places.at(-1)];
  const isWithin = ({ seq }: LedgerEntryDocument): boolean => seq > first && seq <= last;

  const given = await ledgerCollection(db)
    .find({ account, change: { $gte: 'crd_', $lt: 'crd`' } } as object)
    .toArray();
  const credits = distinct([...given, ...pending.filter(({ change }) => change.startsWith('crd_'))]).filter(isWithin);
  const refunds = await readRefunds(db, account, bounds, refundsMax);
  const back =
    refunds && distinct([...refunds, ...pending.filter(({ reason }) => reason === 'refund')]).filter(isWithin);

  const between = (from: number, to: number): Movements => {
    const [after = 0, upTo = 0, opening = 0, closing = 0] = [places[from], places[to], balances[from], balances[to]];
    const sum = (entries: readonly LedgerEntryDocument[], reason: string): number =>
      entries
        .filter((entry) => entry.reason === reason && entry.seq > after && entry.seq <= upTo)
        .reduce((all, { amount }) => all + amount, 0);
    const [topUps, corrections] = [sum(credits, 'top_up'), sum(credits, 'correction')];
    const refunded = back && sum(back, 'refund');
    const usage = closing - opening - topUps - corrections - (refunded ?? 0);
    return { opening, topUps, corrections, usage, refunds: refunded, closing };
  };
  return {
    whole: between(0, bounds.length - 1),
    parts: bounds.slice(1).map((_, i) => between(i, i + 1)),
    credits,
  };
}

export async function hasMoved(db: Db, account: AccountId, from: Date, to: Date): Promise<boolean> {
  const { chain, newest } = await chainOf(db, account);
  const [before, last] = await chain.placesOf([from, to], 0, newest);
  return before !== last;
}

async function chainOf(db: Db, account: AccountId) {
  const owner = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { pending: 1, seq: 1 } });
  const pending = Object.entries(owner?.pending ?? {}).map(
    ([change, one]) => ledgerEntryOf(account, change as ChangeId, one), // its keys are change ids (account.ts)
  );
  return { chain: new Chain(db, account, pending), pending, newest: owner?.seq ?? 0 };
}

function distinct(entries: readonly LedgerEntryDocument[]): LedgerEntryDocument[] {
  return [...new Map(entries.map((entry) => [entry.seq, entry])).values()].sort((a, b) => a.seq - b.seq);
}

async function readRefunds(db: Db, account: AccountId, bounds: readonly Date[], most: number) {
  const [from = 0, to = 0] = [bounds[0]?.getTime(), bounds.at(-1)?.getTime()];
  const at = { $gte: new Date(from - SKEW_MS), $lt: new Date(to + SKEW_MS) };
  const found: LedgerEntryDocument[] = [];
  const cursor = ledgerCollection(db)
    .find({ account, reason: 'refund', at })
    .project<LedgerEntryDocument>({ seq: 1, amount: 1, reason: 1 })
    .sort({ at: 1 })
    .limit(most + 1)
    .batchSize(SLICE);
  for await (const refund of cursor) found.push(refund);
  return found.length > most ? undefined : found;
}

/** By number, entered or pending. */
class Chain {
  readonly #db: Db;
  readonly #account: AccountId;
  readonly #known: Map<number, LedgerEntryDocument | undefined>;

  constructor(db: Db, account: AccountId, pending: readonly LedgerEntryDocument[]) {
    this.#db = db;
    this.#account = account;
    this.#known = new Map(pending.map((entry) => [entry.seq, entry]));
  }

  /** The number of the last entry before each of these times, between two numbers. Numbers and times rise together. */
  async placesOf(times: readonly Date[], low: number, high: number): Promise<number[]> {
    const middle = times.length >> 1;
    const time = times[middle];
    if (time === undefined) return [];
    const place = await this.#lastBefore(time, low, high);
    const [before, after] = await Promise.all([
      this.placesOf(times.slice(0, middle), low, place),
      this.placesOf(times.slice(middle + 1), place, high),
    ]);
    return [...before, place, ...after];
  }

  async balanceAfter(seq: number): Promise<number> {
    return (await this.#entry(seq))?.balanceAfter ?? 0;
  }

  async #lastBefore(time: Date, from: number, to: number): Promise<number> {
    let [low, high] = [from, to];
    let middle = high; // the newest month ends there
    while (low < high) {
      const entry = await this.#entry(middle);
      if (entry === undefined || entry.at < time) low = middle;
      else high = middle - 1;
      middle = Math.ceil((low + high) / 2);
    }
    return low;
  }

  async #entry(seq: number): Promise<LedgerEntryDocument | undefined> {
    if (seq === 0 || this.#known.has(seq)) return this.#known.get(seq);
    for (const documents of [1, NEAR]) {
      const stored = await ledgerCollection(this.#db)
        .find({ _id: { $gte: ledgerEntryId(this.#account, 1), $lte: ledgerEntryId(this.#account, seq) } })
        .sort({ _id: -1 })
        .limit(documents)
        .toArray();
      const entry = stored.flatMap(entriesIn).find((one) => one.seq === seq);
      if (entry !== undefined || documents === NEAR) this.#known.set(seq, entry);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }
}
