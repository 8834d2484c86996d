import { expect } from 'chai';
import request from 'supertest';
import type { KeyClaimDocument } from '../../../gateway/idempotency/key-claim.ts';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import { readStatement } from '../../../shared/ledger/statement.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { CUSTOMER, chatAtGateway } from '../../support/chat-gateway.ts';
import { openGateway, type TestGateway } from '../../support/gateway.ts';
import { expectProblem } from '../../support/problem.ts';

const SMS = { message: 'Your code is 1234', sender: 'HARKRA' };
const HOUR_MS = 3_600_000;

/** Each POST of the API, with a body that it accepts and a field whose change makes another request of it. */
const POSTS: Readonly<Record<string, { readonly body: () => object; readonly other: object }>> = {
  '/v2/send': { body: () => ({ ...SMS, to: CUSTOMER }), other: { message: 'another' } },
  '/v2/send-bulk': { body: () => ({ ...SMS, to: [CUSTOMER, '919876543211'] }), other: { message: 'another' } },
  '/v2/schedule': {
    body: () => ({ ...SMS, to: CUSTOMER, schedule_time: new Date(Date.now() + HOUR_MS).toISOString() }),
    other: { message: 'another' },
  },
  '/v2/chatapp/send': {
    body: () => ({ to: CUSTOMER, template: 'order_update', language: 'en_US', params: ['Asha', '7'] }),
    other: { params: ['Asha', '8'] },
  },
  '/v2/chatapp/send-text': { body: () => ({ to: CUSTOMER, message: 'On its way' }), other: { message: 'another' } },
  '/v2/chatapp/send-media': {
    body: () => ({ to: CUSTOMER, type: 'image', url: 'https://example.com/a.png' }),
    other: { url: 'https://example.com/b.png' },
  },
  '/v2/chatapp/send-buttons': {
    body: () => ({ to: CUSTOMER, body: 'Shall we come?', buttons: [{ id: 'yes', title: 'Yes' }] }),
    other: { body: 'Shall we go?' },
  },
  '/v2/chatapp/webhook': {
    body: () => ({ url: 'https://example.com/events', events: ['message.received'] }),
    other: { events: ['message.read'] },
  },
  '/v2/account/opt-outs': { body: () => ({ customer: CUSTOMER }), other: { customer: '919876543211' } },
};
/** Asked by the provider, not by a caller: it has no key of an account, and is repeated by ids of the provider's own. */
const NOT_OF_THE_API = ['/chatapp/callback/:callback'];
/** Whatever a POST could do twice lies in one of these, or in the statement. */
const COLLECTIONS = ['messages', 'batches', 'schedules', 'endpoints', 'conversations', 'opt_outs'];

describe('Idempotency-Key on every POST', () => {
  const chat = chatAtGateway(20);
  let elsewhere: TestGateway;
  beforeEach(async () => {
    await chat.configure();
    await chat.customerWrote();
    elsewhere = await openGateway(chat.db);
  });
  afterEach(() => elsewhere.close());

  const claims = () => chat.db.collection<KeyClaimDocument>('idempotency');
  /** All that there is of the account, but for its keys' claims. */
  async function state(): Promise<object> {
    const { db, account } = chat;
    const found = await Promise.all(COLLECTIONS.map((name) => db.collection(name).find({ account }).toArray()));
    const paid = await db.collection<AccountDocument>('accounts').findOne({ _id: account });
    const statement = await readStatement(db, account, Number.MAX_SAFE_INTEGER, 1_000);
    return { found, statement, balance: paid?.balance };
  }
  /** As if the process that had claimed the key had died; its result has that id. */
  async function orphan(change: Partial<KeyClaimDocument>): Promise<void> {
    const { matchedCount } = await claims().updateOne(
      { _id: { $regex: `^${chat.account}:` } },
      { $set: change, $unset: { answer: '' } },
    );
    expect(matchedCount).to.equal(1);
  }

  it('there is no POST that this test does not know', () => {
    const paths = elsewhere.app.router.stack.flatMap(({ route }) =>
      route?.stack.some(({ method }) => method === 'post') ? [route.path] : [],
    );

    expect(paths.sort()).to.deep.equal([...Object.keys(POSTS), ...NOT_OF_THE_API].sort());
  });

  for (const [path, { body: make, other }] of Object.entries(POSTS)) {
    describe(`POST ${path}`, () => {
      it('again, here and at another gateway: the first answer to the byte, and nothing done', async () => {
        const body = make();
        const first = await chat.post(path, body, 'k');
        const before = await state();

        const again = await chat.post(path, body, 'k');
        const there = await request(elsewhere.url)
          .post(path)
          .set('Authorization', `Bearer ${chat.key}`)
          .set('Idempotency-Key', '"k"')
          .send(body);
        const another = await chat.post(path, { ...body, ...other }, 'k');

        expect(first.status, first.text).to.equal(200);
        expect(first.headers).not.to.have.property('idempotency-replayed');
        for (const replay of [again, there]) {
          expect(replay.status).to.equal(200);
          expect(replay.text).to.equal(first.text);
          expect(replay.headers).to.include({ 'idempotency-replayed': 'true' });
        }
        expectProblem(another, 'idempotency_key_reused');
        expect(await state()).to.deep.equal(before);
      });

      it('a process that died behind what it did: the same key finds it, answered the same, done once', async () => {
        const body = make();
        const first = await chat.post(path, body, 'k');
        const before = await state();
        await orphan({});

        const again = await chat.post(path, body, 'k');
        await orphan({ payBy: new Date(0) });
        const later = await chat.post(path, body, 'k');

        expect(first.status, first.text).to.equal(200);
        for (const replay of [again, later]) {
          expect(replay.text).to.equal(first.text);
          expect(replay.headers).to.include({ 'idempotency-replayed': 'true' });
        }
        expect(await state()).to.deep.equal(before);
      });

      it('a process that died before it did anything: 409 while it might live, then it is done', async () => {
        const body = make();
        await chat.post(path, body, 'k');
        const claim = await claims().findOne({ _id: { $regex: `^${chat.account}:` } });
        const prefix = claim?.result.split('_')[0];
        const dead = (['msg', 'bat', 'sch', 'req'] as const).find((known) => known === prefix) ?? 'req';
        await orphan({ result: newId(dead), payBy: new Date(Date.now() + HOUR_MS) });

        const soon = await chat.post(path, body, 'k');
        await orphan({ payBy: new Date(0) });
        const later = await chat.post(path, body, 'k');
        const replay = await chat.post(path, body, 'k');

        expectProblem(soon, 'idempotency_in_flight');
        expect(later.status, later.text).to.equal(200);
        expect(later.headers).not.to.have.property('idempotency-replayed');
        expect(replay.text).to.equal(later.text);
      });
    });
  }
});
