import assert from 'node:assert/strict';
import { type Balance, readBalance } from '../../../shared/money/accounts/store.ts';
import { sendJson } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/** GET /v2/balance ("Balance record"). */
export function createBalance({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (_req, res: Reply) => {
    sendJson(res, balanceRecord(await readBalance(db, callerOf(res).account._id)));
  };
}

export function balanceRecord(account: Balance | undefined): object {
  assert(account !== undefined, 'accounts are never removed');
  const { balance, currency, expiryDate } = account;
  return { balance, currency, expiry_date: expiryDate };
}
