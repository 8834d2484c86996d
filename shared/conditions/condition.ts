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
 * overview, the metrics, the alerts of docs/monitoring and the notices follow from it.
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
