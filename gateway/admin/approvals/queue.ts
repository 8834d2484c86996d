import type { Db } from 'mongodb';
import { findAccounts } from '../../../shared/accounts/store.ts';
import { isoTimestamp } from '../../../shared/runtime/clock.ts';
import { type AccountId, isAccountId } from '../../../shared/runtime/ids.ts';
import { type AgePlace, readTurns, readWaitingOf, type Waiting } from '../../../shared/templates/approval-queue.ts';
import { templateRecord } from '../../endpoints/account-templates/templates.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/fields.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { parseQueryAccount } from '../fields.ts';

type Deps = Pick<GatewayDeps, 'db' | 'clock'>;

/**
 * GET /v2/admin/approvals (extension): senders and DLT templates that wait for a decision: of each account the oldest few, so that
 * one that asked for thousands hides nobody. With `account_id` everything of this account, oldest first.
 */
export function createApprovals(deps: Deps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['account_id', 'limit', 'cursor'], problems);
    const account = parseQueryAccount(query.account_id, problems);
    const limit = parseLimit(query.limit, problems);
    const behind =
      query.account_id === undefined
        ? { account: parseCursor<AccountId>(query.cursor, 'approvals', isAccountId, problems) }
        : { place: parseCursor(query.cursor, 'approvals_of', isPlace, problems) };
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    sendJson(
      res,
      account === undefined
        ? await inTurn(deps, behind.account, limit)
        : await ofAccount(deps, account, behind.place, limit),
    );
  };
}

async function inTurn({ db, clock }: Deps, after: AccountId | undefined, limit: number): Promise<object> {
  const { turns, next } = await readTurns(db, clock, 'all', after, limit);
  const names = await accountNames(
    db,
    turns.map(({ account }) => account),
  );
  const data = turns.flatMap(({ account, oldest, waiting }) =>
    oldest.map((one) => approvalRecord(one, names.get(account) ?? '', waiting)),
  );
  return pageOf('approvals', data, next);
}

async function ofAccount(
  { db, clock }: Deps,
  account: AccountId,
  after: string | undefined,
  limit: number,
): Promise<object> {
  const { found, waiting } = await readWaitingOf(
    db,
    clock,
    'all',
    account,
    after === undefined ? undefined : placeOf(after),
    limit + 1,
  );
  const names = await accountNames(db, [account]);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const data = page.map((one) => approvalRecord(one, names.get(account) ?? '', waiting));
  return pageOf('approvals_of', data, last && `${last.createdAt.getTime()}:${last._id}`);
}

function isPlace(text: string): text is string {
  return /^\d{1,15}:[\w:]{1,80}$/.test(text);
}

function placeOf(text: string): AgePlace {
  const colon = text.indexOf(':');
  return { at: new Date(Number(text.slice(0, colon))), id: text.slice(colon + 1) };
}

async function accountNames(db: Db, ids: readonly AccountId[]): Promise<ReadonlyMap<AccountId, string>> {
  return new Map((await findAccounts(db, ids)).map(({ _id, name }) => [_id, name]));
}

function approvalRecord(one: Waiting, name: string, waiting: number): object {
  const about = {
    account_id: one.account,
    account_name: name,
    account_waiting: waiting,
    requested_at: isoTimestamp(one.createdAt),
  };
  return 'sender' in one
    ? { kind: 'sender', ...about, sender: { sender_id: one._id, sender: one.sender, routes: one.routes } }
    : { kind: 'template', ...about, template: templateRecord(one) };
}
