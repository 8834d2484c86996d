import request from 'supertest';
import type { DeliveryDocument, DeliveryGroup } from '../../../../shared/events/webhooks/delivery.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { recordInbound, recordMarketing } from '../../../../shared/money/conversations/conversation.ts';
import { marketingStoppedAt, readPerson } from '../../../../shared/money/conversations/person.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { type AccountId, eventId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { eraseNumber } from '../../../../workers/maintenance/erase-number.ts';
import { Died, dyingDb } from '../../../support/dying-db.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeAccount, makeInboundSms, makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { operatorAtGateway } from '../operators-world.ts';

const NUMBER = '919876543210';
const OTHER = '919876543211';
const HOUR_MS = 3_600_000;

describe('a number that is erased', () => {
  const world = operatorAtGateway(100);
  const asAccount = (method: 'get' | 'post', path: string) =>
    request(world.url)[method](path).set('Authorization', `Bearer ${world.key}`);
  const messages = () => world.db.collection<AnyMessage>('messages');
  const ended = (account: AccountId, overrides: Partial<MessageDocument> = {}): MessageDocument => {
    const { due: _, ...message } = makeMessage({
      ...{ account, to: NUMBER, text: 'Dear Asha', reference: 'order 7', state: 'delivered' },
      history: [{ state: 'delivered', at: new Date() }],
    });
    return { ...message, ...overrides };
  };
  const work = (clock: ManualClock, db = world.db) => eraseNumber({ db, clock, messageDays: 90, held: () => true });
  const later = (ms: number) => new ManualClock(new Date(Date.now() + ms));
  const everything = async (): Promise<string> => {
    const texts = [];
    for (const { name } of await world.db.listCollections().toArray()) {
      if (name === 'idempotency') continue; // kept for a day
      texts.push(JSON.stringify(await world.db.collection(name).find().toArray()));
    }
    return texts.join('\n');
  };
  beforeEach(async () => {
    for (const name of ['messages', 'deliveries', 'erasures', 'audit', 'ledger', 'accounts']) {
      if (name !== 'accounts') await world.db.collection(name).deleteMany({});
    }
  });

  it('goes from everything that ended, wherever a process dies, and nothing of others does', async () => {
    const account = await makeAccount(world.db, 5);
    const other = await makeAccount(world.db, 5);
    const mine = ended(world.account);
    const kept = [ended(world.account, { to: OTHER }), ended(other)];
    const inbound = makeInboundSms({
      ...{ account: world.account, from: NUMBER, reference: 'order 7' },
      inbound: { type: 'text', body: 'Call me at home' },
    });
    await messages().insertMany([mine, inbound, ...kept]);
    await world.db
      .collection<{ _id: string }>('verifications')
      .insertMany([
        { ...{ _id: newId('vrf'), account: world.account, to: NUMBER } },
        { ...{ _id: newId('vrf'), account: other, to: OTHER } },
      ]);
    const event = eventId(mine._id, 'delivered');
    const endpoint = newId('whk');
    const body = JSON.stringify({ to: NUMBER });
    const common = { account: world.account, endpoint, state: 'done', attempts: [], createdAt: new Date() } as const;
    await world.db
      .collection<DeliveryDocument>('deliveries')
      .insertOne({ ...common, _id: `${event}:${endpoint}`, eventId: event, event: 'message.delivered', body });
    await world.db.collection<DeliveryGroup>('deliveries').insertOne({
      ...{ ...common, _id: `${event}:${endpoint}:2` },
      items: [
        { eventId: event, event: 'message.delivered', body },
        { eventId: eventId(kept[0]?._id ?? mine._id, 'delivered'), event: 'message.delivered', body: 'theirs' },
      ],
    });

    const file = await asAccount('post', '/v2/account/exports').send({}).expect(200);
    const ofFile = (end = '') => asAccount('get', `/v2/account/exports/${file.body.export_id}${end}`);
    await eventually(async () => (await ofFile()).body.state === 'done', 'the file is made');
    expect((await ofFile('/file')).text).to.include(NUMBER);

    const asked = await asAccount('post', '/v2/account/erasures').send({ number: NUMBER });
    expect(asked.status, JSON.stringify(asked.body)).to.equal(200);
    expect(asked.body).to.include({ state: 'working', number: '9198******10' });
    const audit = await asAccount('get', '/v2/account/audit');
    expect(audit.body.data[0]).to.deep.include({ action: 'customer.erase', after: { number: '9198******10' } });
    let deaths = 0;
    for (let last = 1; ; last++) {
      const died = await work(later(1_000), dyingDb(world.db, last, last % 2 === 0 ? 'after' : 'before')).then(
        () => false,
        (error: unknown) => {
          if (!(error instanceof Died)) throw error;
          return true;
        },
      );
      if (!died) break;
      deaths += 1;
    }
    await work(later(2 * HOUR_MS));

    expect(deaths).to.be.greaterThan(5);
    await ofFile().expect(404);
    expect(await world.db.collection('export_pieces').countDocuments()).to.equal(0);
    const verifications = await world.db.collection('verifications').find().toArray();
    expect(verifications.map((one) => one.account)).to.deep.equal([other]);
    const shown = await asAccount('get', `/v2/messages/${mine._id}`);
    expect(shown.body).to.include({ to: 'erased', status: 'delivered' });
    expect(shown.body).not.to.have.property('reference');
    expect((await asAccount('get', `/v2/messages?to=${NUMBER}`)).body.data).to.deep.equal([]);
    const [erasure] = (await asAccount('get', '/v2/account/erasures')).body.data;
    expect(erasure).to.include({ state: 'done', waiting: 0 });
    const groups = await world.db.collection<DeliveryGroup>('deliveries').findOne({ items: { $exists: true } });
    expect(groups?.items.map((item) => item.body)).to.deep.equal(['{}', 'theirs']);
    await messages().deleteMany({ _id: { $in: kept.map(({ _id }) => _id) } });
    expect(await everything()).not.to.match(/Dear Asha|at home|order 7/);
    expect(await everything()).not.to.include(NUMBER);
    expect(await verifyLedger(world.db, account)).to.deep.include({ balance: 5, problems: [] });
  });

  it('waits for what has not ended', async () => {
    const waiting = makeMessage({ account: world.account, to: NUMBER, text: 'on its way' });
    await messages().insertOne(waiting);
    await asAccount('post', '/v2/account/erasures').send({ number: NUMBER }).expect(200);
    await work(later(1_000));
    const first = (await asAccount('get', '/v2/account/erasures')).body.data[0];
    expect(first).to.include({ state: 'working', waiting: 1, erased: 0 });

    await messages().updateOne({ _id: waiting._id }, { $set: { state: 'delivered' } });
    await work(later(2 * HOUR_MS));

    expect((await asAccount('get', '/v2/account/erasures')).body.data[0]).to.include({ state: 'done', erased: 1 });
  });

  it('goes from all accounts when an operator asks, and the audit does not have it', async () => {
    const others = await Promise.all([makeAccount(world.db, 0), makeAccount(world.db, 0)]);
    await messages().insertMany(others.map((account) => ended(account)));

    const { status, body } = await world.post('/erasures', { number: NUMBER });
    expect(status, JSON.stringify(body)).to.equal(200);
    await work(later(1_000));

    expect((await world.get('/erasures')).body.data[0]).to.include({ state: 'done', erased: 2 });
    expect((await asAccount('get', '/v2/account/erasures')).body.data).to.deep.equal([]);
    expect(await everything()).not.to.include(NUMBER);
  });

  it('stays where the customer wants no marketing, and nothing else of them does', async () => {
    const customer = { account: world.account, customer: NUMBER, at: new Date() };
    await recordInbound(world.db, [{ ...customer, number: '918000000001' }]);
    await recordMarketing(world.db, [{ ...customer, stopped: true }]);
    await asAccount('post', '/v2/account/erasures').send({ number: NUMBER }).expect(200);
    await work(later(1_000));

    expect((await asAccount('get', '/v2/account/erasures')).body.data[0]).to.include({ state: 'done' });
    const { documents } = await readPerson(world.db, world.account, NUMBER);
    expect(marketingStoppedAt({ documents })).to.deep.equal(customer.at);
    expect(Object.keys(documents[0] ?? {})).to.have.members([
      '_id',
      'account',
      'customer',
      'first',
      'keys',
      'marketing',
    ]);
    await world.db.collection('conversations').deleteMany({});
  });

  it('needs a whole number, and at most a hundred wait', async () => {
    const bad = await asAccount('post', '/v2/account/erasures').send({ number: '+91 98' });
    expect(bad.body.errors[0]).to.include({ field: 'number', code: 'invalid_phone' });
    await world.db
      .collection('erasures')
      .insertMany(
        Array.from({ length: 100 }, () => ({ _id: newId('ers') as never, account: world.account, due: new Date() })),
      );
    const full = await asAccount('post', '/v2/account/erasures').send({ number: NUMBER });
    expect(full.body).to.include({ status_code: '4660', quota: 'erasures', limit: 100 });
  });
});
