import { EVENT_NAMES } from '../../../shared/events/catalogue.ts';
import type { DeliveryDocument, DeliveryId } from '../../../shared/events/webhooks/delivery.ts';
import { findDeliveries } from '../../../shared/events/webhooks/delivery-store.ts';
import { findOwnEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isMessageId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import { isPlace, type ListedDelivery, listDeliveries } from './delivery-list.ts';
import { attemptRecord } from './webhook-record.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;
const STATES = [
  'due',
  'waiting',
  'done',
  'exhausted',
  'discarded',
] as const satisfies readonly DeliveryDocument['state'][];
const PARAMETERS = ['event', 'state', 'message_id', 'limit', 'cursor'] as const;

/** GET /v2/account/webhooks/{webhook_id}/deliveries (extension): what was posted or will be, newest messages first. */
export function createDeliveries({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const endpoint = await findOwnEndpoint(db, callerOf(res).account._id, String(req.params.webhook_id));
    if (endpoint === undefined) return sendProblem(res, 'webhook_not_found');
    const problems = new FieldProblems();
    const query = parseQuery(req, PARAMETERS, problems);
    const filter = {
      event: parseQueryChoice('event', query.event, EVENT_NAMES, problems),
      state: parseQueryChoice('state', query.state, STATES, problems),
      message: messageOf(query.message_id, problems),
    };
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'deliveries', isPlace, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const { deliveries, next } = await listDeliveries(db, endpoint._id, filter, after, limit);
      return pageOf('deliveries', deliveries.map(listed), next);
    });
  };
}

/** GET /v2/account/webhooks/{webhook_id}/deliveries/{event_id} (extension): with its body, and all attempts. */
export function createShowDelivery({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const endpoint = await findOwnEndpoint(db, callerOf(res).account._id, String(req.params.webhook_id));
    if (endpoint === undefined) return sendProblem(res, 'webhook_not_found');
    const _id = `${req.params.event_id}:${endpoint._id}` as DeliveryId; // only compared with
    const read = async () => {
      const [found] = await findDeliveries(db, [_id], { bodies: true });
      return found && whole(found);
    };
    await answerRead(res, 1, read, 'delivery_not_found');
  };
}

/** `tries`: posts so far, replays included. */
function listed(delivery: ListedDelivery): object {
  const last = delivery.attempts.at(-1);
  const tries = delivery.attempts.length;
  return { ...common(delivery), tries, last_attempt: last === undefined ? null : attemptRecord(last) };
}

function whole(delivery: DeliveryDocument): object {
  const attempts = delivery.attempts.map((attempt) => ({ ...attemptRecord(attempt), answer: attempt.excerpt ?? null }));
  return { ...common(delivery), tries: attempts.length, body: delivery.body, attempts };
}

function common({ eventId, event, message, state, createdAt, retryAt, replayedAt }: Omit<DeliveryDocument, 'body'>) {
  return {
    event_id: eventId,
    event,
    message_id: message ?? null,
    state,
    created_at: isoTimestamp(createdAt),
    next_try_at: retryAt === undefined ? null : isoTimestamp(retryAt),
    replayed_at: replayedAt === undefined ? null : isoTimestamp(replayedAt),
  };
}

function messageOf(text: string | undefined, problems: FieldProblems) {
  if (text === undefined || isMessageId(text)) return text;
  return problems.add('message_id', 'invalid_value', 'It must be a message_id, `msg_` and 26 characters.');
}
