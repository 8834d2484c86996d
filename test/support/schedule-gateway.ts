import request from 'supertest';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import type { ScheduleDocument } from '../../shared/messages/schedule.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { readStatement } from '../../shared/money/ledger/store.ts';
import type { KeyScope } from '../../shared/people/keys/key.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { balanceOf } from './balance.ts';
import { makeKey, useGateway } from './gateway.ts';
import { makeAccount } from './make.ts';
import { useStore } from './store.ts';

export const DAY_MS = 24 * 3_600_000;
/** The time in that many days in the specification's form: with an offset, in whole seconds. */
export function inDays(days: number, offset = '+05:30'): string {
  const minutes = Number(`${offset[0]}1`) * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4)));
  const local = new Date(Math.floor(Date.now() / 1_000) * 1_000 + days * DAY_MS + minutes * 60_000);
  return local.toISOString().slice(0, 19) + offset;
}
export const good = () => ({
  to: '919876543210',
  message: 'Your appointment is at 5',
  sender: 'HARKRA',
  schedule_time: inDays(1),
});

/** For the body of a `describe`. */
export function scheduleGateway() {
  const store = useStore();
  const gateway = useGateway(store);

  const schedules = () => store.db.collection<ScheduleDocument>('schedules');
  const messages = () => store.db.collection<MessageDocument>('messages');

  function schedule(key: string, body: object | string, idempotencyKey?: string): request.Test {
    const asked = request(gateway.url)
      .post('/v2/schedule')
      .set('Authorization', `Bearer ${key}`)
      .set('Content-Type', 'application/json');
    return (idempotencyKey === undefined ? asked : asked.set('Idempotency-Key', idempotencyKey)).send(body);
  }

  async function makeCustomer(
    credits: number,
    scopes: readonly KeyScope[] = ['send', 'read'],
    overrides: Partial<AccountDocument> = {},
  ) {
    const account = await makeAccount(store.db, credits, overrides);
    return { account, key: await makeKey(store.db, account, scopes) };
  }

  async function tracesOf(account: AccountId): Promise<number> {
    const stored = ['schedules', 'batches', 'messages'].map((name) =>
      store.db.collection(name).countDocuments({ account }),
    );
    const statement = await readStatement(store.db, account, Number.MAX_SAFE_INTEGER, 1_000);
    const debits = statement.filter((entry) => entry.reason === 'send').length;
    return (await Promise.all(stored)).reduce((sum, count) => sum + count, debits);
  }
  return {
    get store() {
      return store;
    },
    get gateway() {
      return gateway;
    },
    schedules,
    messages,
    schedule,
    balanceOf: (account: AccountId) => balanceOf(store.db, account),
    makeCustomer,
    tracesOf,
  };
}
