import assert from 'node:assert/strict';
import { routedOf } from '../../../shared/carriers/routing/placement.ts';
import type { MessageDraft } from '../../../shared/messages/document/draft.ts';
import { type PromotionalHours, promotionalDeferral } from '../../../shared/messages/document/promotional-hours.ts';
import { HOURS_LANE, laneOf, PRIORITIES, type Priority } from '../../../shared/messages/document/routing.ts';
import { planText, unicodeCharacters } from '../../../shared/messages/sms-plan.ts';
import { CREDITS_PER_MESSAGE } from '../../../shared/money/ledger/refund.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { scopeMissing } from '../../access/scopes.ts';
import type { Caller } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { fieldRefusal, invalidRequest } from '../../http/field-problems.ts';
import { choice, optional, otherwise, required, withDefault } from '../../http/fields/field.ts';
import {
  dryRun,
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
import type { Refused } from '../../http/idempotency/action.ts';
import { noRoute } from './no-route.ts';
import { optedOutOf } from './opted-out.ts';
import type { Sending } from './sending.ts';

/**
 * The fields of a request for one message, sent now or later. `valid_until` belongs to the endpoint, because it
 * depends on when the message is sent.
 */
export const MESSAGE_FIELDS = {
  to: required(recipient('sms')),
  message: optional(messageText),
  sender: required(sender),
  route,
  template_id: templateId,
  params: otherwise(params, () => []),
  // The field accepts `otp` from everybody. `orderMessage` asks for the scope.
  priority: withDefault<Priority>(
    choice(
      PRIORITIES,
      'Extension: how urgent it is. `otp` needs a key with the scope `otp`, and the transactional route.',
    ),
    'normal',
  ),
  reference,
  dry_run: dryRun,
};

type MessageFields = typeof MESSAGE_FIELDS;

const otpIsTransactional: Rule<MessageFields> = ({ priority, route }, _has, problems) => {
  if (priority !== 'otp' || route !== 'promotional') return;
  problems.add('priority', 'invalid_value', '"otp" is for the transactional route only.');
};

export const MESSAGE_RULES: readonly Rule<MessageFields>[] = [paramsNeedTemplate, otpIsTransactional];

/** A message that passed all checks except the payment. */
export interface MessageOrder {
  readonly kind: 'message';
  readonly message: Omit<MessageDraft, '_id' | 'batch' | 'validUntil'>;
}

/** Checks a request for one message. */
export async function orderMessage(
  { config, db, approvals, routes }: Pick<GatewayDeps, 'config' | 'db'> & Sending,
  { who, account, scopes }: Caller,
  read: ReadRequest<MessageFields>,
): Promise<MessageOrder | Refused> {
  const { given, problems } = read;
  // `params` is undefined only when it could not be read. That is a problem already.
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
  const lane = laneOf(route, priority, account.dlt);
  // Before the routes, as in `orderBulk`: nobody should ask for a route to a customer who wants no messages.
  const optedOut = await optedOutOf(db, account, { sender, route, lane }, [to]);
  if (optedOut.size > 0) return { kind: 'refused', problem: fieldRefusal('recipient_opted_out', 'to') };
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
  };
  return { kind: 'message', message };
}

/** The answer to a dry run. It has no ids, because nothing is stored. */
export function messageDryRun({ text, segments, encoding, template }: MessageOrder['message']): object {
  return {
    status: 'success',
    dry_run: true,
    credits_used: 0,
    credits_required: CREDITS_PER_MESSAGE,
    segments,
    encoding,
    units: planText(text).units,
    unicode_characters: unicodeCharacters(text),
    template_id: template ?? null,
  };
}

/**
 * Extension: `deferred_until` for a message that is accepted now and must wait for the promotional hours. Empty for a
 * message that can leave at once. A message whose validity ends before that expires and is refunded.
 */
export function deferral(hours: PromotionalHours, lane: number, now: Date): { readonly deferred_until?: string } {
  const opening = lane === HOURS_LANE ? promotionalDeferral(hours, now) : undefined;
  return opening === undefined ? {} : { deferred_until: isoTimestamp(opening) };
}
