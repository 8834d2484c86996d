import type { Collection, Db } from 'mongodb';
import { countryOf } from '../../../shared/carriers/routing/country.ts';
import { HOUR_MS, type HourName, hourName } from '../../../shared/messages/statistics.ts';
import { prefixOf } from '../../../shared/messages/traffic/hold.ts';
import { DUPLICATE_KEY, storeTrouble } from '../../../shared/platform/mongo/errors.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import type { Caller } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import type { Problem, Refused } from '../../http/idempotency/action.ts';
import { PROBLEMS, type ProblemSlug } from '../../http/problem.ts';

/** Checked when a request is accepted (a schedule: booked), before any debit. Accounts without limits pay nothing. */

type Account = Caller['account'];
type LimitSlug = 'country_not_allowed' | 'traffic_held' | 'recipient_limit_reached';

/** Where a recipient stands in the request: `to`, `to[3]`, `recipients[3].to`. */
export type PlaceOf = (index: number) => string;

export const RECIPIENT_LIMITS = [
  'country_not_allowed',
  'traffic_held',
  'recipient_limit_reached',
] as const satisfies readonly ProblemSlug[];

/** Refuses recipients in countries that the account may not send to, or with a held prefix. */
export async function beyondLimits(
  { countries, brake, heldPrefixes = [] }: Account,
  recipients: readonly string[],
  placeOf: PlaceOf,
): Promise<Problem | undefined> {
  if (countries !== undefined) {
    const of = (to: string) => {
      const country = countryOf(to);
      if (country !== undefined && countries.includes(country)) return undefined;
      return `${country ?? 'Its country, which is not known,'} is none of the countries that the account may send to: ${countries.join(', ')}.`;
    };
    const problem = await refusing('country_not_allowed', recipients, placeOf, of);
    if (problem !== undefined) return problem;
  }
  if (brake !== 'hold' || heldPrefixes.length === 0) return undefined;
  const held = new Set(heldPrefixes);
  const of = (to: string) => {
    const prefix = prefixOf(to);
    return held.has(prefix) ? `Messages to numbers that begin with ${prefix} are held.` : undefined;
  };
  return refusing('traffic_held', recipients, placeOf, of);
}

async function refusing(
  slug: LimitSlug,
  recipients: readonly string[],
  placeOf: PlaceOf,
  why: (to: string) => string | undefined,
): Promise<Problem | undefined> {
  const problems = new FieldProblems();
  await inSlices(recipients, (to, index) => {
    const detail = why(to);
    if (detail !== undefined) problems.add(placeOf(index), slug, detail);
  });
  if (problems.count === 0) return undefined;
  const [, { errors = [], extra = {} }] = invalidRequest(problems);
  const detail = `${problems.count === 1 ? errors[0]?.detail : `This concerns ${problems.count} of ${recipients.length} recipients.`} ${PROBLEMS[slug].advice}`;
  return [
    slug,
    { detail, errors, extra: { ...extra, limit: slug.replace(/_(?:not_allowed|held|limit_reached)$/, '') } },
  ];
}

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'log'>;

/** For a dry run: whether these could be sent to in this hour. Counts nothing. */
export async function tooManyNow(
  { db, clock }: Deps,
  account: Account,
  recipients: readonly string[],
  placeOf: PlaceOf,
): Promise<Problem | undefined> {
  const { recipientPerHour: most } = account;
  if (most === undefined) return undefined;
  return overProblem(await recipientsOver(db, account._id, recipients, most, clock.now()), most, recipients, placeOf);
}

interface Paid {
  readonly kind: string;
  readonly mayStillPay?: true;
}

/** Does what must precede a payment and undoes it if nothing was paid; or refuses. */
export type AroundPayment = <Outcome extends Paid>(pay: () => Promise<Outcome>) => Promise<Outcome | Refused>;

/** Whether something was sent or may still be. */
export function mayBeSent({ kind, mayStillPay }: Paid): boolean {
  return kind === 'accepted' || kind === 'outcome_unknown' || mayStillPay === true;
}

/** Counts recipients (`countedWithin`) if the account has a limit. */
export async function withinRecipientLimit<Outcome extends Paid>(
  deps: Deps,
  account: Account,
  recipients: readonly string[],
  placeOf: PlaceOf,
  pay: () => Promise<Outcome>,
): Promise<Outcome | Refused> {
  const { recipientPerHour: most } = account;
  if (most === undefined) return pay();
  const problemOf = (over: ReadonlySet<string>) => overProblem(over, most, recipients, placeOf);
  return countedWithin(deps, account, { names: recipients, most, problemOf }, pay);
}

/** How often each name may be sent to in a clock hour. */
export interface HourlyLimit {
  readonly names: readonly string[];
  readonly most: number;
  problemOf(over: ReadonlySet<string>): Promise<Problem | undefined> | Problem;
}

/** Counts the names, then does `pay`. If one is at its limit, nothing is done. Only accepted ones stay counted. */
export async function countedWithin<Outcome extends Paid>(
  deps: Deps,
  account: Account,
  { names, most, problemOf }: HourlyLimit,
  pay: () => Promise<Outcome>,
): Promise<Outcome | Refused> {
  const count = await countRecipients(deps.db, account._id, names, most, deps.clock.now());
  if ('over' in count) {
    const problem = await problemOf(count.over);
    if (problem !== undefined) return { kind: 'refused', problem };
  }
  const counted = 'over' in count ? undefined : count;
  try {
    const outcome = await pay();
    if (counted !== undefined && !mayBeSent(outcome)) await giveBack(deps, account, counted);
    return outcome;
  } catch (error) {
    if (counted !== undefined) await giveBack(deps, account, counted);
    throw error;
  }
}

/** If this fails, the names stay counted for this hour. */
async function giveBack({ db, log }: Deps, account: Account, count: RecipientCount): Promise<void> {
  await giveBackRecipients(db, account._id, count).catch((error: unknown) =>
    log.warn('recipients_not_given_back', { account: account._id, ...errorFields(error) }),
  );
}

function overProblem(
  over: ReadonlySet<string>,
  most: number,
  recipients: readonly string[],
  placeOf: PlaceOf,
): Promise<Problem | undefined> {
  const detail = `This recipient may get ${most === 1 ? '1 message' : `${most} messages`} from the account in a clock hour.`;
  return refusing('recipient_limit_reached', recipients, placeOf, (to) => (over.has(to) ? detail : undefined));
}

/**
 * How many messages a recipient got in a clock hour, for accounts that limit it; removed after the hour. Counted before
 * the debit by an update that stops at the limit, so it is exact over all gateways. A crash between count and debit
 * leaves one too many, never one too few.
 */
interface RecipientHourDocument {
  readonly _id: `${AccountId}:${string}:${HourName}`;
  readonly n: number;
  readonly expiresAt: Date;
}

function recipientHourCollection(db: Db): Collection<RecipientHourDocument> {
  return db.collection('recipient_hours');
}

const SLICE = 1_000;

/** What was counted, to be given back if nothing was sent. */
interface RecipientCount {
  readonly hour: Date;
  readonly wanted: ReadonlyMap<string, number>;
}

/** Counts each of `recipients`, also repeated ones. If some exceed `most`, returns them and counts nothing. */
async function countRecipients(
  db: Db,
  account: AccountId,
  recipients: readonly string[],
  most: number,
  now: Date,
): Promise<RecipientCount | { readonly over: ReadonlySet<string> }> {
  const wanted = [...timesOf(recipients)];
  const over = new Set(wanted.filter(([, times]) => times > most).map(([to]) => to));
  const counted = new Map<string, number>();
  for (let start = 0; start < wanted.length && over.size === 0; start += SLICE) {
    const slice = wanted.slice(start, start + SLICE);
    const refused = await countSlice(db, account, slice, most, now);
    for (const [to, times] of slice) if (!refused.has(to)) counted.set(to, times);
    for (const to of refused) over.add(to);
  }
  const count = { hour: now, wanted: counted };
  if (over.size === 0) return count;
  await giveBackRecipients(db, account, count);
  return { over };
}

async function countSlice(
  db: Db,
  account: AccountId,
  slice: readonly (readonly [to: string, times: number])[],
  most: number,
  now: Date,
): Promise<ReadonlySet<string>> {
  const collection = recipientHourCollection(db);
  const expiresAt = new Date(now.getTime() + 2 * HOUR_MS);
  const updates = slice.map(([to, times]) => ({
    filter: { _id: keyOf(account, to, now), n: { $lte: most - times } },
    update: { $inc: { n: times }, $setOnInsert: { expiresAt } },
  }));
  const { writeErrors = [] } = await db.command({
    update: 'recipient_hours',
    ordered: false,
    updates: updates.map(({ filter, update }) => ({ q: filter, u: update, upsert: true })),
    writeConcern: { w: 'majority', j: true },
  });
  const refused = new Set<string>();
  for (const { index, code, errmsg } of writeErrors) {
    const [one, again] = [slice[index], updates[index]];
    if (code !== DUPLICATE_KEY || one === undefined || again === undefined) throw storeTrouble(errmsg);
    // The document exists: it is at its limit, or another gateway inserted it at the same moment.
    const counted = refused.size === 0 && (await collection.updateOne(again.filter, again.update)).matchedCount === 1;
    if (!counted) refused.add(one[0]);
  }
  return refused;
}

/** Recipients whose messages would exceed the limit now. Counts nothing. */
export async function recipientsOver(
  db: Db,
  account: AccountId,
  recipients: readonly string[],
  most: number,
  now: Date,
): Promise<ReadonlySet<string>> {
  const wanted = [...timesOf(recipients)];
  const over = new Set(wanted.filter(([, times]) => times > most).map(([to]) => to));
  for (let start = 0; start < wanted.length; start += SLICE) {
    const keys = new Map(
      wanted.slice(start, start + SLICE).map(([to, times]) => [keyOf(account, to, now), { to, times }]),
    );
    const found = await recipientHourCollection(db)
      .find({ _id: { $in: [...keys.keys()] } })
      .batchSize(SLICE + 1)
      .toArray();
    for (const { _id, n } of found) {
      const key = keys.get(_id);
      if (key !== undefined && n + key.times > most) over.add(key.to);
    }
  }
  return over;
}

async function giveBackRecipients(db: Db, account: AccountId, { hour, wanted }: RecipientCount): Promise<void> {
  const updates = [...wanted].map(([to, times]) => ({
    updateOne: { filter: { _id: keyOf(account, to, hour) }, update: { $inc: { n: -times } } },
  }));
  for (let start = 0; start < updates.length; start += SLICE) {
    await recipientHourCollection(db).bulkWrite(updates.slice(start, start + SLICE), { ordered: false });
  }
}

function keyOf(account: AccountId, to: string, at: Date): RecipientHourDocument['_id'] {
  return `${account}:${to}:${hourName(at)}`;
}

function timesOf(recipients: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const to of recipients) times.set(to, (times.get(to) ?? 0) + 1);
  return times;
}
