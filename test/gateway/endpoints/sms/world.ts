import request from 'supertest';
import type { GatewayDeps } from '../../../../gateway/http/deps.ts';
import { readStatement } from '../../../../shared/money/ledger/store.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { balanceOf } from '../../../support/balance.ts';
import { useGateway } from '../../../support/gateway.ts';
import { useStore } from '../../../support/store.ts';

/** A store and a gateway, with helpers for the SMS endpoints. For the body of a `describe`. */
export function smsWorld(path: string, overrides: Partial<GatewayDeps> = {}) {
  const store = useStore();
  const gateway = useGateway(store, overrides);

  function post(at: string, key: string, body: object | string, idempotencyKey?: string): request.Test {
    const asked = request(gateway.url)
      .post(at)
      .set('Authorization', `Bearer ${key}`)
      .set('Content-Type', 'application/json');
    return (idempotencyKey === undefined ? asked : asked.set('Idempotency-Key', idempotencyKey)).send(body);
  }

  return {
    store,
    gateway,
    post,
    send: (key: string, body: object | string, idempotencyKey?: string) => post(path, key, body, idempotencyKey),

    balanceOf: (account: AccountId) => balanceOf(store.db, account),

    /** The account's schedules, batches, messages and debits, counted. */
    async tracesOf(account: AccountId): Promise<number> {
      const stored = ['schedules', 'batches', 'messages'].map((name) =>
        store.db.collection(name).countDocuments({ account }),
      );
      const statement = await readStatement(store.db, account, Number.MAX_SAFE_INTEGER, 1_000);
      const debits = statement.filter((entry) => entry.reason === 'send').length;
      return (await Promise.all(stored)).reduce((sum, count) => sum + count, debits);
    },
  };
}
