import type { Collection, Db } from 'mongodb';
import type { Clock } from '../platform/runtime/clock.ts';
import type { AccountId } from '../platform/runtime/ids.ts';

const GROUP_MAX = 1_000;

/** Finds all names of each person (money/conversations/person.ts), by the name asked for. */
type PersonsOf = (customers: readonly string[]) => Promise<ReadonlyMap<string, { readonly names: readonly string[] }>>;

/** Under any of their names; never cached. `personsOf` is asked only about those not listed as given. */
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

/** If one of a person's names is on the list, all are from now on. May be repeated. */
export async function inheritOptIns(db: Db, clock: Clock, account: AccountId, names: readonly string[]): Promise<void> {
  const optedIn = await listedOf(db, account, names);
  if (optedIn.size > 0 && optedIn.size < names.length) await addOptIns(db, clock, account, names);
}

/** Removes all names of the person. False when none was on the list. */
export async function removeOptIn(db: Db, account: AccountId, names: readonly string[]): Promise<boolean> {
  const { deletedCount } = await optIns(db).deleteMany({ _id: { $in: names.map((name) => optInKey(account, name)) } });
  return deletedCount > 0;
}

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

/** A customer who agreed to an account's template messages. Checked only for numbers with `optIn: 'list'`. */
interface OptInDocument {
  readonly _id: OptInKey;
  readonly account: AccountId;
  readonly customer: string;
  readonly at: Date;
}

type OptInKey = `${AccountId}:${string}`;

function optInKey(account: AccountId, customer: string): OptInKey {
  return `${account}:${customer}`;
}
