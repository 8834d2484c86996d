import request from 'supertest';
import { quantile } from '../../../../gateway/endpoints/statistics/statistics.ts';
import { createCarrier } from '../../../../shared/carriers/carrier-store.ts';
import { raisePeaks } from '../../../../shared/conditions/peaks.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import {
  ALL,
  HOUR_MS,
  type HourDocument,
  hourCollection,
  hourName,
  SECONDS,
} from '../../../../shared/messages/statistics.ts';
import { findAccount } from '../../../../shared/money/accounts/store.ts';
import { type ConversationDocument, recordInbound } from '../../../../shared/money/conversations/conversation.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { HourCounter } from '../../../../workers/maintenance/count-hours.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { NUMBER, TEST_BOX } from '../../../support/chatapp.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { operatorAtGateway } from '../operators-world.ts';

const DAY_MS = 86_400_000;

describe('statistics of an account', () => {
  const site = accountAtGateway(1_000);

  const ask = (path: string, as = site.key) => request(site.url).get(path).set('Authorization', `Bearer ${as}`);
  const count = () => new HourCounter({ db: site.db, clock: systemClock, messageDays: 90, held: () => true }).run();
  const put = (daysAgo: number, overrides: Partial<MessageDocument>) => {
    const at = new Date(Date.now() - daysAgo * DAY_MS);
    const history = [
      { state: 'sent' as const, at },
      { state: 'delivered' as const, at: new Date(at.getTime() + 4_000) },
    ];
    const message = {
      ...makeMessage({ _id: newId('msg', at.getTime()), account: site.account, history }),
      ...overrides,
    };
    return site.db.collection<MessageDocument>('messages').insertOne(message);
  };

  beforeEach(() => site.db.collection('counted_hours').deleteMany({}));

  it('GET /v2/account/statistics: nothing yet', async () => {
    const hourNow = (): string => new Date().toISOString().slice(0, 13);
    const before = hourNow();
    const { status, body } = await ask('/v2/account/statistics');

    expect(status).to.equal(200);
    expect(body).to.deep.include({
      period: '24h',
      step: 'hour',
      counted_at: null,
      total: 0,
      operators: [],
      errors: [],
    });
    expect(body.series).to.have.lengthOf(24);
    expect(body.series.at(-1).at.slice(0, 13)).to.be.oneOf([before, hourNow()]);
  });

  it('GET /v2/account/statistics: states, carriers, errors and credits of each period', async () => {
    await put(0, { state: 'delivered', operator: 'alpha' });
    await put(0, { state: 'failed', operator: 'alpha', errorCode: 'validity_expired' });
    await put(3, { state: 'delivered', operator: 'beta' });
    await put(20, { state: 'queued', history: [] });
    await count();

    const day = (await ask('/v2/account/statistics?period=24h')).body;
    expect(day).to.include({ total: 2, delivered: 1, failed: 1, credits_used: 2 });
    expect(day.counted_at).to.match(/^\d{4}-/);
    expect(day.operators).to.deep.equal([
      {
        operator: 'alpha',
        channel: 'sms',
        ended: 2,
        delivered: 1,
        delivery_rate: 0.5,
        seconds_p50: 4,
        seconds_p95: 4.9,
      },
    ]);
    expect(day.errors[0]).to.include({ error_code: 'validity_expired', messages: 1 });
    expect(day.errors[0].advice).to.be.a('string');
    expect(day.series.at(-1)).to.include({ total: 2, delivered: 1, failed: 1, credits_used: 2 });

    const week = (await ask('/v2/account/statistics?period=7d')).body;
    expect(week).to.include({ total: 3, step: 'hour' });
    expect(week.credits_per_day).to.be.closeTo(1, 0.05); // three credits in three days
    const month = (await ask('/v2/account/statistics?period=30d')).body;
    expect(month).to.include({ total: 4, queued: 1, step: 'day' });
    expect(month.series).to.have.lengthOf(30);
    const sum = month.series.reduce((total: number, step: { total: number }) => total + step.total, 0);
    expect(sum).to.equal(4);
  });

  it('tells of a carrier that is named like the chat-app channel by itself', async () => {
    await put(0, { state: 'delivered', operator: 'chatapp' });
    const { account } = site;
    const read: object = { ...makeMessage({ _id: newId('msg'), account, state: 'read' }), channel: 'chatapp' };
    await site.db.collection('messages').insertOne(read);
    await count();

    const { body } = await ask('/v2/account/statistics');

    expect(
      body.operators.map(({ operator, channel, ended }: Record<string, unknown>) => [operator, channel, ended]),
    ).to.have.deep.members([
      ['chatapp', 'sms', 1],
      ['chatapp', 'chatapp', 1],
    ]);
  });

  it("never another account's", async () => {
    await put(0, { account: await makeAccount(site.db, 0), state: 'delivered', operator: 'theirs' });
    await count();

    expect((await ask('/v2/account/statistics')).body).to.deep.include({ total: 0, operators: [] });
    expect((await ask('/v2/account/overview')).body).to.include({ credits_per_day: 0 });
  });

  it('GET /v2/account/overview: how long the balance lasts, expiry, open sessions', async () => {
    for (let n = 0; n < 10; n++) await put(2, { state: 'delivered', operator: 'alpha' });
    await count();
    const { account } = site;
    await recordInbound(site.db, [
      { account, customer: '919876543210', number: NUMBER, at: new Date() },
      { account, customer: '919876543211', number: NUMBER, at: new Date(Date.now() - 2 * DAY_MS) },
      { account: newId('acc'), customer: '919876543212', number: NUMBER, at: new Date() },
    ]);

    const { body } = await ask('/v2/account/overview');

    expect(body.created_at).to.be.a('string');
    expect(body).to.deep.include({ balance: 1_000, currency: 'INR', expiry_date: '2099-12-31', open_sessions: 1 });
    expect(body.credits_per_day).to.be.closeTo(5, 0.15);
    expect(body.lasts_days).to.be.within(194, 205);
    expect(body.expires_in_days).to.be.greaterThan(20_000);
    expect(body.more_sessions).to.equal(false);
    await site.db.collection<ConversationDocument>('conversations').deleteMany({});
  });

  it('a viewer may look, a key that may only send may not, and unknown parameters are refused', async () => {
    const { headers } = await signedIn(site.db, 'viewer', site.account);
    for (const path of ['/v2/account/overview', '/v2/account/statistics']) {
      expect((await request(site.url).get(path).set(headers)).status).to.equal(200);
      expectProblem(await ask(path, await makeKey(site.db, site.account, ['send'])), 'scope_missing');
      expectProblem(await ask(`${path}?days=3`), 'invalid_request');
    }
    expectProblem(await ask('/v2/account/statistics?period=1y'), 'invalid_request');
  });

  describe('times by class', () => {
    const within = (counts: Readonly<Record<number, number>>): number[] =>
      [...SECONDS, Number.POSITIVE_INFINITY].map((limit) => counts[limit] ?? 0);

    it('lie evenly within their class', () => {
      expect(quantile(within({ 5: 10 }), 0.5)).to.equal(4);
      expect(quantile(within({ 1: 50, 5: 50 }), 0.95)).to.equal(4.8);
      expect(quantile(within({ 1: 100 }), 0.95)).to.equal(1); // rounded
    });

    it('are unknown without any, and begin the last class, which has no end', () => {
      expect(quantile(within({}), 0.5)).to.equal(null);
      expect(quantile(within({ [Number.POSITIVE_INFINITY]: 3 }), 0.5)).to.equal(86_400);
    });
  });
});

describe('GET /v2/admin/charts', () => {
  const world = operatorAtGateway(0);

  it('has a value for each step: what was counted of all accounts, and the highest that was seen of carriers', async () => {
    await createCarrier(world.db, systemClock, TEST_BOX, {
      ...{ _id: 'airtel', name: 'Airtel', host: 'smpp.example.com', port: 2775, systemId: 'harkara' },
      password: 'hunter2!',
    });
    const now = new Date();
    const before = new Date(now.getTime() - HOUR_MS);
    for (const waiting of [7, 60, 3]) await raisePeaks(world.db, before, new Map([['airtel', { waiting, p99: 80 }]]));
    const hour: HourDocument = {
      ...{ _id: `${ALL}:${hourName(before)}`, account: ALL, countedAt: now, credits: 10, conversations: 0, errors: [] },
      ...{ states: { sms: { delivered: 8, rejected: 2, queued: 1 } }, traffic: [], expiresAt: new Date(9e12) },
      operators: [
        { name: 'Airtel', channel: 'sms', ended: 10, delivered: 8, within: [...SECONDS.map(() => 0), 0].with(1, 8) },
      ],
    };
    await hourCollection(world.db).insertOne(hour);

    for (const [period, steps] of [
      ['24h', 24],
      ['7d', 168],
    ] as const) {
      const { body } = await world.get(`/charts?period=${period}`);
      expect(body.times).to.have.length(steps);
      const lastTwo = (values: readonly unknown[]) => values.slice(-2);
      expect(lastTwo(body.messages.delivered)).to.deep.equal([8, 0]);
      expect(lastTwo(body.messages.failed)).to.deep.equal([2, 0]);
      const [operator, ...others] = body.operators;
      expect(others).to.deep.equal([]);
      expect(lastTwo(operator.delivery_rate)).to.deep.equal([0.8, null]);
      expect(operator.seconds_p50.at(-2)).to.be.within(1, 2);
      expect(lastTwo(body.carriers[0].waiting)).to.deep.equal([60, null]);
      expect(lastTwo(body.carriers[0].answer_ms_p99)).to.deep.equal([80, null]);
    }
    const { body } = await world.get('/charts?period=30d');
    expect(body.times).to.have.length(30);
    expect(Math.max(...body.carriers[0].waiting)).to.equal(60);
  });
});

const PATH = '/v2/account/low-balance';

describe('the threshold of a low balance', () => {
  const site = accountAtGateway(10);

  it('is set and removed by who changes settings, read by others, and in the audit', async () => {
    const { headers } = await signedIn(site.db, 'developer', site.account);
    const put = (threshold: unknown) => request(site.url).put(PATH).set(headers).send({ threshold });

    expect((await request(site.url).get(PATH).set(headers).expect(200)).body).to.deep.equal({ threshold: null });
    expect((await put(500).expect(200)).body).to.deep.equal({ threshold: 500 });
    expect(await findAccount(site.db, site.account)).to.include({ lowBalance: 500 });
    const entry = await site.db.collection('audit').findOne({ action: 'account.low-balance' });
    expect(entry).to.deep.include({ before: { threshold: null }, after: { threshold: 500 } });
    expectProblem(await put(-1), 'invalid_request');
    expectProblem(await put(1.5), 'invalid_request');
    expect((await put(0).expect(200)).body).to.deep.equal({ threshold: null });
    expect(await findAccount(site.db, site.account)).not.to.have.property('lowBalance');
    const reader = await makeKey(site.db, site.account, ['read']);
    const auth = { Authorization: `Bearer ${reader}` };
    await request(site.url).get(PATH).set(auth).expect(200);
    expectProblem(await request(site.url).put(PATH).set(auth).send({ threshold: 1 }), 'scope_missing');
  });
});
