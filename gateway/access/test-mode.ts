import { testAccountOf } from '../../shared/platform/runtime/ids.ts';
import { sendProblem } from '../http/answer.ts';
import { type Handler, type Reply, requesterOf } from '../http/context.ts';
import { choice, optional } from '../http/fields/field.ts';
import type { ReadAccount } from './read-account.ts';

/**
 * Test keys, and people who look at tests on the dashboard, see and send in the account's test account
 * (test-account.ts). What an endpoint declares (`test`) says where that is so.
 */
const MODE_HEADER = 'harkara-mode';

/** The query parameter of what a page opens without headers of its own. */
export function pageMode() {
  return optional(choice(['test'], 'For pages: of test messages, as the header `Harkara-Mode: test` says.'));
}

/**
 * Comes after the scopes, at endpoints of accounts. A test key is refused where live and test are the same account; people act on the
 * live one there, whatever they look at.
 */
export function testMode(one: { readonly test?: 'apart' | 'same' }, readAccount: ReadAccount): Handler {
  return async (req, res: Reply, next) => {
    const requester = requesterOf(res);
    const { who, account } = requester;
    const isTestKey = who.kind === 'key' && who.test === true;
    const isTest = isTestKey || (who.kind === 'user' && (req.headers[MODE_HEADER] === 'test' || isInQuery(req.url)));
    if (!isTest || account === undefined) return next();
    if (one.test === undefined && isTestKey) return sendProblem(res, 'live_key_needed');
    if (one.test !== 'apart') return next();
    const tested = await readAccount(testAccountOf(account._id));
    if (tested === undefined) return sendProblem(res, 'account_not_found');
    res.locals.caller = { ...requester, account: tested };
    next();
  };
}

function isInQuery(url: string): boolean {
  const start = url.indexOf('?');
  return start !== -1 && new URLSearchParams(url.slice(start)).get('mode') === 'test';
}
