import { descendantsOf } from '../../../shared/people/keys/descendants.ts';
import { findOwnKey, KEY_STATES, listKeyPage } from '../../../shared/people/keys/store.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import { keyDetail, keyRecords } from './key-record.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;

/** GET /v2/account/keys (extension): the account's keys, newest first, with when and from where each was used. */
export function createKeys(deps: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['state', 'limit', 'cursor'], problems);
    const state = parseQueryChoice('state', query.state, KEY_STATES, problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'keys', isKeyId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const account = callerOf(res).account._id;
    await deps.answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const found = await listKeyPage(deps.db, account, { state, now: deps.clock.now(), after }, limit + 1);
      const page = found.slice(0, limit);
      return pageOf('keys', await keyRecords(deps, page), found.length > limit ? page.at(-1)?._id : undefined);
    });
  };
}

/** GET /v2/account/keys/{key_id} (extension). */
export function createShowKey(deps: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const key = await findOwnKey(deps.db, callerOf(res).account._id, String(req.params.key_id));
    if (key === undefined) sendProblem(res, 'key_not_found');
    else sendJson(res, await keyDetail(deps, key, await descendantsOf(deps.db, key, deps.clock.now())));
  };
}

function isKeyId(text: string): text is string {
  return /^[0-9a-z]{26}$/.test(text);
}
