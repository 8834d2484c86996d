import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { ledgerBalanceOf } from '../../../support/balance.ts';
import { makeEntries } from '../../../support/batches.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { smsWorld } from './world.ts';

export const GOOD = {
  to: ['919876543210', '919876543211'],
  message: 'Sale today',
  sender: 'HARKRA',
  route: 'promotional',
};
export const DLT_ID = '1107160000000012345';
/** The fields of a body other than its recipients and its text. */
export const BASE = { sender: GOOD.sender, route: GOOD.route };

export function numbers(count: number): string[] {
  return makeEntries(count).map(({ to }) => to);
}

/** `smsWorld` for `/v2/send-bulk`, and its callers. For the body of a `describe`. */
export function bulkWorld() {
  const { store, send } = smsWorld('/v2/send-bulk');
  const caller = async (credits: number, overrides: Partial<AccountDocument> = {}) => {
    const account = await makeAccount(store.db, credits, overrides);
    return { account, key: await makeKey(store.db, account) };
  };
  return {
    store,
    send,
    caller,
    batches: () => store.db.collection<BatchDocument>('batches'),
    balanceOf: (account: AccountId) => ledgerBalanceOf(store.db, account),

    /** A caller with a template of two params. */
    async withTemplate(credits: number) {
      const customer = await caller(credits);
      const template = makeTemplate({
        dltId: DLT_ID,
        content: 'Hi {#var#}, pay {#numeric#}',
        senders: ['HARKRA'],
        routes: ['transactional', 'promotional'],
      });
      await createTemplate(store.db, systemClock, customer.account, template);
      return customer;
    },
  };
}
