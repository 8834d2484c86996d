import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { z } from 'zod';
import { blocks, isExempt, readRecipientScopes } from '../../../shared/carriers/opt-outs/store.ts';
import { countryOf } from '../../../shared/carriers/routing/country.ts';
import { type Daytimes, daytimeOpenings, daytimeWords, NEVER } from '../../../shared/carriers/routing/daytime.ts';
import { routedOf } from '../../../shared/carriers/routing/table.ts';
import type { BatchEntry } from '../../../shared/messages/batch.ts';
import type { MessageDocument, MessageDraft } from '../../../shared/messages/document/message.ts';
import {
  HOURS_LANE,
  laneOf,
  PRIORITIES,
  type Priority,
  type PromotionalHours,
  promotionalDeferral,
} from '../../../shared/messages/document/routing.ts';
import { planText, unicodeCharacters } from '../../../shared/messages/sms-plan.ts';
import { creditsOf, pricedAt, smsPrice } from '../../../shared/money/accounts/prices.ts';
import { keysOf } from '../../../shared/money/ledger/spending.ts';
import { wouldRefuse } from '../../../shared/money/payment/debit.ts';
import { isoDate, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import { scopeMissing } from '../../access/scopes.ts';
import type { Gateway, Shown } from '../../api/endpoint.ts';
import { named, text, whole as wholeNumber } from '../../api/shapes.ts';
import type { ProblemAnswer } from '../../http/answer.ts';
import type { Caller } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, fieldRefusal, invalidRequest } from '../../http/field-problems.ts';
import { choice, optional, otherwise, required, withDefault } from '../../http/fields/field.ts';
import {
  dryRun as dryRunField,
  messageText,
  params,
  paramsNeedTemplate,
  recipient,
  reference,
  renderText,
  route,
  sender,
  templateId,
} from '../../http/fields/message-fields.ts';
import { type ReadRequest, type Rule, whole } from '../../http/fields/request.ts';
import type { Problem, Refused, Verdict } from '../../http/idempotency/action.ts';
import { type ResultId, refusal } from '../../http/payment-refusal.ts';
import { PROBLEMS, type ProblemSlug } from '../../http/problem.ts';
import { beyondLimits, type PlaceOf, RECIPIENT_LIMITS, tooManyNow } from '../limits/recipients.ts';
import { Encoding } from '../messages/shapes.ts';
import { approvalsOf } from './approvals.ts';
import { ctaCheckOf, MissingCtas } from './ctas/check.ts';
import { PredictedRefusal, type predicted } from './scrubbing/facts.ts';

/** Shared by everything that accepts SMS. */

export const REFUSALS = [
  'template_mismatch',
  'cta_not_registered',
  'no_route',
  'template_not_found',
  'insufficient_credits',
  'account_suspended',
  'credits_expired',
  'sender_not_allowed',
  'recipient_opted_out',
  'entity_id_missing',
  'spend_limit_reached',
  ...RECIPIENT_LIMITS,
  'outcome_unknown',
] as const satisfies readonly ProblemSlug[];

export const RECIPIENT = text('Recipient: digits, country code first, no plus sign.', {
  pattern: '^[1-9][0-9]{7,14}$',
  example: '919876543210',
});
export const CREDITS_USED = wholeNumber('Credits that were debited.', { minimum: 0 });
export const DEFERRED_UNTIL = text(
  'From when on it may be sent; of several, the last. Present if it waits for the hours in which promotional messages are allowed (if its `valid_until` is earlier, it expires and is refunded), or for the daytime of its recipient, by the settings of account and route.',
  { format: 'date-time' },
).optional();

export const DRY_RUN = {
  status: z.literal('success'),
  dry_run: z.literal(true),
  credits_used: z.literal(0),
  credits_required: wholeNumber('What the same request without `dry_run` would cost.', { minimum: 0 }),
  segments: wholeNumber('For the longest text.', { minimum: 1, example: 1 }),
  encoding: Encoding,
  template_id: text().nullable(),
  deferred_until: DEFERRED_UNTIL,
  predicted_refusals: z
    .array(PredictedRefusal)
    .meta({ description: 'What the operators would refuse it for, as far as is known here. Absent: nothing.' })
    .optional(),
};

export const SendDryRun = named('SendDryRun', 'The answer to `dry_run`.', {
  ...DRY_RUN,
  credits_required: DRY_RUN.credits_required.meta({ example: 1 }),
  units: wholeNumber(
    'Characters of the encoding that the text takes: 160 or 70 fit into one segment, 153 or 67 into each of several.',
    { minimum: 0, example: 18 },
  ),
  unicode_characters: z
    .array(text())
    .meta({ description: 'The characters that are not in the GSM alphabet: they make the text UCS2.' }),
});

/** Fields of one message, sent now or later. `valid_until` depends on that, so the endpoint adds it. */
export const MESSAGE_FIELDS = {
  to: required(recipient('sms')),
  message: optional(messageText),
  sender: required(sender),
  route,
  template_id: templateId,
  params: otherwise(params, () => []),
  // Anybody may give `otp` here; `orderMessage` checks the scope.
  priority: withDefault<Priority>(
    choice(
      PRIORITIES,
      'Extension: how urgent it is. `otp` needs a key with the scope `otp`, and the transactional route.',
    ),
    'normal',
  ),
  reference,
  dry_run: dryRunField,
};

type MessageFields = typeof MESSAGE_FIELDS;

const otpIsTransactional: Rule<MessageFields> = ({ priority, route }, _has, problems) => {
  if (priority !== 'otp' || route !== 'promotional') return;
  problems.add('priority', 'invalid_value', '"otp" is for the transactional route only.');
};

export const MESSAGE_RULES: readonly Rule<MessageFields>[] = [paramsNeedTemplate, otpIsTransactional];

export interface MessageOrder {
  readonly kind: 'message';
  readonly message: Omit<MessageDraft, '_id' | 'batch' | 'validUntil'>;
  /** For an account that is only warned of them. */
  readonly missing: MissingCtas;
  readonly held: Held;
}

export async function orderMessage(
  gateway: Gateway,
  { who, account, scopes, caps }: Caller,
  read: ReadRequest<MessageFields>,
): Promise<MessageOrder | Refused> {
  const { config, db, routes } = gateway;
  const approvals = approvalsOf(gateway);
  const { given, problems } = read;
  const template = given.params === undefined ? undefined : await approvals.findTemplate(account, given);
  const text =
    template === undefined
      ? given.message
      : renderText(template.pattern, given.params ?? [], 'params', config.maxSegments, problems);
  if (problems.count > 0) return { kind: 'refused', problem: invalidRequest(problems) };
  const { to, sender, route, priority, reference } = whole(read);
  if (priority === 'otp' && !scopes.includes('otp'))
    return { kind: 'refused', problem: scopeMissing(who, scopes, ['otp']) };
  const approval = await approvals.approve(account, { sender, route }, template ?? given.message?.text);
  if (approval.kind === 'refused') return approval;
  assert(text !== undefined, 'what was approved has a text');
  const missing = new MissingCtas();
  const check = await ctaCheckOf(gateway, account, approval.template?.pattern);
  if (check !== undefined) missing.add(template === undefined ? 'message' : 'params', check(text.text));
  const unregistered = account.ctaCheck === 'refuse' ? missing.refusal() : undefined;
  if (unregistered !== undefined) return unregistered;
  const lane = laneOf(route, priority, account.dlt);
  // Before the routes, as in `orderBulk`: nobody should ask for a route to a customer who wants no messages.
  const optedOut = await optedOutOf(db, account, { sender, route, lane }, [to]);
  if (optedOut.size > 0) return { kind: 'refused', problem: fieldRefusal('recipient_opted_out', 'to') };
  const beyond = await beyondLimits(account, [to], () => 'to');
  if (beyond !== undefined) return { kind: 'refused', problem: beyond };
  const resolution = (await routes.table()).resolve({ account: account._id, to, sender, route, lane });
  if (resolution.kind === 'no_route') return { kind: 'refused', problem: noRoute(['to']) };
  const message = {
    to,
    sender,
    route,
    path: resolution.path,
    ...(resolution.route === undefined ? {} : { routed: routedOf(resolution.route) }),
    lane,
    text: text.text,
    encoding: text.plan.encoding,
    segments: text.plan.segments,
    ...approval.ids,
    ...(reference === undefined ? {} : { reference }),
    ...keysOf(caps),
  };
  const price = smsPrice(account.prices, { route, segments: message.segments, country: countryOf(to) });
  const daytimes = [account.daytime, resolution.route?.daytime];
  const held = { lane, recipients: [to], placeOf: () => 'to', daytimesOf: () => daytimes };
  return { kind: 'message', message: { ...message, ...pricedAt(price) }, missing, held };
}

export type Foreseen = Awaited<ReturnType<typeof predicted>> & ReturnType<typeof deferral>;

/** No ids, because nothing is stored. */
export function messageDryRun(
  { text, segments, encoding, template, credits }: MessageOrder['message'],
  foreseen: Foreseen,
): Shown<typeof SendDryRun> {
  return {
    status: 'success',
    dry_run: true,
    credits_used: 0,
    credits_required: creditsOf(defined({ credits })),
    segments,
    encoding,
    units: planText(text).units,
    unicode_characters: unicodeCharacters(text),
    template_id: template ?? null,
    ...foreseen,
  };
}

interface Price {
  readonly caller: Caller;
  readonly id: ResultId;
  readonly credits: number;
  readonly recipients: readonly string[];
  readonly placeOf: PlaceOf;
}

/** The verdict on a dry run: `body`, unless the account could not pay now or a limit forbids it. */
export async function dryRun(
  deps: Pick<GatewayDeps, 'db' | 'clock' | 'log'>,
  { caller: { account, caps }, id, credits, recipients, placeOf }: Price,
  body: object,
): Promise<Verdict> {
  const { db, clock } = deps;
  const over = await tooManyNow(deps, account, recipients, placeOf);
  if (over !== undefined) return { kind: 'refused', problem: over };
  const refused = await wouldRefuse(db, account._id, credits, isoDate(clock.now()), caps);
  return refused === undefined ? { kind: 'dry_run', body } : { kind: 'refused', problem: refusal(refused, id) };
}

/**
 * Extension `deferred_until`: when a message must wait for the promotional hours or the recipient's daytime (`until`).
 * Empty if it can leave at once. A message that expires before the promotional hours is refunded.
 */
export function deferral(
  hours: PromotionalHours,
  lane: number,
  at: Date,
  until: Date | undefined,
): { readonly deferred_until?: string } {
  const promotional = lane === HOURS_LANE ? promotionalDeferral(hours, at) : undefined;
  const [latest] = [promotional, until].filter((one) => one !== undefined).sort((a, b) => b.getTime() - a.getTime());
  return latest === undefined ? {} : { deferred_until: isoTimestamp(latest) };
}

/**
 * For recipients that no carrier will ever take. A carrier that is only down does not count: messages wait for it.
 * `fields`: their places in the request.
 */
export function noRoute(fields: readonly string[]): readonly [ProblemSlug, ProblemAnswer] {
  const problems = new FieldProblems();
  for (const field of fields) problems.add(field, 'no_route', PROBLEMS.no_route.advice);
  const { listed, count } = problems;
  const many = `No carrier delivers to ${count} of the recipients. Leave them out: \`errors\` lists ${count > listed.length ? `the first ${listed.length}` : 'them'}.`;
  const detail = count === 1 ? `${fields[0]}: ${PROBLEMS.no_route.advice}` : many;
  return ['no_route', { detail, errors: listed, extra: { errors_count: count } }];
}

export interface Held {
  readonly lane: number;
  readonly recipients: readonly string[];
  readonly placeOf: PlaceOf;
  daytimesOf(index: number): Daytimes;
}

interface Validity {
  readonly at: Date;
  readonly validUntil: Date;
}

/**
 * When the last of the messages that wait for the recipient's daytime may leave. The request is refused if one would
 * expire before. Costs nothing without daytimes.
 */
export async function daytimeOf(
  { lane, recipients, placeOf, daytimesOf }: Held,
  { at, validUntil }: Validity,
): Promise<Refused | { readonly kind: 'held'; readonly until?: Date }> {
  const openingOf = daytimeOpenings(at);
  const problems = new FieldProblems();
  let until: Date | undefined;
  await inSlices(recipients, (to, index) => {
    const daytimes = daytimesOf(index);
    const opening = openingOf(daytimes, { to, lane });
    if (opening === undefined) return;
    if (until === undefined || opening > until) until = opening;
    if (opening < validUntil) return;
    const where = countryOf(to);
    const hours = daytimeWords(daytimes);
    const detail =
      opening === NEVER
        ? `Messages to ${where} may be sent from ${hours} there, and that is at no time so in all of its time zones. Ask your service provider for longer hours.`
        : `Messages to ${where} may be sent from ${hours} there, next on ${isoTimestamp(opening)}. Give a later \`valid_until\`: it would expire before.`;
    problems.add(placeOf(index), 'out_of_range', detail);
  });
  if (problems.count > 0) return { kind: 'refused', problem: invalidRequest(problems) };
  return until === undefined ? { kind: 'held' } : { kind: 'held', until };
}

const QUERY_MAX = 1_000;
const NOBODY: ReadonlySet<string> = new Set();

/**
 * Recipients who opted out of such messages (`sending`). One query per thousand; none for accounts that never had an
 * opt-out (`optOuts`, at most 4 s old). Rejects with the store's error.
 */
export async function optedOutOf(
  db: Db,
  { _id, optOuts, optOutExempt }: Caller['account'],
  sending: Pick<MessageDocument, 'sender' | 'route' | 'lane'>,
  recipients: readonly string[],
): Promise<ReadonlySet<string>> {
  if (optOuts !== true || isExempt(sending, optOutExempt)) return NOBODY;
  const found = new Set<string>();
  for (let start = 0; start < recipients.length; start += QUERY_MAX) {
    const scopes = await readRecipientScopes(db, _id, recipients.slice(start, start + QUERY_MAX));
    for (const [customer, of] of scopes) if (blocks(of, sending.sender)) found.add(customer);
  }
  return found;
}

/** The 403 for a batch, with entries of recipients who opted out, up to a limit. `list`: its name in the request. */
export async function optedOutEntries(
  entries: readonly BatchEntry[],
  out: ReadonlySet<string>,
  list: EntryList,
): Promise<Problem> {
  const problems = new FieldProblems();
  await inSlices(entries, ({ to }, i) => {
    if (!out.has(to)) return;
    problems.add(placeOf(list, i), 'recipient_opted_out', 'This customer has opted out.');
  });
  const [, { errors = [], extra = {} }] = invalidRequest(problems);
  const detail =
    problems.count === entries.length
      ? 'All recipients have opted out, so there is nobody to send to.'
      : `${problems.count} of ${entries.length} recipients have opted out. Remove them, or send \`skip_opted_out: true\`.`;
  return ['recipient_opted_out', { detail, errors, extra }];
}

type EntryList = 'to' | 'recipients';

export function placeOf(list: EntryList, index: number): string {
  return list === 'to' ? `to[${index}]` : `recipients[${index}].to`;
}
