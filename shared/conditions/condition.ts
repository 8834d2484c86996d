import { isDeepStrictEqual } from 'node:util';
import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../platform/runtime/ids.ts';

/** `urgent`: messages do not leave, or callers get errors; somebody has to act now. `look`: somebody has to look today. */
export const SEVERITIES = ['urgent', 'look'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What a condition is about. `id` of its subject is the carrier, the route, the account, the webhook, the app, the path, … */
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
 * Something that may be wrong. It is declared once, in catalogue.ts; the operations page, `GET /v2/admin/status`, the customer's
 * overview, `/readyz?detail`, the metrics, the alerts of docs/monitoring and the notices follow from it.
 */
export interface Condition<Seen> {
  /** In a few words, without the subject: the alert's summary. */
  readonly title: string;
  /** How it is found, with its limits. */
  readonly how: string;
  /** Who is told of it, how urgent it is for them, and what they should do, in plain words. */
  readonly concerns: Concerns;
  /** Where it holds now. Pure. */
  find(seen: Seen): readonly Finding[];
}

/** The operators, the account itself, or both. */
export type Concerns = { readonly [Who in Audience]?: { readonly severity: Severity; readonly todo: string } };
export type Audience = 'operator' | 'account';

export interface Finding {
  readonly subject: Subject;
  /** What is the case, in a sentence without current times and ages. */
  readonly words: string;
  /** Since when, where the facts say so. Absent: since it was first found. */
  readonly since?: Date | undefined;
  /** For operators. Absent: the declared one. */
  readonly severity?: Severity;
}

/** A condition that holds, or that ended lately. */
export interface ConditionDocument {
  /** `carrier.refusing:airtel`. The same condition of the same subject has the same id whenever it comes. */
  readonly _id: string;
  readonly name: string;
  readonly subject: Subject;
  /** Whose it is. Absent: the installation's. */
  readonly account?: AccountId;
  readonly words: string;
  readonly concerns: Concerns;
  /** When it began this time. With `_id` it names one occurrence: what is derived from both is told once. */
  readonly since: Date;
  /** When webhooks and users were told of it, in which words. Absent: not yet, or they are not told of such. */
  readonly told?: { readonly at: Date; readonly words: string };
  /** Absent: it holds now. */
  readonly endedAt?: Date;
  /** An ended one is kept for some days. */
  readonly expiresAt?: Date;
}

/** A condition as somebody is told of it. */
export type ToldCondition = ConditionDocument & { readonly severity: Severity; readonly todo: string };

/** None when it does not concern them. */
export function toldTo(who: Audience, condition: ConditionDocument): readonly ToldCondition[] {
  const concern = condition.concerns[who];
  return concern === undefined ? [] : [{ ...condition, ...concern }];
}

/** What concerns somebody, the most urgent first, then the oldest. */
export function concerning(who: Audience, conditions: readonly ConditionDocument[]): readonly ToldCondition[] {
  return conditions
    .flatMap((one) => toldTo(who, one))
    .sort(
      (a, b) =>
        SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.since.getTime() - b.since.getTime(),
    );
}

/** What the entries of a table find, as documents. `since` of what does not know its beginning is `now`. */
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
