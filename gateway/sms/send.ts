import { CREDITS_PER_MESSAGE } from '../../shared/credits/refund.ts';
import { wouldRefuse } from '../../shared/messages/debit.ts';
import type { MessageDraft } from '../../shared/messages/draft.ts';
import { findAccepted } from '../../shared/messages/find-accepted.ts';
import { laneOf, type Priority, pathOf } from '../../shared/messages/routing.ts';
import { isoDate } from '../../shared/runtime/clock.ts';
import { type MessageId, newId } from '../../shared/runtime/ids.ts';
import type { GatewayDeps } from '../deps.ts';
import { scopeMissing } from '../http/authenticate.ts';
import { bodyOf, callerOf, type JsonObject } from '../http/context.ts';
import { FieldProblems, invalidRequest, optionalBoolean, refuseUnknown } from '../http/fields.ts';
import type { Action } from '../http/idempotency.ts';
import {
  parseMessage,
  parsePriority,
  parseReference,
  parseRoute,
  parseSender,
  parseTo,
  parseValidUntil,
} from './message-fields.ts';
import { refusal } from './refusal.ts';
import { createMaySendAs } from './registered-senders.ts';

const FIELDS = ['to', 'message', 'sender', 'route', 'priority', 'reference', 'valid_until', 'dry_run'] as const;

/** POST /v2/send: one message to one recipient. What is refused is neither stored nor charged. */
export function createSend(deps: GatewayDeps): Action<MessageId> {
  const { accepter, clock, config, db } = deps;
  const maySendAs = createMaySendAs(deps);

  return {
    name: 'send',
    newId: () => newId('msg', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const { account, scopes } = callerOf(res);
      const problems = new FieldProblems();
      const order = parseOrder(bodyOf(res), id, problems);
      if (order === undefined) return { kind: 'refused', problem: invalidRequest(problems) };
      const { draft, priority, dryRun } = order;
      if (priority === 'otp' && !scopes.includes('otp')) return { kind: 'refused', problem: scopeMissing('otp') };
      if (!(await maySendAs(account, draft.sender, draft.route))) {
        const detail = `"${draft.sender}" is not registered and approved for ${draft.route} messages of this account.`;
        return { kind: 'refused', problem: ['sender_not_allowed', { detail }] };
      }
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

  /** Undefined when there are problems. */
  function parseOrder(body: JsonObject, id: MessageId, problems: FieldProblems): Order | undefined {
    const to = parseTo(body, problems);
    const message = parseMessage(body, config.maxSegments, problems);
    const sender = parseSender(body, problems);
    const route = parseRoute(body, problems);
    const priority = parsePriority(body, route, problems);
    const reference = parseReference(body, problems);
    const validUntil = parseValidUntil(body, clock.now(), config.validityHours, problems);
    const dryRun = optionalBoolean(body, 'dry_run', problems);
    refuseUnknown(body, FIELDS, problems);
    if (to === undefined || message === undefined || sender === undefined || route === undefined) return undefined;
    if (priority === undefined || validUntil === undefined || problems.count > 0) return undefined;
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
      ...(reference === undefined ? {} : { reference }),
    };
    return { draft, priority, dryRun };
  }
}

interface Order {
  readonly draft: MessageDraft;
  readonly priority: Priority;
  readonly dryRun: boolean;
}

/** "SMS send result", exactly its five fields. 1000: accepted and queued (decisions.md, Errors). */
function sendResult({ _id, to }: Pick<MessageDraft, '_id' | 'to'>, credits: number): object {
  return { status: 'success', message_id: _id, to, status_code: '1000', credits_used: credits };
}

/** What the real thing would take. Nothing has an id: nothing is stored. */
function dryRunResult({ segments, encoding }: MessageDraft): object {
  return {
    status: 'success',
    dry_run: true,
    credits_used: 0,
    credits_required: CREDITS_PER_MESSAGE,
    segments,
    encoding,
    template_id: null,
  };
}
