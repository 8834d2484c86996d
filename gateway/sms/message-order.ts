import assert from 'node:assert/strict';
import type { NumberRules } from '../../shared/accounts/number-check.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import type { MessageDraft } from '../../shared/messages/draft.ts';
import type { Route } from '../../shared/messages/message.ts';
import { laneOf, type Priority, pathOf } from '../../shared/messages/routing.ts';
import { scopeMissing } from '../access/authenticate.ts';
import {
  type PlannedText,
  parseMessage,
  parsePriority,
  parseReference,
  parseRoute,
  parseSender,
  parseTemplate,
  parseTo,
} from '../fields/message-fields.ts';
import type { Caller, JsonObject } from '../http/context.ts';
import { type FieldProblems, invalidRequest, optionalBoolean } from '../http/fields.ts';
import type { Refused } from '../idempotency/once.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { ApprovedTemplates } from '../templates/approved-templates.ts';
import { approveTemplate, approveText, findApproved, hasEntityId, renderText } from './approved-text.ts';
import { createMaySendAs } from './registered-senders.ts';

/** What a request for one message may have, sent now or later; `valid_until` is for the endpoint, which knows from when on. */
export const MESSAGE_FIELDS = [
  'to',
  'message',
  'sender',
  'route',
  'template_id',
  'params',
  'priority',
  'reference',
  'valid_until',
  'dry_run',
] as const;

/** A message that may be sent: all is checked but the credits. */
export interface MessageOrder {
  readonly kind: 'message';
  readonly message: Omit<MessageDraft, '_id' | 'batch' | 'validUntil'>;
  readonly dryRun: boolean;
}

/** Reads and checks a request for one message; what the endpoint found wrong with its own fields is in `problems` already. */
export type ReadMessageOrder = (
  caller: Caller,
  body: JsonObject,
  problems: FieldProblems,
) => Promise<MessageOrder | Refused>;

export function createReadMessageOrder(
  deps: GatewayDeps & { readonly templates: ApprovedTemplates },
): ReadMessageOrder {
  const { config, templates } = deps;
  const maySendAs = createMaySendAs(deps);

  return async ({ account, scopes }, body, problems) => {
    const fields = parseFields(body, account, config.maxSegments, problems);
    const template = await findTemplate(account, fields);
    const text =
      template === undefined ? fields.text : renderText(template, fields.params ?? [], config.maxSegments, problems);
    if (problems.count > 0) return { kind: 'refused', problem: invalidRequest(problems) };
    const { to, sender, route, priority } = whole(fields);
    if (priority === 'otp' && !scopes.includes('otp')) return { kind: 'refused', problem: scopeMissing(['otp']) };
    if (!(await hasEntityId(templates, account, sender, route))) {
      return { kind: 'refused', problem: ['entity_id_missing', {}] };
    }
    if (!(await maySendAs(account, sender, route))) {
      const detail = `"${sender}" is not registered and approved for ${route} messages of this account.`;
      return { kind: 'refused', problem: ['sender_not_allowed', { detail }] };
    }
    if (text === undefined) return { kind: 'refused', problem: ['template_not_found', {}] };
    const approval =
      template === undefined
        ? await approveText(templates, account, sender, route, text.text)
        : approveTemplate(account, template);
    if (approval.kind === 'refused') return approval;
    const message = {
      to,
      sender,
      route,
      path: pathOf(route),
      lane: laneOf(route, priority, account.dlt),
      text: text.text,
      encoding: text.plan.encoding,
      segments: text.plan.segments,
      ...approval.ids,
      ...(fields.reference === undefined ? {} : { reference: fields.reference }),
    };
    return { kind: 'message', message, dryRun: fields.dryRun };
  };

  /** Looked for only when what names it is there. */
  async function findTemplate(account: Caller['account'], { templateId, sender, route, params }: Fields) {
    if (templateId === undefined || sender === undefined || route === undefined || params === undefined)
      return undefined;
    return findApproved(templates, account, sender, route, templateId);
  }
}

/** What the real thing would take. Nothing has an id: nothing is stored. */
export function messageRehearsal({ segments, encoding, template }: MessageOrder['message']): object {
  return {
    status: 'success',
    dry_run: true,
    credits_used: 0,
    credits_required: CREDITS_PER_MESSAGE,
    segments,
    encoding,
    template_id: template ?? null,
  };
}

/** The fields of the request; undefined where there is a problem. */
interface Fields {
  readonly to: string | undefined;
  readonly text: PlannedText | undefined;
  readonly templateId: string | undefined;
  /** None given is an empty list. */
  readonly params: readonly string[] | undefined;
  readonly sender: string | undefined;
  readonly route: Route | undefined;
  readonly priority: Priority | undefined;
  readonly reference: string | undefined;
  readonly dryRun: boolean;
}

function parseFields(body: JsonObject, rules: NumberRules, maxSegments: number, problems: FieldProblems): Fields {
  const to = parseTo(body, rules, problems);
  const { templateId, params } = parseTemplate(body, problems);
  const named = Object.hasOwn(body, 'template_id');
  const text = named ? undefined : parseMessage(body, maxSegments, problems);
  const sender = parseSender(body, problems);
  const route = parseRoute(body, problems);
  const priority = parsePriority(body, route, problems);
  const reference = parseReference(body, problems);
  const dryRun = optionalBoolean(body, 'dry_run', problems);
  return { to, text, templateId, params, sender, route, priority, reference, dryRun };
}

/** The fields that every request has when there is no problem. */
function whole({ to, sender, route, priority }: Fields) {
  assert(to !== undefined && sender !== undefined && route !== undefined, 'a field is missing without a problem');
  assert(priority !== undefined, 'a field is missing without a problem');
  return { to, sender, route, priority };
}
