import request from 'supertest';
import { createSender } from '../../../../shared/carriers/sender.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import type { Clock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { closeAccounts } from '../../../../workers/maintenance/close-accounts.ts';
import { finishPending } from '../../../../workers/maintenance/finish-pending.ts';
import { type PruneDeps, pruneClosed } from '../../../../workers/maintenance/prune.ts';
import { Died, dyingDb } from '../../../support/dying-db.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { operatorAtGateway } from '../operators-world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe('accounts that are closed', () => {
  const world = operatorAtGateway(100);
  const closing = { remaining: 'paid_out', reason: 'Contract ended' };
  const close = (account = world.account) => world.post(`/accounts/${account}/close`, closing);
  const asAccount = (method: 'get' | 'post', path: string) =>
    request(world.url)[method](path).set('Authorization', `Bearer ${world.key}`);
  const send = { to: '919876543210', message: 'hello', sender: 'HARKRA', route: 'transactional' };
  const schedule = async () => {
    const schedule_time = new Date(Date.now() + 30 * DAY_MS).toISOString();
    const { status, body } = await asAccount('post', '/v2/schedule').send({ ...send, schedule_time });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.schedule_id as string;
  };
  const work = async (clock: Clock, db = world.db) => {
    await finishPending(db, clock);
    return closeAccounts(db, clock, () => true);
  };
  const stored = async (account: AccountId) =>
    world.db.collection<AccountDocument>('accounts').findOne({ _id: account });

  it('let nobody in, pay for nothing, and cannot be opened again', async () => {
    const user = await signedIn(world.db, 'owner', world.account);

    const { status, body } = await close();

    expect(status).to.equal(200);
    expect(body.account).to.deep.include({ status: 'closed', balance: 100 });
    expect(body.account.closed).to.include({ ...closing, settled_at: null, erased_at: null });
    expect(await world.lastAudit()).to.deep.include({ action: 'account.close', outcome: 'done' });
    await eventually(async () => (await asAccount('get', '/v2/balance')).status === 401, 'its key is refused');
    await eventually(
      async () => (await request(world.url).get('/v2/session').set(user.headers)).status === 401,
      'its user is out',
    );
    expect((await asAccount('post', '/v2/send').send(send)).status).to.equal(401);
    expect((await close()).body).to.include({ status_code: '4104' });
    const resumed = await world.post(`/accounts/${world.account}/status`, { status: 'active' });
    expect(resumed.status).to.equal(409);
    const credit = { kind: 'top_up', amount: 5, reason: 'Late' };
    expect((await world.post(`/accounts/${world.account}/credits`, credit)).body).to.include({ status_code: '4104' });
    const listed = await world.get('/accounts?status=closed');
    expect(listed.body.data.map(({ account_id }: { account_id: string }) => account_id)).to.include(world.account);
    expect((await world.get('/overview')).body.accounts.held).to.equal(0);
  });

  it('are changed no more, and get nothing', async () => {
    await close();
    const acts: [method: 'put' | 'patch' | 'post' | 'delete', path: string, body: Record<string, unknown>][] = [
      ['patch', '', { name: 'x' }],
      ['put', '/limits', {}],
      ['post', '/traffic-holds/994771/release', { reason: 'Right' }],
      ['put', '/prices', { prices: [] }],
      ['put', '/chains/airtel', { telemarketers: ['1101172974420820002'] }],
      ['delete', '/chains/airtel', {}],
      ['post', '/senders', { sender: 'SHOPIN' }],
      ['post', '/senders/SHOPIN/decision', { decision: 'approved' }],
      ['post', '/opt-ins', { customers: ['919876543210'] }],
      ['delete', '/opt-ins/919876543210', {}],
    ];
    const named = { account_id: world.account };

    for (const [method, path, body] of acts) {
      const answer = await world[method](`/accounts/${world.account}${path}`, body);
      expect(answer.body, path).to.include({ status_code: '4104' });
    }
    for (const [path, body] of [
      ['/users', { username: 'asha@example.com', role: 'owner', ...named }],
      ['/numbers', { number: '919000000001', ...named }],
    ] as const) {
      const { status, body: answer } = await world.post(path, body);
      expect(status).to.equal(400);
      expect(answer.errors[0]).to.include({ field: 'account_id', code: 'invalid_value' });
    }
  });

  it('give back what was booked, and the rest is taken by a line of the statement, wherever a process dies', async () => {
    await signedIn(world.db, 'developer', world.account);
    const webhook = await asAccount('post', '/v2/account/webhooks').send({
      url: 'https://example.com/hook',
      channel: 'sms',
      events: ['message.delivered'],
    });
    expect(webhook.status, JSON.stringify(webhook.body)).to.equal(200);
    const id = await schedule();
    expect((await stored(world.account))?.balance).to.equal(99);
    await close();
    const clock = new ManualClock(new Date(Date.now() + MINUTE_MS));

    let deaths = 0;
    for (let last = 1; ; last++) {
      const when = last % 2 === 0 ? 'after' : 'before';
      const died = await work(clock, dyingDb(world.db, last, when)).then(
        () => false,
        (error: unknown) => {
          if (!(error instanceof Died)) throw error;
          return true;
        },
      );
      if (!died) break;
      deaths += 1;
    }
    expect(deaths).to.be.greaterThan(8);
    for (let rounds = 0; rounds < 3; rounds++) {
      clock.turn(15 * MINUTE_MS);
      await work(clock);
    }

    expect(await verifyLedger(world.db, world.account)).to.deep.include({ balance: 0, problems: [] });
    const lines = await world.get(`/accounts/${world.account}/ledger`);
    expect(lines.body.data[0]).to.include({ amount: -100, reason: 'correction', change_id: 'crd_closing' });
    expect(lines.body.data[0].note).to.match(/paid out/);
    const refunds = lines.body.data.filter(({ reason }: { reason: string }) => reason === 'refund');
    expect(refunds).to.have.length(1);
    expect(refunds[0]).to.include({ amount: 1, reference: id });
    expect((await stored(world.account))?.closed).to.have.property('settledAt');
    expect(await world.db.collection('keys').countDocuments({ account: world.account, status: 'active' })).to.equal(0);
    expect(await world.db.collection('users').findOne({ account: world.account })).to.include({ status: 'disabled' });
    expect(await world.db.collection('endpoints').findOne({ account: world.account })).to.include({
      status: 'disabled',
    });
  });

  it('are settled only when no message of theirs waits any more', async () => {
    await asAccount('post', '/v2/send').send(send).expect(200);
    await close();
    const clock = new ManualClock(new Date(Date.now() + 2 * MINUTE_MS));

    await work(clock);

    expect((await stored(world.account))?.closed).not.to.have.property('settledAt');
    expect((await stored(world.account))?.balance).to.equal(99);
  });

  it('are erased after their time with everything that is theirs, and nothing of others', async () => {
    const other = await makeAccount(world.db, 7);
    for (const account of [world.account, other]) {
      await createSender(world.db, new ManualClock(), { account, sender: 'HARKRA', routes: [], status: 'approved' });
    }
    await close();
    const clock = new ManualClock(new Date(Date.now() + 2 * MINUTE_MS));
    await work(clock);
    clock.turn(400 * DAY_MS);
    const deps: PruneDeps = {
      ...{ db: world.db, clock, log: silentLog, store: 'embedded', held: () => true, onRemoved: () => {} },
      retention: { messages: 90, texts: 90, deliveries: 30, batches: 90, closedAccounts: 401 },
    };
    await pruneClosed(deps);
    expect(await world.db.collection('ledger').countDocuments({ account: world.account })).to.be.greaterThan(0);

    clock.turn(2 * DAY_MS);
    // A statement's last number is never reused, so its account waits for the next.
    const issue = (account: AccountId, serial: number) =>
      world.db
        .collection<object>('statements')
        .insertOne({ _id: `${account}:2026-10`, account, series: '26-27', serial } as object);
    await issue(world.account, 1);
    await pruneClosed(deps);
    expect((await stored(world.account))?.closed).not.to.have.property('erasedAt');
    await issue(other, 2);
    await pruneClosed(deps);

    for (const { name } of await world.db.listCollections().toArray()) {
      if (name === 'accounts') continue;
      const theirs = await world.db.collection(name).countDocuments({ account: world.account });
      expect(theirs, name).to.equal(0);
    }
    expect(await stored(world.account)).to.include({ name: 'erased', status: 'closed', balance: 0, seq: 0 });
    expect(await verifyLedger(world.db, world.account)).to.deep.include({ entries: 0, problems: [] });
    expect(await verifyLedger(world.db, other)).to.deep.include({ balance: 7, problems: [] });
    expect(await world.db.collection('senders').countDocuments({ account: other })).to.equal(1);
    expect((await world.get(`/accounts/${world.account}`)).body.closed.erased_at).not.to.equal(null);
  });
});
