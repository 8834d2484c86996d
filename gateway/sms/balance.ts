import assert from 'node:assert/strict';
import { readBalance } from '../../shared/accounts/store.ts';
import { sendJson } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import type { GatewayDeps } from '../process/deps.ts';

/** GET /v2/balance ("Balance record"). */
export function createBalance({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (_req, res: Reply) => {
    const account = await readBalance(db, callerOf(res).account._id);
    assert(account !== undefined, 'accounts are never removed');
    const { balance, currency, expiryDate } = account;
    sendJson(res, 200, { balance, currency, expiry_date: expiryDate });
  };
}
