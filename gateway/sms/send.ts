import assert from 'node:assert/strict';
import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import type { MessageDraft } from '../../shared/messages/draft.ts';
import { promotionalHours } from '../../shared/messages/promotional-hours.ts';
import { type MessageId, newId } from '../../shared/runtime/ids.ts';
import { parseValidUntil } from '../fields/message-fields.ts';
import { bodyOf, callerOf } from '../http/context.ts';
import { FieldProblems, refuseUnknown } from '../http/fields.ts';
import { refusal } from '../http/payment-refusal.ts';
import type { Action } from '../idempotency/once.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { ApprovedTemplates } from '../templates/approved-templates.ts';
import { deferral } from './deferral.ts';
import { findAccepted } from './find-accepted.ts';
import { createReadMessageOrder, MESSAGE_FIELDS, messageRehearsal } from './message-order.ts';
import { rehearse } from './rehearse.ts';

/** POST /v2/send: one message to one recipient. What is refused is neither stored nor charged. */
export function createSend(deps: GatewayDeps & { readonly templates: ApprovedTemplates }): Action<MessageId> {
  const { accepter, clock, config, db } = deps;
  const readOrder = createReadMessageOrder(deps);
  const hours = promotionalHours(config);

  return {
    name: 'send',
    newId: () => newId('msg', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const [caller, body] = [callerOf(res), bodyOf(res)];
      const problems = new FieldProblems();
      const validUntil = parseValidUntil(body, clock.now(), config.validityHours, problems);
      refuseUnknown(body, MESSAGE_FIELDS, problems);
      const order = await readOrder(caller, body, problems);
      if (order.kind === 'refused') return order;
      const { message, dryRun } = order;
      const account = caller.account._id;
      if (dryRun) return rehearse(deps, { account, id, credits: CREDITS_PER_MESSAGE }, messageRehearsal(message));

      assert(validUntil !== undefined, 'a field is missing without a problem');
      res.locals.messageId = id;
      const draft: MessageDraft = { ...message, _id: id, validUntil };
      const outcome = await accepter.accept(account, [draft], payBy);
      if (outcome.kind === 'accepted') {
        const deferred = deferral(hours, draft.lane, clock.now());
        return { kind: 'accepted', body: { ...sendResult(draft, outcome.credits), ...deferred } };
      }
      return { kind: outcome.kind === 'outcome_unknown' ? 'unknown' : 'refused', problem: refusal(outcome, id) };
    },
    async recover(account, id) {
      const message = await findAccepted(db, account, id);
      if (message === undefined) return undefined;
      return { kind: 'accepted', body: sendResult(message, CREDITS_PER_MESSAGE) };
    },
  };
}

/** "SMS send result", exactly its five fields. 1000: accepted and queued (decisions.md, Errors). */
function sendResult({ _id, to }: Pick<MessageDraft, '_id' | 'to'>, credits: number): object {
  return { status: 'success', message_id: _id, to, status_code: '1000', credits_used: credits };
}
