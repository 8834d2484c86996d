import request from 'supertest';
import { HOUR_MS } from '../../../../shared/messages/statistics.ts';
import { holdCollection, showHeld } from '../../../../shared/messages/traffic/hold.ts';
import { findAccount } from '../../../../shared/money/accounts/store.ts';
import { revokeKey } from '../../../../shared/people/keys/store.ts';
import { type Clock, systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { makeKey, useGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';
import { operatorAtGateway } from '../operators-world.ts';

const TEXT = { message: 'Your code is 1234', sender: 'HARKRA' };
const INDIA = '919876543210';
const DUBAI = '971501234567';

let endMs = Number.POSITIVE_INFINITY;
/** Stops at the end of its first hour, so that no hour or day ends within a test. */
const withinTheHour: Clock = {
  now() {
    const nowMs = systemClock.now().getTime();
    endMs = Math.min(endMs, nowMs - (nowMs % HOUR_MS) + HOUR_MS - 1);
    return new Date(Math.min(nowMs, endMs));
  },
  monotonicMs: () => systemClock.monotonicMs(),
};

describe('limits of an account', () => {
  const world = operatorAtGateway(1_000);
  const still = useGateway(world, { clock: withinTheHour });
  const limited = async (limits: Readonly<Record<string, unknown>>) => {
    const account = await makeAccount(world.db, 100);
    const set = await world.put(`/accounts/${account}/limits`, limits);
    expect(set.status).to.equal(200);
    const key = await makeKey(world.db, account, ['send', 'read', 'manage']);
    const post = (path: string, body: object, by = key) =>
      request(still.url)
        .post(path)
        .set('Authorization', `Bearer ${by}`)
        .send({ ...TEXT, ...body });
    const ask = async (path: string) => (await request(still.url).get(path).set('Authorization', `Bearer ${key}`)).body;
    return { account, key, post, ask };
  };

  it('are set by operators, all at once, audited, and shown with what was spent', async () => {
    const daytime = { from: '00:00', to: '00:00', countries: ['IN', 'AE'] };
    const limits = { spend_per_day: 50, countries: ['IN', 'AE', 'IN'], daytime, brake: 'hold' };
    const { account, post, ask } = await limited(limits);
    expect(await world.lastAudit()).to.deep.include({ action: 'account.limits', account });
    await post('/v2/send', { to: INDIA });

    const shown = await ask('/v2/account/limits');
    expect(shown.day).to.include({ cap: 50, spent: 1 });
    expect(shown.month).to.include({ cap: null, spent: 1 });
    expect(shown).to.deep.include({ countries: ['AE', 'IN'], recipient_per_hour: null, brake: 'hold', keys: [] });
    expect(shown.daytime).to.deep.equal({ ...daytime, countries: ['AE', 'IN'] });
    expect((await world.get(`/accounts/${account}/limits`)).body).to.deep.equal(shown);

    const none = await world.put(`/accounts/${account}/limits`, {});
    expect(none.body.limits).to.deep.include({ countries: null, daytime: null, brake: 'off' });
    expect((await ask('/v2/account/limits')).day).to.include({ cap: null, spent: 1 });
    for (const wrong of [
      { countries: ['XX'] },
      { daytime: { from: '9', to: '21:00' } },
      { daytime: { from: '09:00' } },
    ]) {
      expect((await world.put(`/accounts/${account}/limits`, wrong)).status).to.equal(400);
    }
  });

  it('refuse what goes beyond a spending cap before any debit: sends, batches, schedules and dry runs', async () => {
    const { post, ask } = await limited({ spend_per_day: 3, spend_per_month: 4 });
    const at = { schedule_time: new Date(Date.now() + 3_600_000).toISOString() };
    const over = await post('/v2/send-bulk', { to: [INDIA, DUBAI, '919876543211', '919876543212'] });

    expectProblem(over, 'spend_limit_reached');
    expect(over.body).to.include({ limit: 'account_day', cap: 3, spent: 0 });
    expect((await post('/v2/send-bulk', { to: [INDIA, DUBAI] })).status).to.equal(200);
    expect((await post('/v2/schedule', { to: INDIA, ...at })).status).to.equal(200);
    for (const [path, body] of [
      ['/v2/send', {}],
      ['/v2/send', { dry_run: true }],
      ['/v2/schedule', at],
    ] as const) {
      expectProblem(await post(path, { to: INDIA, ...body }), 'spend_limit_reached');
    }
    expect((await ask('/v2/balance')).balance).to.equal(97);
    expect((await ask('/v2/account/limits')).day.spent).to.equal(3);
  });

  it('make room again when a schedule is cancelled', async () => {
    const { key, post, ask } = await limited({ spend_per_day: 1 });
    const schedule_time = new Date(Date.now() + 3_600_000).toISOString();
    const booked = await post('/v2/schedule', { to: INDIA, schedule_time });

    expectProblem(await post('/v2/send', { to: INDIA }), 'spend_limit_reached');
    const path = `/v2/schedule/${booked.body.schedule_id}`;
    expect((await request(still.url).delete(path).set('Authorization', `Bearer ${key}`)).status).to.equal(200);
    expect((await ask('/v2/account/limits')).day.spent).to.equal(0);
    expect((await post('/v2/send', { to: INDIA })).status).to.equal(200);
  });

  it('refuse recipients in other countries, by the entry', async () => {
    const { post, ask } = await limited({ countries: ['IN'] });

    const one = await post('/v2/send', { to: DUBAI });
    expectProblem(one, 'country_not_allowed');
    expect(one.body).to.include({ limit: 'country' });
    expect(one.body.errors).to.have.lengthOf(1);
    expect(one.body.errors[0]).to.include({ field: 'to', code: 'country_not_allowed' });
    const many = await post('/v2/send-bulk', {
      recipients: [{ to: INDIA }, { to: INDIA }, { to: DUBAI }],
      dedupe: true,
    });
    expect(many.body.errors[0]).to.include({ field: 'recipients[2].to', code: 'country_not_allowed' });
    expect((await post('/v2/send', { to: INDIA })).status).to.equal(200);
    expect((await ask('/v2/balance')).balance).to.equal(99);
  });

  it('let a recipient have only so many messages in an hour, however many ask at once', async () => {
    const { post, ask } = await limited({ recipient_per_hour: 3 });

    const answers = await Promise.all(Array.from({ length: 12 }, () => post('/v2/send', { to: INDIA })));
    expect(answers.filter(({ status }) => status === 200)).to.have.lengthOf(3);
    const refused = answers.find(({ status }) => status === 403);
    expect(refused?.body).to.include({ code: 'recipient_limit_reached', limit: 'recipient' });
    expectProblem(await post('/v2/send', { to: INDIA, dry_run: true }), 'recipient_limit_reached');
    // All or nothing: counts of a refused batch are taken back.
    const mixed = await post('/v2/send-bulk', { to: [DUBAI, DUBAI, INDIA] });
    expect(mixed.body.errors).to.have.lengthOf(1);
    expect(mixed.body.errors[0]).to.include({ field: 'to[2]' });
    expect((await post('/v2/send-bulk', { to: [DUBAI, DUBAI, DUBAI] })).status).to.equal(200);
    expect((await post('/v2/send-bulk', { to: [DUBAI] })).status).to.equal(403);
    expect((await ask('/v2/balance')).balance).to.equal(94);
  });

  it('count nothing for a recipient when the account cannot pay', async () => {
    const { post, account } = await limited({ recipient_per_hour: 1, spend_per_day: 0 });
    expectProblem(await post('/v2/send', { to: INDIA }), 'spend_limit_reached');
    await world.put(`/accounts/${account}/limits`, { recipient_per_hour: 1 });
    expect((await post('/v2/send', { to: INDIA })).status).to.equal(200);
  });

  it('of a key are set by the account; a key with a cap can raise none', async () => {
    const { account, key, ask } = await limited({});
    const free = await makeKey(world.db, account, ['send', 'read', 'manage']);
    const put = (of: string, body: object, by: string) =>
      request(still.url)
        .put(`/v2/account/keys/${of.split('_')[2]}/caps`)
        .set('Authorization', `Bearer ${by}`)
        .send(body);

    const set = await put(key, { spend_per_day: 1 }, free);
    expect(set.body.caps.day).to.include({ cap: 1, spent: 0 });
    const used = await makeKey(world.db, account, ['manage']);
    await put(used, { spend_per_month: 5 }, free);
    expect((await ask('/v2/account/limits')).keys).to.have.lengthOf(2);
    const denied = await put(used, {}, used);
    expectProblem(denied, 'key_beyond_caller');
  });

  it('of keys that are over are forgotten, so that no account grows by ever new ones', async () => {
    const { account, post } = await limited({});
    const owner = await makeKey(world.db, account, ['send', 'read', 'manage']);
    const cap = (of: string) =>
      request(still.url)
        .put(`/v2/account/keys/${of.split('_')[2]}/caps`)
        .set('Authorization', `Bearer ${owner}`)
        .send({ spend_per_day: 5 });
    const lines: (string | undefined)[] = [];
    for (let n = 0; n < 3; n++) {
      if (n > 0) await revokeKey(world.db, lines[n - 1] ?? '');
      const one = await makeKey(world.db, account, ['send']);
      await cap(one).expect(200);
      await post('/v2/send', { to: INDIA }, one).expect(200);
      lines.push(one.split('_')[2]);
    }
    await cap(owner).expect(200);

    expect(Object.keys((await findAccount(world.db, account))?.keysSpent ?? {})).to.deep.equal([lines[2]]);
  });

  describe('with a prefix that is held', () => {
    const held = async () => {
      const one = await limited({ brake: 'hold' });
      const seen = {
        messages: 400,
        portion: 0.6,
        delivered: 0,
        usualMessages: 2,
        usualPortion: 0,
        usualDelivered: 0.9,
      };
      const hold = { account: one.account, prefix: '971501', state: 'held', since: new Date(), seen } as const;
      await holdCollection(world.db).insertOne({ _id: `${one.account}:971501`, ...hold });
      await showHeld(world.db, one.account, { gone: [], come: ['971501'] });
      return one;
    };
    const release = (by: Browser, path: string, prefix: string) =>
      request(still.url).post(`${path}/traffic-holds/${prefix}/release`).set(by.headers).send({ reason: 'our launch' });

    it('refuses its sends, shows why, and accepts them when a person of the account has released it', async () => {
      const { account, post, ask } = await held();
      const owner = await signedIn(world.db, 'owner', account);

      const one = await post('/v2/send', { to: DUBAI });
      expectProblem(one, 'traffic_held');
      expect(one.body.errors[0]).to.include({ field: 'to', code: 'traffic_held' });
      expect((await post('/v2/send', { to: INDIA })).status).to.equal(200);
      const [hold] = (await ask('/v2/account/limits')).holds;
      expect(hold).to.include({ prefix: '971501', country: 'AE', state: 'held', usual_delivered: 0.9 });

      expectProblem(await release(owner, '/v2/account', '9715'), 'hold_not_found');
      const released = await release(owner, '/v2/account', '971501');
      expect(released.status).to.equal(200);
      expect(released.body.hold.released).to.include({ reason: 'our launch', by: `user ${owner.user._id}` });
      expect((await findAccount(world.db, account))?.heldPrefixes).to.deep.equal([]);
    });

    it('is released by operators too, but by no key and by nobody of another account', async () => {
      const { account, key } = await held();
      const stranger = await signedIn(world.db, 'owner', await makeAccount(world.db, 1));

      const path = `/v2/account/traffic-holds/971501/release`;
      const byKey = await request(still.url).post(path).set('Authorization', `Bearer ${key}`).send({ reason: 'mine' });
      expect(byKey.status).to.equal(401);
      expectProblem(await release(stranger, '/v2/account', '971501'), 'hold_not_found');
      const done = await release(world.operator, `/v2/admin/accounts/${account}`, '971501');
      expect(done.body.hold).to.include({ state: 'released' });
      expect(done.body.hold.released).to.include({ by: 'ops' });
      expect(await world.lastAudit()).to.deep.include({ action: 'traffic.release', account });
    });
  });
});
