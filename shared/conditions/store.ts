import { isDeepStrictEqual } from 'node:util';
import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../platform/runtime/ids.ts';
import type { ConditionDocument } from './condition.ts';

/** How long an ended condition is kept. */
const KEPT_MS = 7 * 86_400_000;

/** What holds now. null finds what is missing, along an index; `$exists: false` would look at every document. */
export const PRESENT = { endedAt: null as never };

/** Whose conditions: the installation's, or those of accounts. */
const SCOPES = { installation: { account: null as never }, accounts: { account: { $exists: true } } };
export type Scope = keyof typeof SCOPES;

export function conditionsOf(db: Db): Collection<ConditionDocument> {
  return db.collection('conditions');
}

/** The conditions of an account that hold now. The watch (workers/maintenance/watch.ts) stores them; they are as old as its last look. */
export function readConditions(db: Db, account: AccountId): Promise<readonly ConditionDocument[]> {
  return conditionsOf(db)
    .find({ ...PRESENT, account })
    .toArray();
}

/** Those that are named `carrier.…`. Ids begin with the name. */
export function readCarrierConditions(db: Db): Promise<readonly ConditionDocument[]> {
  return conditionsOf(db)
    .find({ ...PRESENT, _id: { $gte: 'carrier.', $lt: 'carrier/' } })
    .toArray();
}

/** Those that concern operators, the most urgent first, then the oldest. */
export function readOperatorConditions(db: Db, limit: number): Promise<readonly ConditionDocument[]> {
  return conditionsOf(db)
    .find({ ...PRESENT, 'concerns.operator.severity': { $exists: true } })
    .sort({ 'concerns.operator.severity': -1, since: 1 }) // `urgent` is behind `look` in the alphabet
    .limit(limit)
    .toArray();
}

/** Those that ended lately, the newest first. */
export function readEndedConditions(db: Db, since: Date, limit: number): Promise<ConditionDocument[]> {
  return conditionsOf(db)
    .find({ endedAt: { $gte: since } })
    .sort({ endedAt: -1 })
    .limit(limit)
    .toArray();
}

/**
 * Stores what was found: all of a scope that hold now. What held already keeps its beginning; what holds no more is ended, unless
 * `mayEnd` is false, as in the first minutes of a watch that has seen little yet. Only the holder of the maintenance lease calls
 * it. Doing it twice writes the same. Returns what is told as present afterwards.
 */
export async function storeConditions(
  db: Db,
  scope: Scope,
  found: readonly ConditionDocument[],
  now: Date,
  mayEnd = true,
): Promise<readonly ConditionDocument[]> {
  const conditions = conditionsOf(db);
  const known = await conditions.find({ ...PRESENT, ...SCOPES[scope] }).toArray();
  const before = new Map(known.map((one) => [one._id, one]));
  const present = found.map((one) => {
    const was = before.get(one._id);
    return { ...one, since: was?.since ?? one.since, ...(was?.told && { told: was.told }) };
  });
  const ids = new Set(found.map(({ _id }) => _id));
  const gone = known.filter(({ _id }) => !ids.has(_id));
  const changed = present.filter((one) => {
    const was = before.get(one._id);
    return was === undefined || was.words !== one.words || !isDeepStrictEqual(was.concerns, one.concerns);
  });
  const writes = [
    ...changed.map((one) => ({ replaceOne: { filter: { _id: one._id }, replacement: one, upsert: true } })),
    ...(mayEnd ? gone : []).map(({ _id }) => ({
      updateOne: {
        filter: { _id, ...PRESENT },
        update: { $set: { endedAt: now, expiresAt: new Date(now.getTime() + KEPT_MS) } },
      },
    })),
  ];
  if (writes.length > 0) await conditions.bulkWrite(writes, { ordered: false });
  return mayEnd ? present : [...present, ...gone];
}
