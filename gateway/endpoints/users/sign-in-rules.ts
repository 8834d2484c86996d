import { findAccount, setSecondFactor } from '../../../shared/money/accounts/store.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { choice, required } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { UsersDeps } from './users.ts';

export const CHANGE_SIGN_IN_RULES = request({
  second_factor: required(
    choice(['owners', 'all'], 'Who needs an authenticator app. Owners always do; `all`: the other users too.'),
  ),
});

/** GET /v2/account/sign-in (extension): what the account asks of its users. */
export function createSignInRules({ db }: UsersDeps): Handler {
  return async (_req, res: Reply) => {
    sendJson(res, await rulesOf(db, callerOf(res).account._id));
  };
}

/** PATCH /v2/account/sign-in (extension). Within seconds, users without a required second factor can only set one up. */
export function createChangeSignInRules(deps: UsersDeps): Handler {
  const { db, clock, config } = deps;
  return async (_req, res: Reply) => {
    const read = await readRequest(CHANGE_SIGN_IN_RULES, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const caller = callerOf(res);
    const id = caller.account._id;
    const { second_factor } = whole(read);
    await changeAudited(deps, caller, {
      action: 'account.sign-in',
      apart: second_factor,
      subject: { kind: 'account', id },
      read: () => rulesOf(db, id),
      make: async () => {
        await setSecondFactor(db, id, second_factor === 'all');
        return rulesOf(db, id);
      },
      madeOf: (made) => made,
      isRefusal: () => false,
    });
    sendJson(res, await rulesOf(db, id));
  };
}

async function rulesOf(db: UsersDeps['db'], id: AccountId): Promise<object> {
  const account = await findAccount(db, id);
  // `none` is for the demo account of `npm start`, until somebody changes the setting.
  return {
    second_factor:
      account?.secondFactor === 'required' ? 'all' : account?.secondFactor === 'exempt' ? 'none' : 'owners',
  };
}
