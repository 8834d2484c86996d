import type { KeyScope } from '../../../../shared/people/keys/key.ts';
import { createKey, findKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/keys';

describe('API keys: who may do what', () => {
  const { site, ask, keyWith, roleOf } = settingsWorld();
  const create = async (scopes: readonly KeyScope[], account = site.account) =>
    (await createKey(site.db, systemClock, { account, name: 'thing', scopes })).id;

  it('nobody gives a key what they may not do themselves', async () => {
    const manage = await keyWith(['manage']);

    expectProblem(await ask('post', PATH, { name: 'x', scopes: ['manage', 'send'] }, manage), 'scope_missing');
    expectProblem(await ask('post', PATH, { name: 'x', scopes: ['admin:read'] }, manage), 'invalid_request');
    const { body } = await ask('post', PATH, { name: 'x', scopes: ['manage'] }, manage).expect(200);
    expectProblem(await ask('patch', `${PATH}/${body.key_id}`, { scopes: ['read'] }, manage), 'scope_missing');
  });

  it('nobody changes, replaces or revokes a key that may do more', async () => {
    const manage = await keyWith(['manage']);
    const sending = await create(['send']);

    // The new secret would let the caller send.
    expectProblem(await ask('post', `${PATH}/${sending}/rotate`, {}, manage), 'scope_missing');
    expectProblem(await ask('patch', `${PATH}/${sending}`, { allowed_ips: [] }, manage), 'scope_missing');
    expectProblem(await ask('patch', `${PATH}/${sending}`, { scopes: ['manage'] }, manage), 'scope_missing');
    expectProblem(await ask('delete', `${PATH}/${sending}`, undefined, manage), 'scope_missing');
    expect(await findKey(site.db, sending)).to.include({ status: 'active' });
    await ask('delete', `${PATH}/${await create(['manage'])}`, undefined, manage).expect(200);
  });

  it('an Idempotency-Key tells the text of a key again only to who may make that key', async () => {
    const manage = await keyWith(['manage']);
    const old = await create(['send']);
    const wants = [
      [PATH, { name: 'shop', scopes: ['send', 'read'] }],
      [`${PATH}/${old}/rotate`, {}],
    ] as const;
    for (const [path, body] of wants) {
      const asked = (headers?: Record<string, string>) => ask('post', path, body, headers).set('Idempotency-Key', path);
      const first = await asked().expect(200);
      expectProblem(await asked(manage), 'scope_missing');

      // As if the gateway had died before it stored its answer.
      await site.db.collection('idempotency').updateMany({}, { $unset: { answer: 1 } });
      expectProblem(await asked(manage), 'scope_missing');
      expect((await asked().expect(200)).body.key).to.equal(first.body.key);
    }
  });

  it('owners and developers manage keys, senders and viewers look at them', async () => {
    const key = await create(['send']);
    for (const role of ['owner', 'developer'] as const) {
      const { body } = await ask('post', PATH, { name: role, scopes: ['otp', 'manage'] }, await roleOf(role)).expect(
        200,
      );
      expect(body.created_by.kind).to.equal('user');
    }
    for (const role of ['sender', 'viewer'] as const) {
      const headers = await roleOf(role);
      await ask('get', PATH, undefined, headers).expect(200);
      await ask('get', `${PATH}/${key}`, undefined, headers).expect(200);
      expectProblem(await ask('post', PATH, { name: 'x', scopes: ['read'] }, headers), 'scope_missing');
      expectProblem(await ask('patch', `${PATH}/${key}`, { name: 'x' }, headers), 'scope_missing');
      expectProblem(await ask('delete', `${PATH}/${key}`, undefined, headers), 'scope_missing');
      expectProblem(await ask('post', `${PATH}/${key}/rotate`, {}, headers), 'scope_missing');
    }
    expect(await findKey(site.db, key)).to.include({ status: 'active', name: 'thing' });
  });

  it('keys of another account and of operators are as unknown as those that do not exist', async () => {
    const unknown = '0'.repeat(26);
    const operators = await createKey(site.db, systemClock, { name: 'thing', scopes: ['admin:read'] });
    const ids = [await create(['send'], await makeAccount(site.db, 1)), operators.id, unknown, 'x'];

    for (const id of ids) {
      const answers = [
        await ask('get', `${PATH}/${id}`),
        await ask('patch', `${PATH}/${id}`, { name: 'mine' }),
        await ask('delete', `${PATH}/${id}`),
        await ask('post', `${PATH}/${id}/rotate`, {}),
      ];
      for (const answer of answers) expectProblem(answer, 'key_not_found');
      const bodies = answers.map(({ body }) => ({ ...body, request_id: '' }));
      expect(bodies).to.deep.equal(bodies.map(() => bodies[0]));
    }
    for (const id of ids.slice(0, 2))
      expect(await findKey(site.db, id)).to.include({ status: 'active', name: 'thing' });
    const { body } = await ask('get', PATH).expect(200);
    const shown = body.data.map(({ key_id }: { key_id: string }) => key_id);
    expect(ids.filter((id) => shown.includes(id))).to.deep.equal([]);
  });
});
