import { isDeepStrictEqual } from 'node:util';
import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../platform/runtime/ids.ts';

/** `urgent`: messages do not leave, or callers get errors; act now. `look`: somebody has to look today. */
export const SEVERITIES = ['urgent', 'look'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A subject's `id` is the carrier, the route, the account, the webhook, the app, the path, … */
export const SUBJECTS = [
  'account',
  'carrier',
  'machine',
  'prefix',
  'process',
  'provider',
  'queue',
  'route',
  'webhook',
] as const;

export interface Subject {
  readonly kind: (typeof SUBJECTS)[number];
  readonly id: string;
}

/**
 * Something that may be wrong, declared once, in catalogue.ts. The operations page, `GET /v2/admin/status`, the
 * customer's overview, `/readyz?detail`, the metrics, the alerts of docs/monitoring and the notices follow from it.
 */
export interface Condition<Seen> {
  /** A few words without the subject: the alert's summary. */
  readonly title: string;
  readonly how: string;
  /** Who is told, how urgent it is for them, and what they should do. */
  readonly concerns: Concerns;
  find(seen: Seen): readonly Finding[];
}

export type Concerns = { readonly [Who in Audience]?: { readonly severity: Severity; readonly todo: string } };
export type Audience = 'operator' | 'account';

export interface Finding {
  readonly subject: Subject;
  /** A sentence without current times and ages. */
  readonly words: string;
  /** Absent: since it was first found. */
  readonly since?: Date | undefined;
  /** For operators. Absent: the declared one. */
  readonly severity?: Severity;
}

export interface ConditionDocument {
  /** `carrier.refusing:airtel`: the same whenever the condition of this subject comes again. */
  readonly _id: string;
  readonly name: string;
  readonly subject: Subject;
  /** Absent: it is the installation's. */
  readonly account?: AccountId;
  readonly words: string;
  readonly concerns: Concerns;
  /** When it began this time. With `_id` it names one occurrence, which is told once. */
  readonly since: Date;
  /** When webhooks and users were told, in which words. Absent: not yet, or they are not told of such. */
  readonly told?: { readonly at: Date; readonly words: string };
  /** Absent: it holds now. */
  readonly endedAt?: Date;
  readonly expiresAt?: Date;
}

export type ToldCondition = ConditionDocument & { readonly severity: Severity; readonly todo: string };

/** None when it does not concern them. */
export function toldTo(who: Audience, condition: ConditionDocument): readonly ToldCondition[] {
  const concern = condition.concerns[who];
  return concern === undefined ? [] : [{ ...condition, ...concern }];
}

/** The most urgent first, then the oldest. */
export function concerning(who: Audience, conditions: readonly ConditionDocument[]): readonly ToldCondition[] {
  return conditions
    .flatMap((one) => toldTo(who, one))
    .sort(
      (a, b) =>
        SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.since.getTime() - b.since.getTime(),
    );
}

/** All findings of the table. `now` stands for an unknown `since`. */
export function findAll<Seen>(
  table: Readonly<Record<string, Condition<Seen>>>,
  seen: Seen,
  now: Date,
  account?: AccountId,
): readonly ConditionDocument[] {
  return Object.entries(table).flatMap(([name, { concerns, find }]) =>
    find(seen).map(({ subject, words, since = now, severity }) => ({
      _id: `${name}:${subject.id}`,
      ...{ name, subject, words, since },
      concerns:
        severity === undefined || concerns.operator === undefined
          ? concerns
          : { ...concerns, operator: { ...concerns.operator, severity } },
      ...(account !== undefined && { account }),
    })),
  );
}

const KEPT_MS = 7 * 86_400_000;

/** Null finds missing fields along an index; `$exists: false` would look at every document. */
export const PRESENT = { endedAt: null as never };

const SCOPES = { installation: { account: null as never }, accounts: { account: { $exists: true } } };
export type Scope = keyof typeof SCOPES;

export function conditionsOf(db: Db): Collection<ConditionDocument> {
  return db.collection('conditions');
}

/** Those that hold now, as old as the watch's last look (workers/maintenance/watch.ts). */
export function readConditions(db: Db, account: AccountId): Promise<readonly ConditionDocument[]> {
  return conditionsOf(db)
    .find({ ...PRESENT, account })
    .toArray();
}

/** Those named `carrier.…`: ids begin with the name. */
export function readCarrierConditions(db: Db): Promise<readonly ConditionDocument[]> {
  return conditionsOf(db)
    .find({ ...PRESENT, _id: { $gte: 'carrier.', $lt: 'carrier/' } })
    .toArray();
}

/** The most urgent first, then the oldest. */
export function readOperatorConditions(db: Db, limit: number): Promise<readonly ConditionDocument[]> {
  return conditionsOf(db)
    .find({ ...PRESENT, 'concerns.operator.severity': { $exists: true } })
    .sort({ 'concerns.operator.severity': -1, since: 1 }) // `urgent` sorts after `look`
    .limit(limit)
    .toArray();
}

/** Newest first. */
export function readEndedConditions(db: Db, since: Date, limit: number): Promise<ConditionDocument[]> {
  return conditionsOf(db)
    .find({ endedAt: { $gte: since } })
    .sort({ endedAt: -1 })
    .limit(limit)
    .toArray();
}

/**
 * Stores all conditions of a scope that hold now. Those that held already keep their beginning; others are ended,
 * unless `mayEnd` is false, as in the first minutes of a watch. Only the holder of the maintenance lease calls it. May
 * be repeated. Returns the conditions that then hold.
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
