import type { Db } from 'mongodb';
import { providerCondition } from '../../../shared/carriers/providers/condition.ts';
import { findProvider } from '../../../shared/carriers/providers/store.ts';
import { listSenderPage } from '../../../shared/carriers/sender-store.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { listLiveKeys } from '../../../shared/people/keys/store.ts';
import { countUsers } from '../../../shared/people/users/store.ts';
import { missingToSend } from '../../../shared/templates/sms/missing-to-send.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { accountRecord, accountSettings } from './account-record.ts';
import { accountInPath } from './find-account.ts';

/** By name; more than an account usually has. */
const SENDERS_SHOWN = 500;

/** GET /v2/admin/accounts/{account_id} (extension): one account with its settings and counts of what it has. */
export function createAccountDetail({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (req, res: Reply) => {
    const account = await accountInPath(db, req);
    if (account === undefined) return sendProblem(res, 'account_not_found');
    sendJson(res, await accountDetail(db, account, clock.now()));
  };
}

export async function accountDetail(db: Db, account: AccountDocument, now: Date): Promise<object> {
  const id = account._id;
  const [working, users, senders, provider, missing] = await Promise.all([
    listLiveKeys(db, id, now),
    countUsers(db, id),
    listSenderPage(db, id, '', SENDERS_SHOWN + 1),
    findProvider(db, id),
    missingToSend(db, account),
  ]);
  return {
    ...accountRecord(account),
    settings: accountSettings(account),
    /** Without these every send is refused. */
    missing_to_send: missing.map((what) => MISSING[what]),
    keys: { active: working.length },
    users,
    senders: senders
      .slice(0, SENDERS_SHOWN)
      .map(({ sender, status, routes, reason }) => ({ sender, status, routes, reason: reason ?? null })),
    senders_more: senders.length > SENDERS_SHOWN,
    chatapp: provider === undefined ? null : providerCondition(provider),
  };
}

const MISSING = { 'PE id': 'entity_id', sender: 'sender', template: 'template' } as const;
