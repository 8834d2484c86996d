import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import request from 'supertest';
import type { ProblemSlug } from '../../../../gateway/http/problem.ts';
import { createSender } from '../../../../shared/carriers/sender.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import type { KeyScope } from '../../../../shared/people/keys/key.ts';
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
      // Nothing listens on port 1.
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

    const refusals: readonly [ProblemSlug, number, Partial<AccountDocument>, RegExp?][] = [
      ['insufficient_credits', 0, {}],
      ['account_suspended', 5, { status: 'suspended' }],
      ['credits_expired', 5, { expiryDate: '2020-01-31' }, /2020-01-31/],
      ['sender_not_allowed', 5, { senders: 'registered' }],
    ];
    for (const [slug, credits, overrides, detail = /./] of refusals) {
      it(`is refused as the real thing would be: ${slug}`, async () => {
        const account = await makeAccount(store.db, credits, overrides);
        const key = await makeKey(store.db, account);

        const dryAnswer = await send(key, dry);
        const real = await send(key, GOOD);

        expectProblem(real, slug);
        expect(real.body.detail).to.match(detail);
        expect(await balanceOf(account)).to.equal(credits);
        expect(await tracesOf(account)).to.equal(0);
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

const daysAhead = (days: number): string => new Date(Date.now() + days * 24 * 3_600_000).toISOString();

describe('POST /v2/send: its fields', () => {
  const { store, gateway, send, balanceOf, tracesOf } = smsWorld('/v2/send');

  describe('400', () => {
    let account: AccountId;
    let key: string;
    before(async () => {
      account = await makeAccount(store.db, 5);
      key = await makeKey(store.db, account);
    });
    afterEach('stores nothing and charges nothing', async () => {
      expect(await tracesOf(account)).to.equal(0);
      expect(await balanceOf(account)).to.equal(5);
    });

    /** What is wrong, the body, and the problems as `field code`, in any order. */
    const without = (field: keyof typeof GOOD) =>
      Object.fromEntries(Object.entries(GOOD).filter(([name]) => name !== field));
    const rows: readonly [string, object | string, readonly string[]][] = [
      ['nothing in it', {}, ['to missing_field', 'message missing_field', 'sender missing_field']],
      ['no to', without('to'), ['to missing_field']],
      ['no message', without('message'), ['message missing_field']],
      ['no sender', without('sender'), ['sender missing_field']],
      ['to is a number', { ...GOOD, to: 919876543210 }, ['to wrong_type']],
      ['to is null', { ...GOOD, to: null }, ['to wrong_type']],
      ['to is a list', { ...GOOD, to: ['919876543210'] }, ['to wrong_type']],
      ['to is an operator', { ...GOOD, to: { $gt: '' } }, ['to wrong_type']],
      ['to is true', { ...GOOD, to: true }, ['to wrong_type']],
      ['to is empty', { ...GOOD, to: '' }, ['to invalid_phone']],
      ['to has a plus', { ...GOOD, to: '+919876543210' }, ['to invalid_phone']],
      ['to has spaces', { ...GOOD, to: '91 98765 43210' }, ['to invalid_phone']],
      ['to is short', { ...GOOD, to: '1234567' }, ['to invalid_phone']],
      ['to is long', { ...GOOD, to: '1234567890123456' }, ['to invalid_phone']],
      ['to begins with 0', { ...GOOD, to: '09876543210' }, ['to invalid_phone']],
      ['to ends in a newline', { ...GOOD, to: '919876543210\n' }, ['to invalid_phone']],
      ['message is a number', { ...GOOD, message: 5 }, ['message wrong_type']],
      ['message is an object', { ...GOOD, message: { text: 'x' } }, ['message wrong_type']],
      ['message is null', { ...GOOD, message: null }, ['message wrong_type']],
      ['message is empty', { ...GOOD, message: '' }, ['message too_short']],
      ['message is a byte order mark', { ...GOOD, message: '\ufeff' }, ['message too_short']],
      ['message has half a surrogate pair', { ...GOOD, message: 'cut \ud83d' }, ['message invalid_text']],
      ['message needs 11 segments', { ...GOOD, message: 'a'.repeat(1531) }, ['message too_long']],
      ['message needs 11 segments in UCS-2', { ...GOOD, message: 'न'.repeat(671) }, ['message too_long']],
      ['sender is a number', { ...GOOD, sender: 12345 }, ['sender wrong_type']],
      ['sender is an operator', { ...GOOD, sender: { $ne: null } }, ['sender wrong_type']],
      ['sender is empty', { ...GOOD, sender: '' }, ['sender invalid_sender']],
      ['sender is long', { ...GOOD, sender: 'ABCDEFGHIJKL' }, ['sender invalid_sender']],
      ['sender holds NUL', { ...GOOD, sender: 'AB\0CD' }, ['sender invalid_sender']],
      ['sender has two digits', { ...GOOD, sender: '12' }, ['sender invalid_sender']],
      ['route is unknown', { ...GOOD, route: 'otp' }, ['route invalid_value']],
      ['route is in capitals', { ...GOOD, route: 'TRANSACTIONAL' }, ['route invalid_value']],
      ['route is empty', { ...GOOD, route: '' }, ['route invalid_value']],
      ['route is null', { ...GOOD, route: null }, ['route wrong_type']],
      ['route is the name of a method', { ...GOOD, route: 'constructor' }, ['route invalid_value']],
      ['a typo in route', { ...GOOD, rout: 'promotional' }, ['rout unknown_field']],
      ['a field in capitals', { ...GOOD, Route: 'promotional' }, ['Route unknown_field']],
      ['another field', { ...GOOD, callback: 'https://example.com' }, ['callback unknown_field']],
      ['an empty name', { ...GOOD, '': 1 }, [' unknown_field']],
      ['priority is unknown', { ...GOOD, priority: 'high' }, ['priority invalid_value']],
      ['priority is in capitals', { ...GOOD, priority: 'OTP' }, ['priority invalid_value']],
      ['priority is a number', { ...GOOD, priority: 1 }, ['priority wrong_type']],
      ['priority is null', { ...GOOD, priority: null }, ['priority wrong_type']],
      ['priority is the name of a method', { ...GOOD, priority: 'toString' }, ['priority invalid_value']],
      ['otp on the promotional route', { ...GOOD, route: 'promotional', priority: 'otp' }, ['priority invalid_value']],
      ['reference is a number', { ...GOOD, reference: 7 }, ['reference wrong_type']],
      ['reference is null', { ...GOOD, reference: null }, ['reference wrong_type']],
      ['reference is an operator', { ...GOOD, reference: { $exists: true } }, ['reference wrong_type']],
      ['reference is empty', { ...GOOD, reference: '' }, ['reference too_short']],
      ['reference is long', { ...GOOD, reference: 'x'.repeat(256) }, ['reference too_long']],
      ['reference holds NUL', { ...GOOD, reference: 'a\0b' }, ['reference invalid_text']],
      ['reference holds a line break', { ...GOOD, reference: 'a\nb' }, ['reference invalid_text']],
      ['reference has half a surrogate pair', { ...GOOD, reference: 'a\ud83d' }, ['reference invalid_text']],
      ['valid_until is a number', { ...GOOD, valid_until: 1_795_000_000 }, ['valid_until wrong_type']],
      ['valid_until is null', { ...GOOD, valid_until: null }, ['valid_until wrong_type']],
      ['valid_until is no time', { ...GOOD, valid_until: 'tomorrow' }, ['valid_until invalid_time']],
      ['valid_until has no offset', { ...GOOD, valid_until: '2099-01-01T00:00:00' }, ['valid_until invalid_time']],
      ['valid_until does not exist', { ...GOOD, valid_until: '2099-02-30T00:00:00Z' }, ['valid_until invalid_time']],
      ['valid_until is over', { ...GOOD, valid_until: '2020-01-01T00:00:00+05:30' }, ['valid_until out_of_range']],
      ['valid_until is now', { ...GOOD, valid_until: new Date().toISOString() }, ['valid_until out_of_range']],
      ['valid_until is 8 days ahead', { ...GOOD, valid_until: daysAhead(8) }, ['valid_until out_of_range']],
      ['dry_run is a string', { ...GOOD, dry_run: 'true' }, ['dry_run wrong_type']],
      ['dry_run is a number', { ...GOOD, dry_run: 1 }, ['dry_run wrong_type']],
      ['dry_run is null', { ...GOOD, dry_run: null }, ['dry_run wrong_type']],
      ['a dry run with a bad number', { ...GOOD, dry_run: true, to: '+1' }, ['to invalid_phone']],
      [
        '__proto__',
        `{"__proto__":{"to":"919876543210"},"message":"x","sender":"ABC"}`,
        ['to missing_field', '__proto__ unknown_field'],
      ],
      ['constructor', { ...GOOD, constructor: { prototype: {} } }, ['constructor unknown_field']],
      [
        'all at once',
        { to: '+1', message: '', sender: '?', route: 'x', priority: '', reference: '', valid_until: '', extra: 1 },
        [
          'to invalid_phone',
          'message too_short',
          'sender invalid_sender',
          'route invalid_value',
          'priority invalid_value',
          'reference too_short',
          'valid_until invalid_time',
          'extra unknown_field',
        ],
      ],
    ];
    for (const [what, body, problems] of rows) {
      it(`names every problem: ${what}`, async () => {
        const answer = await send(key, body);

        expectProblem(answer, 'invalid_request');
        const found = answer.body.errors.map((one: { field: string; code: string }) => `${one.field} ${one.code}`);
        expect(found).to.have.members(problems);
        expect(answer.body.errors_count).to.equal(problems.length);
        for (const one of answer.body.errors) expect(one.detail).to.be.a('string').and.not.equal('');
      });
    }

    it('says how to correct a number with a plus', async () => {
      const answer = await send(key, { ...GOOD, to: '+919876543210' });

      expect(answer.body.detail).to.match(/Remove the plus sign/);
    });

    it('says that an optional field is left out, not set to null', async () => {
      const answer = await send(key, { ...GOOD, reference: null, params: null });

      expect(answer.body.errors).to.deep.include({
        field: 'reference',
        code: 'wrong_type',
        detail: 'It must not be null: leave out what you do not set.',
      });
    });

    it('guesses the field that was meant', async () => {
      const answer = await send(key, { ...GOOD, rotue: 'promotional' });

      expect(answer.body.errors[0].detail).to.include('Did you mean "route"?');
    });

    it('lists 100 problems and counts the rest', async () => {
      const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`field${i}`, 1]));

      const answer = await send(key, { ...GOOD, ...many });

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors).to.have.length(100);
      expect(answer.body.errors_count).to.equal(3_000);
      expect(answer.text.length).to.be.lessThan(30_000);
    });

    it('shows only the beginning of a long field name', async () => {
      const answer = await send(key, { ...GOOD, ['x'.repeat(50_000)]: 1 });

      expectProblem(answer, 'invalid_request');
      expect(answer.text.length).to.be.lessThan(2_000);
    });
  });

  describe('extensions', () => {
    async function sent(body: object, scopes?: readonly KeyScope[]): Promise<MessageDocument | null> {
      const account = await makeAccount(store.db, 1);
      const answer = await send(await makeKey(store.db, account, scopes), { ...GOOD, ...body });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      const id: MessageId = answer.body.message_id;
      return store.db.collection<MessageDocument>('messages').findOne({ _id: id });
    }

    const lanes: readonly [object, number][] = [
      [{ priority: 'otp' }, 0],
      [{ priority: 'normal' }, 1],
      [{ priority: 'low' }, 2],
      [{ route: 'promotional' }, 3],
      [{ priority: 'low', route: 'promotional' }, 3],
    ];
    for (const [body, lane] of lanes) {
      it(`priority chooses the lane: ${JSON.stringify(body)}`, async () => {
        expect(await sent(body, ['send', 'otp'])).to.include({ lane });
      });
    }

    for (const reference of ['order 7', 'x', 'é नमस्ते 😀', '{"$ne":1}', '0', 'x'.repeat(255)]) {
      it(`reference comes back with the status: ${reference.slice(0, 12)}`, async () => {
        const account = await makeAccount(store.db, 1);
        const key = await makeKey(store.db, account);

        const answer = await send(key, { ...GOOD, reference });
        const status = await request(gateway.url)
          .get(`/v2/status/${answer.body.message_id}`)
          .set('Authorization', `Bearer ${key}`);

        expect(status.body.reference).to.equal(reference);
      });
    }

    it('valid_until is kept to the millisecond, whatever its offset', async () => {
      const at = new Date(Date.now() + 3_600_000);
      const inIndia = `${new Date(at.getTime() + 330 * 60_000).toISOString().slice(0, 23)}+05:30`;

      const message = await sent({ valid_until: inIndia });

      expect(message?.validUntil).to.deep.equal(at);
      expect(message?.due).to.deep.equal(at);
    });

    it('valid_until may be nearly seven days ahead', async () => {
      const text = daysAhead(6.99);

      expect((await sent({ valid_until: text }))?.validUntil).to.deep.equal(new Date(text));
    });

    it('dry_run: false sends', async () => {
      expect(await sent({ dry_run: false })).to.include({ state: 'queued' });
    });
  });
});
