import { hash } from '@node-rs/argon2';
import { generate } from 'otplib';
import request from 'supertest';
import { requireConfirmed } from '../../../gateway/access/scopes.ts';
import type { Operation } from '../../../gateway/api/contract.ts';
import type { Role } from '../../../shared/people/users/user.ts';
import { makeKey, type UsedGateway, useGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { operations } from '../../support/openapi.ts';
import { makeOwnThings, pathOf } from '../../support/own-things.ts';
import { expectProblem } from '../../support/problem.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { useStore } from '../../support/store.ts';

const PASSWORD = 'seven purple otters';
const SEED = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const MINUTE_MS = 60_000;
const CONFIRMED = operations.filter(({ operation }) => operation['x-confirmed'] === true);

/** What would outlive a stolen session needs the password again. */
describe('every operation with `x-confirmed`', () => {
  const store = useStore();
  const gateway = useGateway(store);

  const call = (method: string, path: string, headers: Browser['headers'], body: object = {}) => {
    const act = method as 'post' | 'patch' | 'put' | 'delete'; // no GET has the flag
    const sent = request(gateway.url)[act](path).set(headers);
    return act === 'delete' ? sent : sent.send(body);
  };

  /** A user whose session began long ago, with the things that paths name. */
  async function longSignedIn(role: Role) {
    const account = await makeAccount(store.db, 10);
    const { ids } = await makeOwnThings(store.db, account);
    const own = { password: await hash(PASSWORD) };
    const old = { confirmedAt: new Date(Date.now() - 10 * MINUTE_MS) };
    const browser = await signedIn(store.db, role, role === 'operator' ? undefined : account, {
      ...{ user: own, session: old },
    });
    const named: Readonly<Record<string, string>> = { ...ids, account_id: account, carrier_id: 'none' };
    return { ...browser, account, ids: named };
  }

  const confirm = async (headers: Browser['headers'], body: object = {}) =>
    call('post', '/v2/session/confirm', headers, {
      password: PASSWORD,
      code: await generate({ secret: SEED }),
      ...body,
    });

  it('is one whose route says so, and no other', () => {
    expect(CONFIRMED.map(({ method, path }) => `${method} ${path}`)).to.have.members(flaggedRoutes(gateway));
    expect(CONFIRMED).to.have.length.above(20);
    for (const { method, operation } of CONFIRMED) {
      expect(method).not.to.equal('get');
      expect(operation['x-problems']).to.include('confirmation_required');
    }
  });

  for (const { method, path, operation } of CONFIRMED) {
    it(`${method} ${path}: nothing happens in an old session, and it works after the password`, async () => {
      const { headers, ids } = await longSignedIn(path.startsWith('/v2/admin/') ? 'operator' : 'owner');
      const named = ['/v2/admin/users', '/v2/admin/numbers'].includes(path);
      const body = { ...exampleOf(operation), ...(named && { account_id: ids.account_id }) };
      const before = await contents();

      const refused = await call(method, pathOf(path, ids), headers, body);

      expectProblem(refused, 'confirmation_required');
      expect(refused.body.detail).to.include('POST /v2/session/confirm');
      expect(await contents()).to.deep.equal(before);
      expect((await confirm(headers)).status).to.equal(200);
      const again = await call(method, pathOf(path, ids), headers, body);
      expect(again.body.code, JSON.stringify(again.body)).not.to.equal('confirmation_required');
      if (!/\{(carrier_id|route_id|number|prefix)\}|providers\/\{account_id\}\/test/.test(path))
        expect(again.status, JSON.stringify(again.body)).to.equal(200);
    });
  }

  it('takes what signing in takes: the password, and the code of whoever has an app', async () => {
    const { headers, ids } = await longSignedIn('owner');
    const remove = () => call('delete', `/v2/account/users/${ids.user_id}`, headers);

    expectProblem(await confirm(headers, { password: 'wrong wrong' }), 'password_wrong');
    expectProblem(await confirm(headers, { code: undefined }), 'second_factor_missing');
    expectProblem(await confirm(headers, { code: '000000' }), 'second_factor_wrong');
    expectProblem(await remove(), 'confirmation_required');
    const { body } = await confirm(headers);
    expect(new Date(body.confirmed_until).getTime() - Date.now()).to.be.within(9 * MINUTE_MS, 10 * MINUTE_MS);
    await remove().expect(200);
  });

  it('guesses at the password are as few as at sign-in', async () => {
    const { headers } = await longSignedIn('owner');
    for (let i = 1; i <= 5; i++) expectProblem(await confirm(headers, { password: `guess ${i}` }), 'password_wrong');

    expectProblem(await confirm(headers), 'sign_in_limited');
  });

  it('holds in that session alone, and keys are not asked', async () => {
    const { headers, user, account } = await longSignedIn('owner');
    const old = { confirmedAt: new Date(Date.now() - 10 * MINUTE_MS) };
    const other = await signedIn(store.db, 'owner', account, { session: old });
    expect((await confirm(headers)).status).to.equal(200);
    const invite = (as: Browser['headers']) =>
      call('post', '/v2/account/users', as, { username: `x${user._id}@example.com`, role: 'viewer' });

    expectProblem(await invite(other.headers), 'confirmation_required');
    await invite(headers).expect(200);
    const bearer = { Authorization: `Bearer ${await makeKey(store.db, account, ['manage', 'read', 'send'])}` };
    await call('post', '/v2/account/keys', bearer, { name: 'x', scopes: ['send'] }).expect(200);
    expectProblem(await call('post', '/v2/session/confirm', bearer, { password: PASSWORD }), 'session_missing');
  });

  /** Everything stored, except what each request writes. */
  async function contents(): Promise<object> {
    const skipped = new Set(['rate', 'sessions', 'key_uses', 'sign_in_failures', 'processes']);
    const names = (await store.db.listCollections().toArray())
      .map(({ name }) => name)
      .filter((one) => !skipped.has(one));
    const all = names
      .sort()
      .map(async (name) => [name, await store.db.collection(name).find().sort({ _id: 1 }).toArray()]);
    return Object.fromEntries(await Promise.all(all));
  }
});

/** Routes with `requireConfirmed` among their handlers. */
function flaggedRoutes({ app }: UsedGateway): string[] {
  return app.router.stack.flatMap(({ route }) => {
    const path = route?.path.replaceAll(/:(\w+)/g, '{$1}');
    return (route?.stack ?? []).flatMap(
      ({ handle, method }) => ((handle as unknown) === requireConfirmed ? [`${method} ${path}`] : []), // Express's types do not know our context
    );
  });
}

function exampleOf({ requestBody }: Operation): object {
  const [{ value = {} } = {}] = Object.values(requestBody?.content?.['application/json']?.examples ?? {});
  return Object(value);
}
