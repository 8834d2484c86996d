import { accountInAudit } from '../../../shared/money/accounts/account.ts';
import { type AccountChanges, findAccount, updateAccount } from '../../../shared/money/accounts/store.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { scopeMissing } from '../../access/scopes.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { optional } from '../../http/fields/field.ts';
import { country, entityId, expiryDate } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { DLT, LINE_BREAKS, LOG, NAME, NUMBER_CHECK, OPT_OUT_EXEMPT, SENDERS } from './account-fields.ts';
import { accountInPath } from './find-account.ts';
import { accountDetail } from './show.ts';

export const UPDATE_ACCOUNT = request({
  name: optional(NAME),
  expiry_date: optional(expiryDate),
  senders: optional(SENDERS),
  dlt: optional(DLT),
  entity_id: optional(entityId),
  number_check: optional(NUMBER_CHECK),
  country: optional(country),
  line_breaks: optional(LINE_BREAKS),
  log: optional(LOG),
  opt_out_exempt: optional(OPT_OUT_EXEMPT),
});

/** PATCH /v2/admin/accounts/{account_id} (extension): changes settings. Fields that are left out stay as they are. */
export function createUpdateAccount(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(UPDATE_ACCOUNT, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { who, scopes } = requesterOf(res);
    if (read.given.expiry_date !== undefined && !scopes.includes('admin:money')) {
      // Credits that have expired can be spent again.
      return sendProblem(res, ...scopeMissing(who, scopes, ['admin:support', 'admin:money']));
    }
    const account = await accountInPath(db, req);
    if (account === undefined) return sendProblem(res, 'account_not_found');
    const { _id: id } = account;
    const { expiry_date, entity_id, number_check, line_breaks, opt_out_exempt, ...same } = whole(read);
    const changes: AccountChanges = {
      ...same,
      ...defined({
        expiryDate: expiry_date,
        entityId: entity_id,
        numberCheck: number_check,
        lineBreaks: line_breaks,
        optOutExempt: opt_out_exempt,
      }),
    };
    const changed = await changeAudited(deps, requesterOf(res), {
      action: 'account.update',
      subject: { kind: 'account', id },
      account: id,
      read: async () => accountInAudit(account),
      make: async () => {
        if (Object.keys(changes).length > 0) await updateAccount(db, id, changes);
        return (await findAccount(db, id)) ?? account;
      },
      madeOf: accountInAudit,
      isRefusal: () => false,
    });
    sendJson(res, { status: 'success', account: await accountDetail(db, changed, clock.now()) });
  };
}
