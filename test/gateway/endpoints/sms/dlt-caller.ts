import type { Db } from 'mongodb';
import { createSender } from '../../../../shared/carriers/sender.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';

export const OTP_ID = '1107160000000000001';
export const ORDER_ID = '1107160000000000002';
export const ENTITY = '1101160000000000009';

export interface Caller {
  readonly account: AccountId;
  readonly key: string;
}

/** An account with DLT, a sender and two approved templates. */
export async function dltCaller(db: Db, overrides: Partial<AccountDocument> = {}): Promise<Caller> {
  const account = await makeAccount(db, 5, { dlt: 'on', entityId: ENTITY, ...overrides });
  await createSender(db, systemClock, {
    account,
    sender: 'HARKRA',
    routes: ['transactional'],
    status: 'approved',
  });
  const otp = makeTemplate({ dltId: OTP_ID, name: 'Code', content: 'Your code is {#var#}.' });
  const order = makeTemplate({
    dltId: ORDER_ID,
    name: 'Order',
    content: 'Order {#numeric#} for {#var#} has left',
    entityId: '1101160000000000222',
  });
  for (const template of [otp, order]) await createTemplate(db, systemClock, account, template);
  return { account, key: await makeKey(db, account) };
}
