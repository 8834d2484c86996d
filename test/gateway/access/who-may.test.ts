import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import request from 'supertest';
import { ACCOUNT_KEY_SCOPES, OPERATOR_SCOPES } from '../../../shared/people/keys/key.ts';
import { createKey } from '../../../shared/people/keys/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { accountAtGateway } from '../../support/account-gateway.ts';
import { makeKey } from '../../support/gateway.ts';
import { operations } from '../../support/openapi.ts';
import { signedIn } from '../../support/signed-in.ts';
import { ROOT } from '../../support/sources.ts';

/** Operations below /v2/admin/; routes and document come from the same list. */
const OPERATORS = operations.filter(({ path }) => path.startsWith('/v2/admin/'));
const METHODS = ['get', 'delete', 'patch', 'post', 'put'] as const;

/** The roles with these scopes, as a refusal names them. */
function rolesFor(scope = ''): string {
  if (scope === 'admin:read') return 'operator_viewer, operator_support or operator';
  if (scope === 'admin:look') return 'operator_desk, operator_support or operator';
  if (scope === 'admin:read, or admin:look') return 'operator_viewer, operator_support, operator or operator_desk';
  return scope === 'admin:support' ? 'operator_support or operator' : 'operator';
}

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
    const scopes = ACCOUNT_KEY_SCOPES;
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
      scopes: [...OPERATOR_SCOPES, 'read'],
    });

    for (const { method, path } of OPERATORS) {
      const { status } = await ask(method, path, { Authorization: `Bearer ${key}` });
      expect(status, `${method} ${path}`).to.equal(403);
    }
  });

  for (const role of ['owner', 'developer', 'sender', 'viewer'] as const) {
    it(`no ${role}, who is told which role may`, async () => {
      const { headers } = await signedIn(world.db, role, world.account);

      for (const { method, path, operation } of OPERATORS) {
        const { status, body } = await ask(method, path, headers);
        expect({ status, detail: body.detail }, `${method} ${path}`).to.deep.equal({
          status: 403,
          detail: `Your role is ${role}. That takes the role ${rolesFor(operation['x-scope'])}.`,
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

  for (const has of OPERATOR_SCOPES) {
    it(`a key with ${has} alone does what asks for that alone`, async () => {
      const bearer = { Authorization: `Bearer ${await makeKey(world.db, undefined, [has])}` };

      for (const { method, path, operation } of OPERATORS.filter((one) => !one.path.endsWith('/stream'))) {
        const may = operation['x-scope']?.split(', or ').includes(has) === true;
        const { status, body } = await ask(method, path, bearer);
        expect(status === 403 && body.code === 'scope_missing', `${method} ${path}`).to.equal(!may);
      }
    });
  }

  it('a field that needs another scope too is refused without that, and roles.md says so', async () => {
    const fields = OPERATORS.flatMap(({ method, path, operation }) =>
      Object.entries(operation['x-field-scopes'] ?? {}).map(([field, more]) => ({
        method,
        path,
        operation,
        field,
        more,
      })),
    );
    const page = readFileSync(join(ROOT, 'docs/roles.md'), 'utf8');

    expect(fields.map(({ field }) => field)).to.deep.equal(['expiry_date']);
    for (const { method, path, operation, field, more } of fields) {
      const alone = OPERATOR_SCOPES.filter((scope) => scope === operation['x-scope']);
      const bearer = { Authorization: `Bearer ${await makeKey(world.db, undefined, alone)}` };
      const { body } = await ask(method, path, bearer).send({ [field]: '2099-12-31' });
      expect(body, path).to.deep.include({ code: 'scope_missing' });
      expect(body.detail).to.include(`"${more}"`);
      expect(page).to.include(`${field} (${more} too)`);
    }
  });

  it('credits that have expired are not spent again by who has support alone', async () => {
    const path = `/v2/admin/accounts/${world.account}`;
    const change = (headers: Readonly<Record<string, string>>, body: object) =>
      request(world.url).patch(path).set(headers).send(body);
    const support = await signedIn(world.db, 'operator_support');
    const { headers } = await signedIn(world.db, 'operator');

    const refused = await change(support.headers, { expiry_date: '2099-12-31' });
    expect({ status: refused.status, detail: refused.body.detail }).to.deep.equal({
      status: 403,
      detail: 'Your role is operator_support. That takes the role operator.',
    });
    await change(support.headers, { name: 'Renamed' }).expect(200);
    await change(headers, { expiry_date: '2099-12-31' }).expect(200);
  });

  it('nobody lets in, keeps out or signs out an operator who may do more', async () => {
    const support = await signedIn(world.db, 'operator_support');
    const [all, viewer] = [await signedIn(world.db, 'operator'), await signedIn(world.db, 'operator_viewer')];
    const status = (id: string, to: string, headers = support.headers) =>
      request(world.url).post(`/v2/admin/users/${id}/status`).set(headers).send({ status: to });
    const signOut = (id: string) => request(world.url).delete(`/v2/admin/users/${id}/sessions`).set(support.headers);

    for (const answer of [
      await status(all.user._id, 'disabled'),
      await status(all.user._id, 'active'),
      await signOut(all.user._id),
    ]) {
      expect({ status: answer.status, code: answer.body.code }).to.deep.equal({ status: 403, code: 'scope_missing' });
    }
    await signOut(viewer.user._id).expect(200);
    await status(viewer.user._id, 'disabled').expect(200);
    await status(support.user._id, 'disabled', all.headers).expect(200);
  });

  it('operators and their keys; but these have no account, so nothing of an account takes them that does not name one', async () => {
    const { headers } = await signedIn(world.db, 'operator');
    const bearer = { Authorization: `Bearer ${await makeKey(world.db, undefined, OPERATOR_SCOPES)}` };
    const ofAccounts = operations.filter(
      (one) => one.path.startsWith('/v2/') && !OPERATORS.includes(one) && !one.operation.tags.includes('Sign-in'),
    );

    expect((await ask('get', '/v2/admin/accounts', headers)).status).to.equal(200);
    expect((await ask('get', '/v2/admin/accounts', bearer)).status).to.equal(200);
    expect(ofAccounts).to.have.length.above(20);
    for (const { method, path, operation } of ofAccounts) {
      for (const who of [headers, bearer]) {
        const { status, body } = await ask(method, path, who);
        const isNamed = /admin:(look|support)/.test(operation['x-scope'] ?? '');
        const refused = isNamed ? { status: 400, code: 'account_not_named' } : { status: 403, code: 'scope_missing' };
        expect({ status, code: body.code }, `${method} ${path}`).to.deep.equal(refused);
      }
    }
  });
});
