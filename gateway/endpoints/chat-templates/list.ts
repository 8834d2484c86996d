import type { Db } from 'mongodb';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { findChatTemplateRequests, listChatTemplateRequests } from '../../../shared/templates/chat/request-store.ts';
import { findChatTemplates, listChatTemplatePage } from '../../../shared/templates/chat/store.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { chatTemplateRecord, type OwnChatTemplate, stateOf } from './record.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;
const WORD = /^[\w-]{1,64}$/;

/** GET /v2/account/chatapp/templates (extension): templates and requests for them, by name and language. */
export function createOwnChatTemplates({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { state, language, ...query } = parseQuery(req, ['state', 'language', 'limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'chat_templates', isPlace, problems);
    for (const [name, text] of Object.entries({ state, language })) {
      if (text !== undefined && !WORD.test(text)) problems.add(name, 'invalid_value', 'It must be one word.');
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const { page, last } = await readPage(db, account, { state, language, after }, limit);
      return pageOf('chat_templates', page.map(chatTemplateRecord), last && placeOf(last));
    });
  };
}

interface Wanted {
  readonly state: string | undefined;
  readonly language: string | undefined;
  readonly after: string | undefined;
}

interface Page {
  readonly page: readonly OwnChatTemplate[];
  /** The id behind which the next page begins. Undefined when nothing can follow. */
  readonly last: string | undefined;
}

/** What the provider lists, merged with what it was asked for and does not list (yet). A page may be empty and not the last. */
async function readPage(db: Db, account: AccountId, { state, language, after }: Wanted, limit: number): Promise<Page> {
  const most = limit + 1;
  const [listed, asked] = await Promise.all([
    listChatTemplatePage(db, account, { language, status: state }, after, most),
    listChatTemplateRequests(db, account, { language, after }, most),
  ]);
  const [templates, requests] = await Promise.all([
    findChatTemplates(
      db,
      asked.map(({ _id }) => _id),
    ),
    findChatTemplateRequests(
      db,
      listed.map(({ _id }) => _id),
    ),
  ]);
  const known: OwnChatTemplate[] = listed.map((one) => ({ listed: one, asked: requests.get(one._id) }));
  const waiting: OwnChatTemplate[] = asked.filter(({ _id }) => !templates.has(_id)).map((one) => ({ asked: one }));
  // Behind the last request that was read there may be others: what lies behind it is left to the next page, also when none of
  // those that were read has the state.
  const end = asked.length < most ? undefined : asked.at(-1)?._id;
  const found = [...known, ...waiting]
    .filter((one) => state === undefined || stateOf(one) === state)
    .filter((one) => end === undefined || keyOf(one) <= end)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const page = found.slice(0, limit);
  const lastShown = page.at(-1);
  return { page, last: found.length > limit && lastShown !== undefined ? keyOf(lastShown) : end };
}

function keyOf({ listed, asked }: OwnChatTemplate): string {
  return listed?._id ?? asked?._id ?? '';
}

function placeOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}

function isPlace(text: string): text is string {
  return /^[^\s:]{1,512}:[\w-]{1,35}$/.test(text);
}
