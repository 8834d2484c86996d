import type { Db } from 'mongodb';
import { findAccounts } from '../../../shared/accounts/store.ts';
import { isoTimestamp } from '../../../shared/runtime/clock.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import type { SenderDocument } from '../../../shared/senders/sender.ts';
import { listWaitingSenders } from '../../../shared/senders/store.ts';
import { listWaitingTemplates } from '../../../shared/templates/own-store.ts';
import { listWaitingRequests } from '../../../shared/templates/request-store.ts';
import type { TemplateDocument } from '../../../shared/templates/template.ts';
import type { TemplateRequestDocument } from '../../../shared/templates/template-request.ts';
import { templateRecord } from '../../account/templates/record.ts';
import { sendJson } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../process/deps.ts';

/** The oldest of each kind that are shown. When they are decided, the next ones appear. */
const SHOWN = 100;
const LONG_AGO = new Date(0);

type Waiting = SenderDocument | TemplateDocument | TemplateRequestDocument;

/** GET /v2/admin/approvals (extension): senders and DLT templates of all accounts that wait for a decision, oldest first. */
export function createApprovals({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (_req, res: Reply) => {
    const [senders, requests, templates] = await Promise.all([
      listWaitingSenders(db, SHOWN + 1),
      listWaitingRequests(db, clock, SHOWN + 1),
      listWaitingTemplates(db, LONG_AGO, SHOWN + 1),
    ]);
    const kinds: readonly (readonly Waiting[])[] = [senders, requests, templates];
    const shown = kinds
      .flatMap((kind) => kind.slice(0, SHOWN))
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    const names = await accountNames(db, shown);
    sendJson(res, {
      approvals: shown.map((one) => approvalRecord(one, names.get(one.account) ?? '')),
      more: kinds.some((kind) => kind.length > SHOWN),
    });
  };
}

async function accountNames(db: Db, of: readonly { readonly account: AccountId }[]) {
  const ids = [...new Set(of.map(({ account }) => account))];
  return new Map((await findAccounts(db, ids)).map(({ _id, name }) => [_id, name]));
}

function approvalRecord(one: Waiting, name: string): object {
  const about = { account_id: one.account, account_name: name, requested_at: isoTimestamp(one.createdAt) };
  return 'sender' in one
    ? { kind: 'sender', ...about, sender: { sender_id: one._id, sender: one.sender, routes: one.routes } }
    : { kind: 'template', ...about, template: templateRecord(one) };
}
