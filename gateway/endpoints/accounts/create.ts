import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { defaultExpiry } from '../../../shared/money/accounts/account-form.ts';
import { createAccount, findAccount } from '../../../shared/money/accounts/store.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { optional, otherwise, required, withDefault } from '../../http/fields/field.ts';
import { country, currency, entityId, expiryDate } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { Accepted, Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { DLT, NAME, NUMBER_CHECK, SENDERS } from './account-fields.ts';
import { accountRecord, accountSettings } from './account-record.ts';

export const CREATE_ACCOUNT = request({
  name: required(NAME),
  currency: withDefault(currency, 'INR'),
  expiry_date: otherwise(expiryDate, ({ now }) => defaultExpiry(now)),
  senders: withDefault(SENDERS, 'registered'),
  dlt: withDefault(DLT, 'off'),
  entity_id: optional(entityId),
  number_check: withDefault(NUMBER_CHECK, 'off'),
  country: optional(country),
});

/** POST /v2/admin/accounts (extension): a new account, without credits. */
export function createNewAccount(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Action<AccountId> {
  const { db, clock, config } = deps;
  return {
    name: 'admin-create-account',
    newId: () => newId('acc', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const read = await readRequest(CREATE_ACCOUNT, bodyOf(res), { account: {}, now: clock.now(), config });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const { name, currency, expiry_date, senders, dlt, entity_id, number_check, country } = whole(read);
      const given = { name, currency, expiryDate: expiry_date, senders, dlt, entityId: entity_id, country };
      const numberCheck = number_check === 'off' ? undefined : number_check;
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const made = await changeAudited(deps, requesterOf(res), {
        action: 'account.create',
        subject: { kind: 'account', id },
        account: id,
        read: async () => undefined,
        make: () => createAccount(db, clock, { ...given, numberCheck }, id),
        madeOf: (account) => account,
        isRefusal: () => false,
      });
      return created(made);
    },
    async recover(_owner, id) {
      const made = await findAccount(db, id);
      return made && created(made);
    },
  };
}

function created(account: AccountDocument): Accepted {
  return {
    kind: 'accepted',
    body: { status: 'success', account: { ...accountRecord(account), settings: accountSettings(account) } },
  };
}
