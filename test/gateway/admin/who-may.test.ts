import { expect } from 'chai';
import request from 'supertest';
import { KEY_SCOPES } from '../../../shared/keys/key.ts';
import { createKey } from '../../../shared/keys/store.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { accountAtGateway } from '../../support/account-gateway.ts';
import { makeKey } from '../../support/gateway.ts';
import { operations } from '../../support/openapi.ts';
import { signedIn } from '../../support/signed-in.ts';

/** The operations of docs/openapi.json below /v2/admin/. test/gateway/docs/contract.test.ts proves that they are exactly the routes. */
const OPERATORS = operations.filter(({ path }) => path.startsWith('/v2/admin/'));
const METHODS = ['get', 'delete', 'patch', 'post', 'put'] as const;

describe('who may use /v2/admin/…', () => {
  const world = accountAtGateway(10);

  function ask(method: string, path: string, headers: Readonly<Record<string, string>>): request.Test {
    const known = METHODS.find((one) => one === method);
    if (known === undefined) throw new Error(`a test for ${method}`);
    const test = request(world.url)
      [known](path.replaceAll(/\{account_id\}/g, world.account))
      .set(headers);
    return known === 'get' || known === 'delete' ? test : test.send({});
  }

  it('no key of an account, whatever its scopes', async () => {
    const scopes = KEY_SCOPES.filter((scope) => scope !== 'admin');
    const bearer = { Authorization: `Bearer ${await makeKey(world.db, world.account, scopes)}` };

    expect(OPERATORS).to.have.length.above(20);
    for (const { method, path } of OPERATORS) {
      const { status, body } = await ask(method, path, bearer);
      expect({ status, code: body.code }, `${method} ${path}`).to.deep.equal({ status: 403, code: 'scope_missing' });
    }
  });

  it('no key of an account that has the scope by mistake: the store is not believed', async () => {
    const { key } = await createKey(world.db, systemClock, {
      account: world.account,
      name: 'forged',
      scopes: ['admin', 'read'],
    });

    for (const { method, path } of OPERATORS) {
      const { status } = await ask(method, path, { Authorization: `Bearer ${key}` });
      expect(status, `${method} ${path}`).to.equal(403);
    }
  });

  for (const role of ['owner', 'developer', 'sender', 'viewer'] as const) {
    it(`no ${role}, who is told which role may`, async () => {
      const { headers } = await signedIn(world.db, role, world.account);

      for (const { method, path } of OPERATORS) {
        const { status, body } = await ask(method, path, headers);
        expect({ status, detail: body.detail }, `${method} ${path}`).to.deep.equal({
          status: 403,
          detail: `Your role is ${role}. That takes the role operator.`,
        });
      }
    });
  }

  it('nobody without a key or a session', async () => {
    for (const { method, path } of OPERATORS) {
      expect((await ask(method, path, {})).status, `${method} ${path}`).to.equal(401);
    }
  });

  it('no operator without a second factor', async () => {
    const { headers, session } = await signedIn(world.db, 'operator');
    const sessions = world.db.collection<{ _id: string }>('sessions');
    await sessions.updateOne({ _id: session._id }, { $unset: { factor: '' } });

    for (const { method, path } of OPERATORS) {
      expect((await ask(method, path, headers)).status, `${method} ${path}`).to.equal(403);
    }
  });

  it('operators and their keys; but these have no account, so nothing of an account takes them', async () => {
    const { headers } = await signedIn(world.db, 'operator');
    const bearer = { Authorization: `Bearer ${await makeKey(world.db, undefined, ['admin'])}` };
    const ofAccounts = operations.filter(
      (one) => one.path.startsWith('/v2/') && !OPERATORS.includes(one) && !one.operation.tags.includes('Sign-in'),
    );

    expect((await ask('get', '/v2/admin/accounts', headers)).status).to.equal(200);
    expect((await ask('get', '/v2/admin/accounts', bearer)).status).to.equal(200);
    expect(ofAccounts).to.have.length.above(20);
    for (const { method, path } of ofAccounts) {
      for (const who of [headers, bearer]) {
        const { status, body } = await ask(method, path, who);
        expect({ status, code: body.code }, `${method} ${path}`).to.deep.equal({ status: 403, code: 'scope_missing' });
      }
    }
  });
});
