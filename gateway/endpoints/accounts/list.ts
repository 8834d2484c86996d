import type { Filter } from 'mongodb';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { type AccountId, isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import { accountRecord } from './account-record.ts';

const SEARCH_MAX = 100;
const STATUSES = {
  active: { status: 'active', held: { $ne: true } },
  paused: { status: 'active', held: true },
  suspended: { status: 'suspended' },
} as const satisfies Readonly<Record<string, Filter<AccountDocument>>>;
const STATUS_NAMES = Object.keys(STATUSES) as (keyof typeof STATUSES)[]; // its own keys

/**
 * GET /v2/admin/accounts (extension): all accounts, newest first. `search` is a part of the name, or the beginning of the id. It
 * walks the accounts by their ids; an installation has thousands at most.
 */
export function createAccounts({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { search, ...query } = parseQuery(req, ['search', 'status', 'limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor<AccountId>(query.cursor, 'accounts', isAccountId, problems);
    if ((search ?? '').length > SEARCH_MAX) {
      problems.add('search', 'too_long', `It must have at most ${SEARCH_MAX} characters.`);
    }
    // No name has a NUL character, and the store's patterns must not have one.
    if (search?.includes('\0')) problems.add('search', 'invalid_text', 'It must have no NUL character.');
    const status = parseQueryChoice('status', query.status, STATUS_NAMES, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const filter: Filter<AccountDocument> = {
      ...(after && { _id: { $lt: after } }),
      ...(status === undefined ? {} : STATUSES[status]),
      ...(search === undefined || search === '' ? {} : { $or: matches(search) }),
    };
    const found = await db
      .collection<AccountDocument>('accounts')
      .find(filter, { projection: { pending: 0 } })
      .sort({ _id: -1 })
      .limit(limit + 1)
      .toArray();
    const page = found.slice(0, limit);
    sendJson(res, pageOf('accounts', page.map(accountRecord), found.length > limit ? page.at(-1)?._id : undefined));
  };
}

function matches(search: string): Filter<AccountDocument>[] {
  const literal = search.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return [{ name: { $regex: literal, $options: 'i' } }, { _id: { $regex: `^${literal}` } }];
}
