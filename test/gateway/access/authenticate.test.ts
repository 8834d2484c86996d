import request from 'supertest';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { formatKey, newKeyText } from '../../../shared/people/keys/key.ts';
import { createKey, revokeKey } from '../../../shared/people/keys/store.ts';
import { loadConfig } from '../../../shared/platform/config/settings.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { makeKey, openGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { expectProblem } from '../../support/problem.ts';
import { useStore } from '../../support/store.ts';
import { use } from '../../support/use.ts';

describe('authentication', () => {
  const store = useStore();
  const gateway = use(() => openGateway(store.db, { clock }));
  let account: AccountId;
  const clock = new ManualClock();
  before(async () => {
    account = await makeAccount(store.db, 5);
  });

  function ask(authorization?: string): request.Test {
    const asked = request(gateway.url).get('/v2/balance');
    return authorization === undefined ? asked : asked.set('Authorization', authorization);
  }

  it('lets a good key in, whatever the case of the scheme', async () => {
    const key = await makeKey(store.db, account);

    expect((await ask(`Bearer ${key}`)).status).to.equal(200);
    expect((await ask(`bearer ${key}`)).status).to.equal(200);
  });

  describe('401', () => {
    const missing = [undefined, '', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'hk_live_x', 'Bearer a b'];
    for (const header of missing) {
      it(`key_missing: Authorization ${JSON.stringify(header)}`, async () => {
        const answer = await ask(header);

        expectProblem(answer, 'key_missing');
        expect(answer.headers['www-authenticate']).to.match(/^Bearer/);
      });
    }

    const malformed = [
      'x',
      'hk_live_',
      'hk_live__',
      'null',
      '{"$ne":null}',
      `hk_live_${'0'.repeat(26)}_`,
      'é'.repeat(10),
    ];
    for (const token of malformed) {
      it(`key_invalid: ${token}`, async () => {
        expectProblem(await ask(`Bearer ${token}`), 'key_invalid');
      });
    }

    it('key_invalid: a well-formed key that was never made', async () => {
      expectProblem(await ask(`Bearer ${formatKey(newKeyText(Date.now()))}`), 'key_invalid');
    });

    it('key_invalid: the id of one key with the secret of another', async () => {
      const one = await makeKey(store.db, account);
      const other = await makeKey(store.db, account);
      const mixed = one.slice(0, -64) + other.slice(-64);

      expectProblem(await ask(`Bearer ${mixed}`), 'key_invalid');
      expect((await ask(`Bearer ${one}`)).status).to.equal(200);
    });

    it('key_invalid: a key whose account is gone', async () => {
      const gone = await makeAccount(store.db, 0);
      const key = await makeKey(store.db, gone);
      await store.db.collection<AccountDocument>('accounts').deleteOne({ _id: gone });

      expectProblem(await ask(`Bearer ${key}`), 'key_invalid');
    });

    it('key_expired: from the very moment, also when the key is remembered', async () => {
      const key = await makeKey(store.db, account, ['read'], new Date(clock.now().getTime() + 1_000));

      const before = await ask(`Bearer ${key}`);
      clock.turn(1_000);
      const after = await ask(`Bearer ${key}`);

      expect(before.status).to.equal(200);
      expectProblem(after, 'key_expired');
    });

    it('key_revoked: at the latest when the cache time is over', async () => {
      const { id, key } = await createKey(store.db, systemClock, { account, name: 'x', scopes: ['read'] });
      expect((await ask(`Bearer ${key}`)).status).to.equal(200);
      await revokeKey(store.db, id);

      clock.turn(2_000);

      expectProblem(await ask(`Bearer ${key}`), 'key_revoked');
    });

    it('tells a revoked key only to who has its secret', async () => {
      const { id, key } = await createKey(store.db, systemClock, { account, name: 'x', scopes: ['read'] });
      await revokeKey(store.db, id);
      const guessed = key.slice(0, -64) + '0'.repeat(64);

      expectProblem(await ask(`Bearer ${guessed}`), 'key_invalid');
    });
  });

  it('knows a key that was made after it was first asked for, when the cache time is over', async () => {
    const { id, key } = await createKey(store.db, systemClock, { account, name: 'x', scopes: ['read'] });
    const document = await store.db.collection<{ _id: string }>('keys').findOne({ _id: id });
    await store.db.collection<{ _id: string }>('keys').deleteOne({ _id: id });
    expectProblem(await ask(`Bearer ${key}`), 'key_invalid');

    await store.db.collection<{ _id: string }>('keys').insertOne(document ?? { _id: id });
    clock.turn(2_000);

    expect((await ask(`Bearer ${key}`)).status).to.equal(200);
  });

  it('sees a revocation after 5 seconds at the latest', () => {
    expect(loadConfig({}).keyCacheMs).to.be.at.most(4_000);
  });
});
