import { MESSAGE_EVENT_NAMES } from '../../../shared/events/catalogue.ts';
import { isMessageId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice, parseQueryTime } from '../../http/query.ts';
import { type EventBody, readEventBodies } from './event-bodies.ts';
import { cutPage, type EventPlace, listEvents } from './event-list.ts';

const PARAMETERS = ['event', 'message_id', 'since', 'until', 'limit', 'cursor'] as const;

/** This many entries of a page count as one request. Reading them takes the embedded store some 4 ms. */
const ENTRIES_PER_REQUEST = 100;

/**
 * GET /v2/events (extension): what happened to the account's messages in the last seven days, newest first, in pages.
 * Shows the payloads that webhooks get, also to accounts without webhooks. event-list.ts says how far one page looks.
 */
export function createEvents({ db, clock, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, PARAMETERS, problems);
    const filter = {
      name: parseQueryChoice('event', query.event, MESSAGE_EVENT_NAMES, problems),
      message: parseMessage(query.message_id, problems),
      since: parseQueryTime('since', query.since, problems),
      until: parseQueryTime('until', query.until, problems),
    };
    const limit = parseLimit(query.limit, problems);
    const cursor = parseCursor(query.cursor, 'events', isPlace, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const after = cursor === undefined ? undefined : placeOf(cursor);
    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const { events, next: nextListed } = await listEvents(db, account, filter, clock.now(), after, limit);
      const { bodies, taken } = await readEventBodies(db, account, events);
      const { next } = cutPage(events, taken, nextListed);
      return pageOf('events', bodies.map(eventRecord), next === undefined ? undefined : textOf(next));
    });
  };
}

/** The payload that webhooks post, with its id, which is the `webhook-id` header of the post. */
function eventRecord({ id, body }: EventBody): object {
  const payload: object = JSON.parse(body);
  return { event_id: id, ...payload };
}

function parseMessage(id: string | undefined, problems: FieldProblems): MessageId | undefined {
  if (id === undefined || isMessageId(id)) return id;
  problems.add('message_id', 'invalid_value', 'It must be a message_id, `msg_` and 26 characters.');
  return undefined;
}

type PlaceText = `${number}:${EventPlace['id']}`;

function isPlace(text: string): text is PlaceText {
  return /^(0|[1-9]\d{0,14}):(evt_[0-9a-hjkmnp-tv-z]{26}_[a-z_]{0,20})?$/.test(text);
}

function placeOf(text: PlaceText): EventPlace {
  const colon = text.indexOf(':');
  const id = text.slice(colon + 1) as EventPlace['id']; // the text has the form of a cursor's place
  return { atMs: Number(text.slice(0, colon)), id };
}

function textOf({ atMs, id }: EventPlace): PlaceText {
  return `${atMs}:${id}`;
}
