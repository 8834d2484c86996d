import { CHANNEL_NAMES } from '../../../shared/messages/channels/channels.ts';
import type { MessageState } from '../../../shared/messages/document/message.ts';
import { customerProblem, isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { STATES } from '../../../shared/messages/document/status.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type BatchId, idTime, isBatchId, isMessageId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice, parseQueryTime } from '../../http/query.ts';
import { listMessages } from './message-list.ts';
import { messageRecord } from './message-record.ts';

/** `to` is the recipient, as everywhere in the API. So the parameters for times have other names. */
const PARAMETERS = [
  'channel',
  'direction',
  'state',
  'to',
  'from',
  'reference',
  'sender',
  'batch_id',
  'created_from',
  'created_before',
  'limit',
  'cursor',
] as const;

/** This many entries of a page count as one request. Reading them takes the embedded store some 3 ms. */
const ENTRIES_PER_REQUEST = 250;

/**
 * GET /v2/messages (extension): the account's messages, newest first, in pages. message-list.ts says how far one page
 * looks.
 */
export function createMessages({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, PARAMETERS, problems);
    const { to, from, reference, sender } = query;
    // What was received may have come to a short code of the account.
    if (to !== undefined && !/^\d{3,7}$/.test(to)) {
      const problem = customerProblem(to);
      if (problem !== undefined) problems.add('to', 'invalid_phone', problem);
    }
    // Companies write from short codes.
    if (from !== undefined && !/^\d{3,15}$/.test(from) && !isCustomerUserId(from))
      problems.add('from', 'invalid_phone', 'It must be 3 to 15 digits, or the user id of a chat-app customer.');
    const createdFrom = parseQueryTime('created_from', query.created_from, problems);
    const createdBefore = parseQueryTime('created_before', query.created_before, problems);
    const filter = {
      channel: parseQueryChoice('channel', query.channel, CHANNEL_NAMES, problems),
      direction: parseDirection(query.direction, problems),
      states: parseState(query.state, problems),
      to,
      from,
      reference,
      sender,
      batch: parseBatch(query.batch_id, problems),
      createdFrom,
      createdBefore,
    };
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'messages', isMessageId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const { messages, next, searchedTo } = await listMessages(db, account, filter, after, limit);
      const page = pageOf('messages', messages.map(messageRecord), next);
      return searchedTo === undefined ? page : { ...page, searched_to: isoTimestamp(idTime(searchedTo)) };
    });
  };
}

const DIRECTIONS = { in: 'in', out: 'out', inbound: 'in', outbound: 'out' } as const;

/** Accepts both spellings, because both are used elsewhere. */
function parseDirection(text: string | undefined, problems: FieldProblems): 'in' | 'out' | undefined {
  const names = Object.keys(DIRECTIONS) as (keyof typeof DIRECTIONS)[]; // its own keys
  const name = parseQueryChoice('direction', text, names, problems);
  return name === undefined ? undefined : DIRECTIONS[name];
}

/** The internal states that the API shows under this name. */
function parseState(shown: string | undefined, problems: FieldProblems): readonly MessageState[] | undefined {
  const all = Object.keys(STATES) as MessageState[]; // the keys of `STATES` are message states
  const names = [...new Set(all.map((state) => STATES[state].shown))];
  const name = parseQueryChoice('state', shown, names, problems);
  return name === undefined ? undefined : all.filter((state) => STATES[state].shown === name);
}

function parseBatch(id: string | undefined, problems: FieldProblems): BatchId | undefined {
  if (id === undefined || isBatchId(id)) return id;
  problems.add('batch_id', 'invalid_value', 'It must be a batch_id, `bat_` and 26 characters.');
  return undefined;
}
