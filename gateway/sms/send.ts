import type { MessageDraft } from '../../shared/messages/draft.ts';
import { laneOf, pathOf } from '../../shared/messages/routing.ts';
import { type MessageId, newId } from '../../shared/runtime/ids.ts';
import type { GatewayDeps } from '../deps.ts';
import { sendJson, sendProblem } from '../http/answer.ts';
import { bodyOf, callerOf, type Handler, type JsonObject, type Reply } from '../http/context.ts';
import { FieldProblems, refuseUnknown, sendInvalid } from '../http/fields.ts';
import { parseMessage, parseRoute, parseSender, parseTo } from './message-fields.ts';
import { refusal } from './refusal.ts';
import { createMaySendAs } from './registered-senders.ts';

const FIELDS = ['to', 'message', 'sender', 'route'] as const;
const HOUR_MS = 3_600_000;

/** POST /v2/send: one message to one recipient. What is refused is neither stored nor charged. */
export function createSend(deps: GatewayDeps): Handler {
  const { accepter, clock, config } = deps;
  const maySendAs = createMaySendAs(deps);

  return async (_req, res: Reply) => {
    const { account } = callerOf(res);
    const problems = new FieldProblems();
    const draft = parseDraft(bodyOf(res), problems);
    if (draft === undefined) return sendInvalid(res, problems);
    const { sender, route } = draft;
    if (!(await maySendAs(account, sender, route))) {
      const detail = `"${sender}" is not registered and approved for ${route} messages of this account.`;
      return sendProblem(res, 'sender_not_allowed', { detail });
    }

    res.locals.messageId = draft._id;
    const outcome = await accepter.accept(account._id, [draft]);
    if (outcome.kind !== 'accepted') return sendProblem(res, ...refusal(outcome, draft._id));
    sendJson(res, 200, sendResult(draft._id, draft.to, outcome.credits));
  };

  /** Undefined when there are problems. */
  function parseDraft(body: JsonObject, problems: FieldProblems): MessageDraft | undefined {
    const to = parseTo(body, problems);
    const message = parseMessage(body, config.maxSegments, problems);
    const sender = parseSender(body, problems);
    const route = parseRoute(body, problems);
    refuseUnknown(body, FIELDS, problems);
    if (to === undefined || message === undefined || sender === undefined || route === undefined) return undefined;
    if (problems.count > 0) return undefined;
    const now = clock.now().getTime();
    return {
      _id: newId('msg', now),
      to,
      sender,
      route,
      path: pathOf(route),
      lane: laneOf(route),
      text: message.text,
      encoding: message.plan.encoding,
      segments: message.plan.segments,
      validUntil: new Date(now + config.validityHours * HOUR_MS),
    };
  }
}

/** "SMS send result", exactly its five fields. 1000: accepted and queued (decisions.md, Errors). */
function sendResult(messageId: MessageId, to: string, credits: number): object {
  return { status: 'success', message_id: messageId, to, status_code: '1000', credits_used: credits };
}
