import { isDeepStrictEqual } from 'node:util';
import type { Collection, Db, Filter } from 'mongodb';
import type { AccountId } from '../platform/runtime/ids.ts';
import type { ConditionDocument } from './condition.ts';

/** How long an ended condition is kept. */
const KEPT_MS = 7 * 86_400_000;

/** Whose conditions: the installation's, or those of accounts. */
export type Scope = 'installation' | 'accounts';

const PRESENT = { endedAt: { $exists: false } } as const;

function conditionsOf(db: Db): Collection<ConditionDocument> {
  return db.collection('conditions');
}

function inScope(scope: Scope): Filter<ConditionDocument> {
  return { account: { $exists: scope === 'accounts' } };
}

/**
 * The conditions that hold now, of the installation and of all accounts, or of one account alone. The watch
 * (workers/maintenance/watch.ts) stores them; they are as old as its last look.
 */
export function readConditions(db: Db, account?: AccountId): Promise<readonly ConditionDocument[]> {
  return conditionsOf(db)
    .find({ ...PRESENT, ...(account !== undefined && { account }) })
    .toArray();
}

/** Those of the installation that have one of these names. */
export function readInstallationConditions(db: Db, names: readonly string[]): Promise<readonly ConditionDocument[]> {
  return conditionsOf(db)
    .find({ ...PRESENT, ...inScope('installation'), name: { $in: names } })
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
  const known = await conditions.find({ ...PRESENT, ...inScope(scope) }).toArray();
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
