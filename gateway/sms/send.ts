import assert from 'node:assert/strict';
import { CREDITS_PER_MESSAGE } from '../../shared/credits/refund.ts';
import { wouldRefuse } from '../../shared/messages/debit.ts';
import type { MessageDraft } from '../../shared/messages/draft.ts';
import { findAccepted } from '../../shared/messages/find-accepted.ts';
import type { Route } from '../../shared/messages/message.ts';
import { laneOf, type Priority, pathOf } from '../../shared/messages/routing.ts';
import { isoDate } from '../../shared/runtime/clock.ts';
import { type MessageId, newId } from '../../shared/runtime/ids.ts';
import type { ApprovedTemplates } from '../../shared/templates/approved-templates.ts';
import type { GatewayDeps } from '../deps.ts';
import { scopeMissing } from '../http/authenticate.ts';
import { bodyOf, type Caller, callerOf, type JsonObject } from '../http/context.ts';
import { FieldProblems, invalidRequest, optionalBoolean, refuseUnknown } from '../http/fields.ts';
import type { Action } from '../http/idempotency.ts';
import { type Approval, approveText, findApproved, renderText, templateIds } from './approved-text.ts';
import {
  type PlannedText,
  parseMessage,
  parsePriority,
  parseReference,
  parseRoute,
  parseSender,
  parseTemplate,
  parseTo,
  parseValidUntil,
} from './message-fields.ts';
import { refusal } from './refusal.ts';
import { createMaySendAs } from './registered-senders.ts';

const FIELDS = [
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

/** POST /v2/send: one message to one recipient. What is refused is neither stored nor charged. */
export function createSend(deps: GatewayDeps & { readonly templates: ApprovedTemplates }): Action<MessageId> {
  const { accepter, clock, config, db, templates } = deps;
  const maySendAs = createMaySendAs(deps);

  return {
    name: 'send',
    newId: () => newId('msg', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const { account, scopes } = callerOf(res);
      const problems = new FieldProblems();
      const order = parseOrder(bodyOf(res), problems);
      const template = await findTemplate(account, order);
      const message =
        template === undefined ? order.message : renderText(template, order.params ?? [], config.maxSegments, problems);
      if (problems.count > 0) return { kind: 'refused', problem: invalidRequest(problems) };
      const { to, sender, route, priority, validUntil, dryRun } = whole(order);
      if (priority === 'otp' && !scopes.includes('otp')) return { kind: 'refused', problem: scopeMissing('otp') };
      if (!(await maySendAs(account, sender, route))) {
        const detail = `"${sender}" is not registered and approved for ${route} messages of this account.`;
        return { kind: 'refused', problem: ['sender_not_allowed', { detail }] };
      }
      if (message === undefined) return { kind: 'refused', problem: ['template_not_found', {}] };
      // What is rendered from an approved template matches it.
      const approval: Approval =
        template === undefined
          ? await approveText(templates, account, sender, route, message.text)
          : { kind: 'approved', ids: templateIds(account, template) };
      if (approval.kind === 'refused') return approval;
      const draft: MessageDraft = {
        _id: id,
        to,
        sender,
        route,
        path: pathOf(route),
        lane: laneOf(route, priority),
        text: message.text,
        encoding: message.plan.encoding,
        segments: message.plan.segments,
        validUntil,
        ...approval.ids,
        ...(order.reference === undefined ? {} : { reference: order.reference }),
      };
      if (dryRun) {
        const refused = await wouldRefuse(db, account._id, CREDITS_PER_MESSAGE, isoDate(clock.now()));
        if (refused !== undefined) return { kind: 'refused', problem: refusal(refused, id) };
        return { kind: 'rehearsed', body: dryRunResult(draft) };
      }

      res.locals.messageId = id;
      const outcome = await accepter.accept(account._id, [draft], payBy);
      if (outcome.kind === 'accepted') return { kind: 'accepted', body: sendResult(draft, outcome.credits) };
      return { kind: outcome.kind === 'outcome_unknown' ? 'unknown' : 'refused', problem: refusal(outcome, id) };
    },
    async recover(account, id) {
      const message = await findAccepted(db, account, id);
      return message === undefined ? undefined : sendResult(message, CREDITS_PER_MESSAGE);
    },
  };

  function parseOrder(body: JsonObject, problems: FieldProblems): Order {
    const to = parseTo(body, problems);
    const { templateId, params } = parseTemplate(body, problems);
    const named = Object.hasOwn(body, 'template_id');
    const message = named ? undefined : parseMessage(body, config.maxSegments, problems);
    const sender = parseSender(body, problems);
    const route = parseRoute(body, problems);
    const priority = parsePriority(body, route, problems);
    const reference = parseReference(body, problems);
    const validUntil = parseValidUntil(body, clock.now(), config.validityHours, problems);
    const dryRun = optionalBoolean(body, 'dry_run', problems);
    refuseUnknown(body, FIELDS, problems);
    return { to, message, templateId, params, sender, route, priority, reference, validUntil, dryRun };
  }

  /** Looked for only when what names it is there. */
  async function findTemplate(account: Caller['account'], { templateId, sender, route, params }: Order) {
    if (templateId === undefined || sender === undefined || route === undefined || params === undefined)
      return undefined;
    return findApproved(templates, account, sender, route, templateId);
  }
}

/** The fields of the request; undefined where there is a problem. */
interface Order {
  readonly to: string | undefined;
  readonly message: PlannedText | undefined;
  readonly templateId: string | undefined;
  /** None given is an empty list. */
  readonly params: readonly string[] | undefined;
  readonly sender: string | undefined;
  readonly route: Route | undefined;
  readonly priority: Priority | undefined;
  readonly reference: string | undefined;
  readonly validUntil: Date | undefined;
  readonly dryRun: boolean;
}

/** The fields that every request has when there is no problem. */
function whole({ to, sender, route, priority, validUntil, dryRun }: Order) {
  assert(to !== undefined && sender !== undefined && route !== undefined, 'a field is missing without a problem');
  assert(priority !== undefined && validUntil !== undefined, 'a field is missing without a problem');
  return { to, sender, route, priority, validUntil, dryRun };
}

/** "SMS send result", exactly its five fields. 1000: accepted and queued (decisions.md, Errors). */
function sendResult({ _id, to }: Pick<MessageDraft, '_id' | 'to'>, credits: number): object {
  return { status: 'success', message_id: _id, to, status_code: '1000', credits_used: credits };
}

/** What the real thing would take. Nothing has an id: nothing is stored. */
function dryRunResult({ segments, encoding, template }: MessageDraft): object {
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
