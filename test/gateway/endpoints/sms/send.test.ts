import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import request from 'supertest';
import { createSender } from '../../../../shared/carriers/sender.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { setAccountStatus } from '../../../../shared/money/accounts/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId, MessageId } from '../../../../shared/platform/runtime/ids.ts';
import { makeKey, openGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectFieldRefusal, expectProblem } from '../../../support/problem.ts';
import { smsWorld } from './world.ts';

const GOOD = { to: '919876543210', message: 'Your code is 1234', sender: 'HARKRA', route: 'transactional' };

describe('POST /v2/send', () => {
  const { store, send, balanceOf, tracesOf } = smsWorld('/v2/send');

  describe('200', () => {
    it('answers exactly the five fields, stores the message and charges one credit', async () => {
      const account = await makeAccount(store.db, 5);
      const key = await makeKey(store.db, account);

      const answer = await send(key, GOOD);

      expect(answer.status).to.equal(200);
      const id: MessageId = answer.body.message_id;
      expect(answer.body).to.deep.equal({
        status: 'success',
        message_id: id,
        to: GOOD.to,
        status_code: '1000',
        credits_used: 1,
      });
      expect(id).to.match(/^msg_[0-9a-z]{26}$/);
      const message = await store.db.collection<{ _id: MessageId }>('messages').findOne({ _id: id });
      expect(message).to.include({
        account,
        to: GOOD.to,
        sender: GOOD.sender,
        route: 'transactional',
        path: 'transactional',
        lane: 1,
        text: GOOD.message,
        encoding: 'GSM7',
        segments: 1,
        state: 'queued',
      });
      expect(await balanceOf(account)).to.equal(4);
    });

    it('takes a body without route as transactional', async () => {
      const key = await makeKey(store.db, await makeAccount(store.db, 1));
      const { route: _, ...body } = GOOD;

      const answer = await send(key, body);

      const id: MessageId = answer.body.message_id;
      const message = await store.db.collection<{ _id: MessageId }>('messages').findOne({ _id: id });
      expect(message).to.include({ route: 'transactional', lane: 1 });
    });

    it('puts promotional messages in the lane behind', async () => {
      const key = await makeKey(store.db, await makeAccount(store.db, 1));

      const answer = await send(key, { ...GOOD, route: 'promotional' });

      const id: MessageId = answer.body.message_id;
      const message = await store.db.collection<{ _id: MessageId }>('messages').findOne({ _id: id });
      expect(message).to.include({ path: 'promotional', lane: 3 });
    });

    it('gives a message the configured time to live', async () => {
      const key = await makeKey(store.db, await makeAccount(store.db, 1));
      const before = Date.now();

      const answer = await send(key, GOOD);

      const id: MessageId = answer.body.message_id;
      const message = await store.db.collection<{ _id: MessageId; validUntil: Date }>('messages').findOne({ _id: id });
      const hours = ((message?.validUntil.getTime() ?? 0) - before) / 3_600_000;
      expect(hours).to.be.within(48, 48.1);
    });

    const texts: readonly [string, string, string, number][] = [
      ['Hindi', 'नमस्ते, आपका कोड 1234 है', 'UCS2', 1],
      ['three GSM segments', 'a'.repeat(400), 'GSM7', 3],
      ['ten segments, the most', 'a'.repeat(1530), 'GSM7', 10],
      ['emoji', '😀'.repeat(35), 'UCS2', 1],
      ['a NUL character', 'a\0b', 'UCS2', 1],
    ];
    for (const [what, text, encoding, segments] of texts) {
      it(`charges one credit whatever the length: ${what}`, async () => {
        const account = await makeAccount(store.db, 3);
        const key = await makeKey(store.db, account);

        const answer = await send(key, { ...GOOD, message: text });

        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        const id: MessageId = answer.body.message_id;
        const message = await store.db.collection<{ _id: MessageId }>('messages').findOne({ _id: id });
        expect(message).to.include({ text, encoding, segments });
        expect(await balanceOf(account)).to.equal(2);
      });
    }

    it('gives each of many requests at the same time its own message', async () => {
      const account = await makeAccount(store.db, 50);
      const key = await makeKey(store.db, account);

      const answers = await Promise.all(Array.from({ length: 40 }, () => send(key, GOOD)));

      expect(answers.map((answer) => answer.status)).to.deep.equal(Array.from({ length: 40 }, () => 200));
      expect(new Set(answers.map((answer) => answer.body.message_id)).size).to.equal(40);
      expect(await balanceOf(account)).to.equal(10);
    });
  });

  describe('403', () => {
    it('insufficient_credits: charges and stores nothing', async () => {
      const account = await makeAccount(store.db, 0);
      const key = await makeKey(store.db, account);

      const answer = await send(key, GOOD);

      expectProblem(answer, 'insufficient_credits');
      expect(answer.body.detail).to.equal(
        'This request needs 1 credit, but the balance is 0. Buy credits, then send the request again.',
      );
      expect(await balanceOf(account)).to.equal(0);
      expect(await tracesOf(account)).to.equal(0);
    });

    it('spends the last credit once, however many ask for it at the same time', async () => {
      const account = await makeAccount(store.db, 3);
      const key = await makeKey(store.db, account);

      const answers = await Promise.all(Array.from({ length: 10 }, () => send(key, GOOD)));

      expect(answers.filter((answer) => answer.status === 200)).to.have.length(3);
      for (const answer of answers) if (answer.status !== 200) expectProblem(answer, 'insufficient_credits');
      expect(await balanceOf(account)).to.equal(0);
    });

    it('account_suspended', async () => {
      const account = await makeAccount(store.db, 5);
      const key = await makeKey(store.db, account);
      await setAccountStatus(store.db, account, 'suspended');

      const answer = await send(key, GOOD);

      expectProblem(answer, 'account_suspended');
      expect(await balanceOf(account)).to.equal(5);
      expect(await tracesOf(account)).to.equal(0);
    });

    it('credits_expired', async () => {
      const account = await makeAccount(store.db, 5, { expiryDate: '2020-01-31' });
      const key = await makeKey(store.db, account);

      const answer = await send(key, GOOD);

      expectProblem(answer, 'credits_expired');
      expect(answer.body.detail).to.include('2020-01-31');
      expect(await balanceOf(account)).to.equal(5);
      expect(await tracesOf(account)).to.equal(0);
    });

    it('scope_missing: otp is for keys that have the scope', async () => {
      const account = await makeAccount(store.db, 5);

      const answer = await send(await makeKey(store.db, account, ['send']), { ...GOOD, priority: 'otp' });

      expectProblem(answer, 'scope_missing');
      expect(answer.body.detail).to.include('"otp"');
      expect(await tracesOf(account)).to.equal(0);
    });

    it('scope_missing: a key that may only read does not send', async () => {
      const account = await makeAccount(store.db, 5);

      const answer = await send(await makeKey(store.db, account, ['read']), GOOD);

      expectProblem(answer, 'scope_missing');
      expect(answer.body.detail).to.include('"send"');
      expect(await tracesOf(account)).to.equal(0);
    });
  });

  it('answers 400 or 403, stores and charges nothing, whatever JSON it is sent', async () => {
    const account = await makeAccount(store.db, 0);
    const key = await makeKey(store.db, account);
    const field = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[1-9][0-9]{7,14}$/));
    const bodies = fc.oneof(
      fc.record({ to: field, message: field, sender: field, route: field }, { requiredKeys: [] }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue(),
    );

    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const answer = await send(key, JSON.stringify(body));
        expect(answer.status).to.be.oneOf([400, 403]);
        expectProblem(answer, answer.body.code);
      }),
      { numRuns: 200 },
    );

    expect(await tracesOf(account)).to.equal(0);
  });

  describe('503', () => {
    it('store_unavailable with Retry-After when the store cannot be asked', async () => {
      // Port 1 of this machine: nothing listens there.
      const away = new MongoClient('mongodb://127.0.0.1:1/', { serverSelectionTimeoutMS: 100 });
      const cutOff = await openGateway(away.db('none'));

      const answer = await request(cutOff.url)
        .post('/v2/send')
        .set('Authorization', `Bearer ${await makeKey(store.db, await makeAccount(store.db, 1))}`)
        .send(GOOD);

      expectProblem(answer, 'store_unavailable');
      expect(answer.headers['retry-after']).to.match(/^\d+$/);
      await cutOff.close();
      await away.close();
    });
  });

  describe('a dry run', () => {
    const dry = { ...GOOD, dry_run: true };

    it('says what it would take, stores nothing and charges nothing', async () => {
      const account = await makeAccount(store.db, 5);

      const answer = await send(await makeKey(store.db, account), { ...dry, message: 'नमस्ते '.repeat(12) });

      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({
        status: 'success',
        dry_run: true,
        credits_used: 0,
        credits_required: 1,
        segments: 2,
        encoding: 'UCS2',
        units: 84,
        unicode_characters: ['न', 'म', 'स', '्', 'त', 'े'],
        template_id: null,
      });
      expect(await tracesOf(account)).to.equal(0);
      expect(await balanceOf(account)).to.equal(5);
    });

    const refusals: readonly [string, number, Partial<AccountDocument>][] = [
      ['insufficient_credits', 0, {}],
      ['account_suspended', 5, { status: 'suspended' }],
      ['credits_expired', 5, { expiryDate: '2020-01-31' }],
      ['sender_not_allowed', 5, { senders: 'registered' }],
    ];
    for (const [slug, credits, overrides] of refusals) {
      it(`is refused as the real thing would be: ${slug}`, async () => {
        const account = await makeAccount(store.db, credits, overrides);
        const key = await makeKey(store.db, account);

        const dryAnswer = await send(key, dry);
        const real = await send(key, GOOD);

        expect(dryAnswer.body.code).to.equal(slug);
        const { request_id: _a, ...told } = dryAnswer.body;
        const { request_id: _b, ...toldInEarnest } = real.body;
        expect(told).to.deep.equal(toldInEarnest);
      });
    }
  });

  describe('an account with registered senders only', () => {
    let account: AccountId;
    let key: string;
    before(async () => {
      account = await makeAccount(store.db, 5, { senders: 'registered' });
      key = await makeKey(store.db, account);
      const routes = ['transactional'] as const;
      await createSender(store.db, systemClock, { account, sender: 'GOOD', routes, status: 'approved' });
      await createSender(store.db, systemClock, { account, sender: 'WAITING', routes, status: 'submitted' });
      const other = await makeAccount(store.db, 5);
      await createSender(store.db, systemClock, { account: other, sender: 'OTHER', routes, status: 'approved' });
    });

    it('sends as an approved sender', async () => {
      expect((await send(key, { ...GOOD, sender: 'GOOD' })).status).to.equal(200);
    });

    const refused: readonly [string, object][] = [
      ['an unknown sender', { sender: 'NOBODY' }],
      ['a sender that is not approved yet', { sender: 'WAITING' }],
      ["another account's sender", { sender: 'OTHER' }],
      ['another spelling', { sender: 'Good' }],
      ['another route than it is registered for', { sender: 'GOOD', route: 'promotional' }],
    ];
    for (const [what, body] of refused) {
      it(`sender_not_allowed: ${what}`, async () => {
        const before = await tracesOf(account);

        const answer = await send(key, { ...GOOD, ...body });

        expectFieldRefusal(answer, 'sender_not_allowed', 'sender');
        expect(await tracesOf(account)).to.equal(before);
      });
    }
  });
});
