import { z } from 'zod';
import type { Fallback, FallbackSms } from '../../../shared/messages/document/chat-message.ts';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { numberProblem } from '../../../shared/money/accounts/number-check.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { Gateway, Shown } from '../../api/endpoint.ts';
import { text, whole } from '../../api/shapes.ts';
import type { Caller } from '../../http/context.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { choice, number, optional, required } from '../../http/fields/field.ts';
import { messageOrTemplate } from '../../http/fields/message-fields.ts';
import { nested, request } from '../../http/fields/request.ts';
import type { Problem, Refused } from '../../http/idempotency/action.ts';
import type { ProblemSlug } from '../../http/problem.ts';
import { Encoding } from '../messages/shapes.ts';
import { MESSAGE_FIELDS, MESSAGE_RULES, orderMessage } from '../sms/message-order.ts';

/** The SMS that replaces a chat-app message that fails or is not delivered in time (docs/decisions/0055). */

/** Below the minimum, statuses of delivered messages would come too late. Nobody waits longer than a day. */
export const AFTER_SECONDS = { minimum: 10, maximum: 86_400 };

const { sender, message, template_id, params, route, priority } = MESSAGE_FIELDS;

export const fallback = optional(
  nested(
    request(
      {
        channel: required(choice(['sms'], 'The channel of what goes in its place.')),
        after_seconds: required(
          number({
            description:
              'How long the message has to be delivered, from now. Ends before `valid_until`, which both have.',
            type: 'integer',
            ...AFTER_SECONDS,
          }),
        ),
        ...{ sender, message, template_id, params, route, priority },
      },
      [messageOrTemplate],
      MESSAGE_RULES,
    ),
  ),
);

export const FALLBACK_REFUSALS = [
  'template_mismatch',
  'cta_not_registered',
  'no_route',
  'template_not_found',
  'sender_not_allowed',
  'recipient_opted_out',
  'entity_id_missing',
] as const satisfies readonly ProblemSlug[];

export const FallbackDryRun = z
  .strictObject({
    credits_required: whole(
      'What the SMS costs if it goes. What the conversation cost then comes back, unless other messages went in it.',
      {
        minimum: 0,
        example: 1,
      },
    ),
    segments: whole('Number of SMS that the text is sent as.', { minimum: 1, example: 1 }),
    encoding: Encoding,
    template_id: text().nullable(),
  })
  .meta({ description: 'Of the SMS that may go in its place.' });

interface Asked {
  readonly given: {
    readonly to?: string;
    readonly valid_until?: Date;
    readonly fallback?: z.output<typeof fallback>;
  };
  readonly problems: FieldProblems;
}

/** Checks the SMS as `/v2/send` does. Problems of fields are named below `fallback`. */
export async function orderFallback(
  gateway: Gateway,
  caller: Caller,
  { given, problems }: Asked,
): Promise<{ readonly kind: 'fallback'; readonly fallback: Fallback } | Refused | undefined> {
  const { to, valid_until: validUntil, fallback: asked } = given;
  if (to === undefined || asked === undefined) return undefined;
  const { after_seconds: afterSeconds, channel: _, ...sms } = asked;
  const due = new Date(gateway.clock.now().getTime() + afterSeconds * 1_000);
  if (validUntil !== undefined && due >= validUntil) {
    problems.add(
      'fallback.after_seconds',
      'out_of_range',
      'It must end before `valid_until`, which is that of the SMS too.',
    );
  }
  if (isCustomerUserId(to)) {
    problems.add('fallback', 'conflict', 'An SMS needs a phone number: give it in `to`, not a user id.');
    return undefined;
  }
  const wrong = numberProblem(to, caller.account, 'sms');
  if (wrong !== undefined) problems.add('to', wrong.code, wrong.detail);
  const own = new FieldProblems();
  const order = await orderMessage(gateway, caller, { given: { ...sms, to, dry_run: false }, problems: own });
  for (const { field, code, detail } of own.listed) problems.add(placeOf(field), code, detail);
  if (order.kind === 'refused') return own.count > 0 ? undefined : { ...order, problem: below(order.problem) };
  const { text: words, encoding, segments, lane, template, entityId, credits } = order.message;
  const kept: FallbackSms = {
    ...{ sender: order.message.sender, route: order.message.route, lane, text: words, encoding, segments },
    ...defined({ template, entityId, credits }),
  };
  return { kind: 'fallback', fallback: { afterSeconds, sms: kept, due } };
}

export function fallbackDryRun({ sms }: Fallback): Shown<typeof FallbackDryRun> {
  const { segments, encoding, template } = sms;
  return { credits_required: creditsOf(sms), segments, encoding, template_id: template ?? null };
}

/** The problem with field names as in this request. Both messages share the recipient. */
export function below([slug, answer]: Problem): Problem {
  const errors = answer.errors?.map((error) => ({ ...error, field: placeOf(error.field) }));
  return [slug, { ...answer, ...(errors && { errors }) }];
}

export function placeOf(field: string): string {
  return field === 'to' ? field : `fallback.${field}`;
}
