import { accountInAudit } from '../../../shared/money/accounts/account.ts';
import { findAccount, pauseAccount, setAccountStatus } from '../../../shared/money/accounts/store.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { choice, optional, required } from '../../http/fields/field.ts';
import { reason } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { accountStatus } from './account-record.ts';
import { accountInPath } from './find-account.ts';
import { accountDetail } from './show.ts';

export const ACCOUNT_STATUS = request({
  status: required(
    choice(
      ['active', 'paused', 'suspended'],
      '`suspended`: its sends are refused. `paused`: they are accepted, and wait. Under both, what waits does not leave.',
    ),
  ),
  reason: optional(reason),
});

/** POST /v2/admin/accounts/{account_id}/status (extension): suspends, pauses or resumes an account. */
export function createAccountStatus(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(ACCOUNT_STATUS, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const account = await accountInPath(db, req);
    if (account === undefined) return sendProblem(res, 'account_not_found');
    const { status, reason } = whole(read);
    if (status === 'paused' && account.status === 'suspended') {
      // Pausing it would change nothing, and resuming it would end both.
      read.problems.add(
        'status',
        'invalid_value',
        'The account is suspended: its messages wait already. To take sends again but keep them waiting, resume it first.',
      );
      return sendProblem(res, ...invalidRequest(read.problems));
    }
    const { _id: id } = account;
    const shown = (one: typeof account) => ({ ...accountInAudit(one), status: accountStatus(one) });
    const changed = await changeAudited(deps, requesterOf(res), {
      action: { active: 'account.resume', paused: 'account.pause', suspended: 'account.suspend' }[status],
      subject: { kind: 'account', id },
      account: id,
      read: async () => shown(account),
      make: async () => {
        if (status === 'paused') await pauseAccount(db, id);
        else await setAccountStatus(db, id, status);
        return (await findAccount(db, id)) ?? account;
      },
      madeOf: (one) => ({ ...shown(one), ...(reason === undefined ? {} : { reason }) }),
      isRefusal: () => false,
    });
    sendJson(res, { status: 'success', account: await accountDetail(db, changed, clock.now()) });
  };
}
