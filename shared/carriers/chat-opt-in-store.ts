import type { Collection, Db } from 'mongodb';
import type { Clock } from '../platform/runtime/clock.ts';
import type { AccountId } from '../platform/runtime/ids.ts';

/** Most customers per write. */
const GROUP_MAX = 1_000;

/** The names of persons (money/conversations/person.ts), by the one asked for. */
type PersonsOf = (customers: readonly string[]) => Promise<ReadonlyMap<string, { readonly names: readonly string[] }>>;

/**
 * Which of these customers are on the list, under whichever name. Read from the store, never cached. `personsOf` is asked for those
 * alone who are not on it under the name given.
 */
export async function optedInOf(
  db: Db,
  account: AccountId,
  customers: readonly string[],
  personsOf: PersonsOf,
): Promise<ReadonlySet<string>> {
  const listed = await listedOf(db, account, customers);
  const others = customers.filter((customer) => !listed.has(customer));
  if (others.length === 0) return listed;
  const persons = await personsOf(others);
  const namesOf = (customer: string) => persons.get(customer)?.names ?? [];
  const more = await listedOf(db, account, others.flatMap(namesOf));
  return new Set([...listed, ...others.filter((customer) => namesOf(customer).some((name) => more.has(name)))]);
}

async function listedOf(db: Db, account: AccountId, customers: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = customers.map((customer) => optInKey(account, customer));
  const found = await optIns(db)
    .find({ _id: { $in: ids } }, { projection: { customer: 1 } })
    .toArray();
  return new Set(found.map(({ customer }) => customer));
}

/** Returns how many are new. Customers on the list stay as they are; may be repeated. */
export async function addOptIns(
  db: Db,
  clock: Clock,
  account: AccountId,
  customers: readonly string[],
): Promise<number> {
  let added = 0;
  for (let start = 0; start < customers.length; start += GROUP_MAX) {
    const { upsertedCount } = await optIns(db).bulkWrite(
      customers.slice(start, start + GROUP_MAX).map((customer) => ({
        updateOne: {
          filter: { _id: optInKey(account, customer) },
          update: { $setOnInsert: { account, customer, at: clock.now() } },
          upsert: true,
        },
      })),
      { ordered: false },
    );
    added += upsertedCount;
  }
  return added;
}

/** If one of these names of a person is on the list, all are from now on. May be repeated. */
export async function inheritOptIns(db: Db, clock: Clock, account: AccountId, names: readonly string[]): Promise<void> {
  const optedIn = await listedOf(db, account, names);
  if (optedIn.size > 0 && optedIn.size < names.length) await addOptIns(db, clock, account, names);
}

/** From now on the person with these names gets no templates. False when none of them was on the list. */
export async function removeOptIn(db: Db, account: AccountId, names: readonly string[]): Promise<boolean> {
  const { deletedCount } = await optIns(db).deleteMany({ _id: { $in: names.map((name) => optInKey(account, name)) } });
  return deletedCount > 0;
}

/** Up to `limit` customers of an account, sorted by number, after `after`. */
export async function listOptIns(
  db: Db,
  account: AccountId,
  limit: number,
  after = '',
): Promise<readonly OptInDocument[]> {
  // A range of `_id`, so no further index is needed. The semicolon is the character after the colon.
  const ids: { readonly $gt: OptInKey; readonly $lt: OptInKey } = {
    $gt: optInKey(account, after),
    $lt: `${account};` as OptInKey, // no key itself: the first text behind all keys of the account
  };
  return optIns(db).find({ _id: ids }).sort({ _id: 1 }).limit(limit).toArray();
}

function optIns(db: Db): Collection<OptInDocument> {
  return db.collection('chat_opt_ins');
}

/**
 * A customer who agreed to receive an account's template messages ("What the service does", 7). Checked only for accounts whose
 * provider has `optIn: 'list'`.
 */
interface OptInDocument {
  readonly _id: OptInKey;
  readonly account: AccountId;
  /** Digits. */
  readonly customer: string;
  /** When we were first told. */
  readonly at: Date;
}

/** One per account and customer. */
type OptInKey = `${AccountId}:${string}`;

function optInKey(account: AccountId, customer: string): OptInKey {
  return `${account}:${customer}`;
}
