import request from 'supertest';
import { updateAccount } from '../../../../shared/money/accounts/store.ts';
import { addKeyUses } from '../../../../shared/people/keys/key-use.ts';
import { findKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { expectProblem } from '../../../support/problem.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/keys';
const GOOD = { name: 'shop server', scopes: ['send', 'read'] };

describe('API keys by the API', () => {
  const { site, ask, audit, roleOf } = settingsWorld();
  const create = async (body: object = GOOD) => (await ask('post', PATH, body).expect(200)).body;
  const balance = (key: string) => request(site.url).get('/v2/balance').set('Authorization', `Bearer ${key}`);

  it('makes a key that works, and shows it this once', async () => {
    const { key, key_id, ...shown } = await create({ ...GOOD, allowed_ips: ['127.0.0.9/8', '::1'], per_minute: 900 });

    expect(key).to.match(new RegExp(`^hk_live_${key_id}_`));
    expect(shown).to.include({ status: 'success', name: 'shop server', state: 'active', per_minute: 900 });
    expect(shown.allowed_ips).to.deep.equal(['127.0.0.0/8', '::1']);
    expect(shown.created_by.kind).to.equal('key');
    await balance(key).expect(200);
    const { body } = await ask('get', PATH).expect(200);
    expect(body.data[0]).to.deep.include({ key_id, prefix: `hk_live_${key_id}`, scopes: GOOD.scopes });
    expect(JSON.stringify(body)).not.to.include(key.split('_')[3]);
    expect((await ask('get', `${PATH}/${key_id}`).expect(200)).body).to.deep.equal({
      ...body.data[0],
      descendants: [],
    });
  });

  it('a test key sends and reads at a small rate, whatever who makes it may, and stays one when it is replaced', async () => {
    const test = { ...GOOD, test: true };
    const made = await create(test);

    expect(made).to.deep.include({ prefix: `hk_test_${made.key_id}`, test: true, per_minute: 100 });
    expect((await balance(made.key).expect(200)).body.balance).to.be.above(1_000_000);
    await balance(made.key.replace('hk_test_', 'hk_live_')).expect(401);
    const asTest = (path: string) => request(site.url).get(path).set('Authorization', `Bearer ${made.key}`);
    for (const path of [PATH, '/v2/account/opt-outs', '/v2/account/webhooks'])
      expectProblem(await asTest(path), 'live_key_needed');
    for (const [field, more] of [
      ['scopes', { scopes: ['send', 'manage'] }],
      ['per_minute', { per_minute: 101 }],
    ] as const) {
      const refused = (await ask('post', PATH, { ...test, ...more }).expect(400)).body;
      expect(refused.errors.map((one: { field: string }) => one.field)).to.deep.equal([field]);
    }
    await ask('patch', `${PATH}/${made.key_id}`, { per_minute: 1_000 }).expect(400);
    const next = (await ask('post', `${PATH}/${made.key_id}/rotate`, {}).expect(200)).body;
    expect(next.key).to.match(/^hk_test_/);
    await balance(next.key).expect(200);
  });

  it('answers the same key when the gateway died before it stored the answer', async () => {
    const ask1 = () => ask('post', PATH, GOOD).set('Idempotency-Key', `k-${site.account}`);
    const first = await ask1().expect(200);
    const claims = site.db.collection('idempotency');
    const mine = { action: 'create-key', answer: { $exists: true } };
    await claims.updateMany(mine, { $unset: { answer: '' } });

    const again = await ask1().expect(200);

    expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
    expect(again.body).to.deep.equal(first.body);
    await balance(again.body.key).expect(200);
    const { data } = (await ask('get', PATH).expect(200)).body;
    expect(data.filter(({ name }: { name: string }) => name === GOOD.name)).to.have.length(1);
    expect(JSON.stringify(await claims.find().toArray())).not.to.include(first.body.key.split('_')[3]);
  });

  it('shows when, from where and how often a key was used', async () => {
    const { key_id } = await create();
    await addKeyUses(site.db, [{ key: key_id, at: systemClock.now(), address: '198.51.100.7', requests: 3 }]);

    const { body } = await ask('get', `${PATH}/${key_id}`).expect(200);

    expect(body).to.include({ last_address: '198.51.100.7', requests_24h: 3 });
    expect(body.last_used).to.be.a('string');
  });

  it('lists in pages, newest first, and by state', async () => {
    const made = [(await create()).key_id, (await create()).key_id, (await create()).key_id, (await create()).key_id];
    await ask('delete', `${PATH}/${made[1]}`).expect(200);
    await site.db.collection<{ _id: string }>('keys').updateOne({ _id: made[2] }, { $set: { expiresAt: new Date() } });

    const first = (await ask('get', `${PATH}?limit=2`).expect(200)).body;
    const second = (await ask('get', `${PATH}?limit=2&cursor=${first.next_cursor}`).expect(200)).body;

    const ids = [...first.data, ...second.data].map(({ key_id }) => key_id);
    expect(ids.slice(0, 4)).to.deep.equal([...made].reverse());
    const listed = async (state: string): Promise<string[]> =>
      (await ask('get', `${PATH}?state=${state}`).expect(200)).body.data.map(
        ({ key_id }: { key_id: string }) => key_id,
      );
    expect(await listed('revoked')).to.deep.equal([made[1]]);
    expect(await listed('expired')).to.deep.equal([made[2]]);
    expect(await listed('active'))
      .to.include.members([made[0], made[3]])
      .and.not.include(made[2]);
    expectProblem(await ask('get', `${PATH}?state=old`), 'invalid_request');
    expectProblem(await ask('get', `${PATH}?cursor=x`), 'invalid_request');
  });

  it('changes what is given, and revokes for good', async () => {
    const { key_id } = await create();

    const changed = await ask('patch', `${PATH}/${key_id}`, { name: 'till', allowed_ips: ['203.0.113.7'] }).expect(200);
    expect(changed.body).to.deep.include({ name: 'till', allowed_ips: ['203.0.113.7'], scopes: GOOD.scopes });
    const open = await ask('patch', `${PATH}/${key_id}`, { allowed_ips: [] }).expect(200);
    expect(open.body).to.deep.include({ name: 'till', allowed_ips: null });

    expect((await ask('delete', `${PATH}/${key_id}`).expect(200)).body).to.include({ state: 'revoked' });
    expect((await ask('delete', `${PATH}/${key_id}`).expect(200)).body).to.include({ state: 'revoked' });
    expectProblem(await ask('patch', `${PATH}/${key_id}`, { name: 'x' }), 'key_not_active');
    expectProblem(await ask('post', `${PATH}/${key_id}/rotate`, {}), 'key_not_active');
  });

  it('says of every change who made it, without the secret', async () => {
    const { key_id, key } = await create();
    await ask('patch', `${PATH}/${key_id}`, { name: 'till' }).expect(200);
    await ask('delete', `${PATH}/${key_id}`).expect(200);

    const entries = (await audit()).filter(({ subject }) => subject.id === key_id);

    const byAction = Object.fromEntries(entries.map((entry) => [entry.action, entry]));
    expect(Object.keys(byAction)).to.have.members(['key.create', 'key.update', 'key.revoke']);
    expect(byAction['key.create']?.after).to.include({ name: 'shop server', status: 'active' });
    expect(byAction['key.update']?.before).to.include({ name: 'shop server' });
    expect(byAction['key.update']?.after).to.include({ name: 'till' });
    expect(byAction['key.revoke']?.after).to.include({ status: 'revoked' });
    const text = JSON.stringify(entries);
    expect(text).not.to.include(key.split('_')[3]);
    expect(text).not.to.include((await findKey(site.db, key_id))?.secretHash.toString('hex'));
  });

  it('leaves scopes and open address lists in the audit that were given and taken back at once', async () => {
    const { key_id: id } = await create({ name: 'shop', scopes: ['read'], allowed_ips: ['192.0.2.1'] });
    for (const change of [
      { scopes: ['read', 'send'] },
      { scopes: ['read'] },
      { allowed_ips: [] },
      { allowed_ips: ['192.0.2.1'] },
    ]) {
      await ask('patch', `${PATH}/${id}`, change).expect(200);
    }

    const changes = (await audit()).filter(({ subject, action }) => subject.id === id && action === 'key.update');
    expect(changes.map(({ after }) => after?.scopes)).to.deep.include(['read', 'send']);
    expect(changes.map(({ after }) => after?.allowedIps ?? 'any')).to.include('any');
  });

  it('names every wrong field', async () => {
    const wrong = {
      name: ' ',
      scopes: ['admin:read'],
      per_minute: 1.5,
      allowed_ips: ['10.0.0.0/33'],
      expires_at: 'x',
      more: 1,
    };

    const { body } = await ask('post', PATH, wrong).expect(400);

    const fields = body.errors.map(({ field }: { field: string }) => field);
    expect(fields).to.have.members([...['name', 'scopes[0]', 'per_minute', 'allowed_ips[0]', 'expires_at', 'more']]);
    expectProblem(await ask('post', PATH, { ...GOOD, expires_at: '2020-01-01T00:00:00Z' }), 'invalid_request');
    expectProblem(await ask('post', PATH, { ...GOOD, scopes: [] }), 'invalid_request');
  });

  it('gives no key more requests a minute than the operator allows the account', async () => {
    const developer = await roleOf('developer');
    expectProblem(await ask('post', PATH, { ...GOOD, per_minute: 1_001 }, developer), 'invalid_request');
    await updateAccount(site.db, site.account, { keyPerMinute: 5_000 });

    const { key_id } = (await ask('post', PATH, { ...GOOD, per_minute: 5_000 }, developer).expect(200)).body;

    const change = (body: object) => ask('patch', `${PATH}/${key_id}`, body, developer);
    expectProblem(await change({ per_minute: 5_001 }), 'invalid_request');
    await updateAccount(site.db, site.account, { keyPerMinute: 2_000 });
    // An existing limit above the new maximum stays.
    await change({ per_minute: 5_000, name: 'fast' }).expect(200);
    expectProblem(await change({ per_minute: 4_999 }), 'invalid_request');
  });
});
