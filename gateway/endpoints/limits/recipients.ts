import { countryOf } from '../../../shared/carriers/routing/country.ts';
import { prefixOf } from '../../../shared/messages/traffic/hold.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import type { Caller } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import type { Problem, Refused } from '../../http/idempotency/action.ts';
import { PROBLEMS, type ProblemSlug } from '../../http/problem.ts';
import { countRecipients, giveBackRecipients, type RecipientCount, recipientsOver } from './recipient-hours.ts';

/**
 * The limits of an account on whom it sends to. Checked when a request is accepted, before any debit; of a schedule when it is
 * booked. An account without such limits pays nothing for them.
 */

type Account = Caller['account'];
type LimitSlug = 'country_not_allowed' | 'traffic_held' | 'recipient_limit_reached';

/** Where a recipient stands in the request: `to`, `to[3]`, `recipients[3].to`. */
export type PlaceOf = (index: number) => string;

export const RECIPIENT_LIMITS = [
  'country_not_allowed',
  'traffic_held',
  'recipient_limit_reached',
] as const satisfies readonly ProblemSlug[];

/** The refusal of recipients in countries that the account may not send to, or with a prefix that is held. */
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

/** `limit`: also the name of the limit, as every refusal by a limit says it. */
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

/** What became of a payment. */
interface Paid {
  readonly kind: string;
  readonly mayStillPay?: true;
}

/** Does what must be done before a payment, and undoes it where nothing was paid; or refuses. */
export type AroundPayment = <Outcome extends Paid>(pay: () => Promise<Outcome>) => Promise<Outcome | Refused>;

/** Whether something was sent, or may be yet. */
export function mayBeSent({ kind, mayStillPay }: Paid): boolean {
  return kind === 'accepted' || kind === 'outcome_unknown' || mayStillPay === true;
}

/** The recipients are counted as `countedWithin` does, if the account has a limit. */
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

/** How often each of these may be sent to in a clock hour. */
export interface HourlyLimit {
  readonly names: readonly string[];
  readonly most: number;
  problemOf(over: ReadonlySet<string>): Promise<Problem | undefined> | Problem;
}

/**
 * Counts the names for the hour, then does `pay`. When some have been counted as often as is allowed, nothing is done. What was not
 * accepted is not counted.
 */
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

/** What cannot be given back stays counted for this hour. */
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
