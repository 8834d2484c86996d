import type { Db } from 'mongodb';
import type request from 'supertest';
import { createSender } from '../../../../shared/carriers/sender.ts';
import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { ScheduleDocument } from '../../../../shared/messages/schedule.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId, BatchId, MessageId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplate, decideTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { makeKey, TEST_CONFIG } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectFieldRefusal, expectProblem } from '../../../support/problem.ts';
import { smsWorld } from './world.ts';

const OTP_ID = '1107160000000000001';
const ORDER_ID = '1107160000000000002';
const ENTITY = '1101160000000000009';

interface Caller {
  readonly account: AccountId;
  readonly key: string;
}

async function dltCaller(db: Db, overrides: Partial<AccountDocument> = {}): Promise<Caller> {
  const account = await makeAccount(db, 5, { dlt: 'on', entityId: ENTITY, ...overrides });
  await createSender(db, systemClock, {
    account,
    sender: 'HARKRA',
    routes: ['transactional'],
    status: 'approved',
  });
  const otp = makeTemplate({ dltId: OTP_ID, name: 'Code', content: 'Your code is {#var#}.' });
  const order = makeTemplate({
    dltId: ORDER_ID,
    name: 'Order',
    content: 'Order {#numeric#} for {#var#} has left',
    entityId: '1101160000000000222',
  });
  for (const template of [otp, order]) await createTemplate(db, systemClock, account, template);
  return { account, key: await makeKey(db, account) };
}

const GOOD = { to: '919876543210', message: 'Your code is 1234.', sender: 'HARKRA' };
const BASE = { to: GOOD.to, sender: GOOD.sender };

describe('POST /v2/send of accounts with DLT', () => {
  // No caching: a decision about a template takes effect at once.
  const { store, post, send } = smsWorld('/v2/send', { config: { ...TEST_CONFIG, keyCacheMs: 0 } });

  const caller = (overrides?: Partial<AccountDocument>) => dltCaller(store.db, overrides);

  async function messageOf(id: MessageId): Promise<MessageDocument | null> {
    return store.db.collection<MessageDocument>('messages').findOne({ _id: id });
  }

  async function expectNothingDone(account: AccountId): Promise<void> {
    const found = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    expect(found?.balance).to.equal(5);
    expect(await store.db.collection('messages').countDocuments({ account })).to.equal(0);
    expect(await store.db.collection('batches').countDocuments({ account })).to.equal(0);
  }

  it('200: keeps the ids of the template and of the account’s business with the message', async () => {
    const { key } = await caller();

    const answer = await send(key, GOOD);

    expect(answer.status, answer.text).to.equal(200);
    expect(await messageOf(answer.body.message_id)).to.include({ template: OTP_ID, entityId: ENTITY });
  });

  it('200: a template’s own business comes before the account’s', async () => {
    const { key } = await caller();

    const answer = await send(key, { ...GOOD, message: 'Order 77 for Asha has left' });

    expect(await messageOf(answer.body.message_id)).to.include({
      template: ORDER_ID,
      entityId: '1101160000000000222',
    });
  });

  for (const dlt of ['off', undefined] as const) {
    it(`200: sends any text where DLT is ${dlt ?? 'not said'}`, async () => {
      const account = await makeAccount(store.db, 1, dlt === undefined ? {} : { dlt });

      const answer = await send(await makeKey(store.db, account), { ...GOOD, message: 'anything' });

      expect(answer.status, answer.text).to.equal(200);
      expect(await messageOf(answer.body.message_id)).to.not.have.any.keys('template', 'entityId');
    });
  }

  it('200: renders a template with params', async () => {
    const { key } = await caller();

    const answer = await send(key, { ...BASE, template_id: ORDER_ID, params: ['12', 'Ravi'] });

    expect(answer.status, answer.text).to.equal(200);
    expect(await messageOf(answer.body.message_id)).to.include({
      text: 'Order 12 for Ravi has left',
      template: ORDER_ID,
      segments: 1,
    });
  });

  it('200: renders also for accounts without DLT', async () => {
    const { key } = await caller({ dlt: 'off' });

    const answer = await send(key, { ...BASE, template_id: OTP_ID, params: ['99'] });

    expect(await messageOf(answer.body.message_id)).to.include({ text: 'Your code is 99.', template: OTP_ID });
  });

  it('200: a dry run names the template that matches', async () => {
    const { account, key } = await caller();

    const answer = await send(key, { ...GOOD, dry_run: true });

    expect(answer.body).to.include({ dry_run: true, template_id: OTP_ID });
    await expectNothingDone(account);
  });

  it('400 template_mismatch: charges nothing, names the nearest template and where the text differs', async () => {
    const { account, key } = await caller();

    const answer = await send(key, { ...GOOD, message: 'Your kode is 1234.' });

    expectProblem(answer, 'template_mismatch');
    expect(answer.body.scrub_code).to.equal('633');
    expect(answer.body.errors).to.have.length(1);
    expect(answer.body.errors[0]).to.include({ field: 'message', code: 'template_mismatch' });
    expect(answer.body.mismatch).to.include({
      kind: 'text_differs',
      template_id: OTP_ID,
      template_name: 'Code',
      at: 5,
    });
    await expectNothingDone(account);
  });

  it('400 template_mismatch: says which slot is over-long', async () => {
    const { account, key } = await caller();

    const answer = await send(key, { ...GOOD, message: `Your code is ${'7'.repeat(31)}.` });

    expectProblem(answer, 'template_mismatch');
    expect(answer.body.scrub_code).to.equal('635');
    expect(answer.body.mismatch.slot).to.deep.equal({ number: 1, type: 'var', length: 31, max: 30 });
    await expectNothingDone(account);
  });

  it('400 template_mismatch: says that the template is another sender’s', async () => {
    const { account, key } = await caller();
    const hello = makeTemplate({
      dltId: '1107160000000000777',
      name: 'Hello',
      content: 'Hello {#var#}',
      senders: ['OTHERS'],
    });
    await createTemplate(store.db, systemClock, account, hello);

    const answer = await send(key, { ...GOOD, message: 'Hello Asha' });

    expectProblem(answer, 'template_mismatch');
    expect(answer.body).to.deep.include({
      scrub_code: '634',
      mismatch: { kind: 'other_sender', template_id: '1107160000000000777', template_name: 'Hello' },
    });
    expect(answer.body.detail).to.include('approved for OTHERS');
    await expectNothingDone(account);
  });

  it('400 template_mismatch: a rejected template counts no more', async () => {
    const { account, key } = await caller();
    await decideTemplate(store.db, systemClock, account, OTP_ID, 'rejected', 'Blacklisted');

    const answer = await send(key, GOOD);

    expectProblem(answer, 'template_mismatch');
    expect(answer.body).to.deep.include({ scrub_code: '631' });
    expect(answer.body.detail).to.include(`The template ${OTP_ID} is rejected (Blacklisted).`);
    await expectNothingDone(account);
  });

  it('400 template_mismatch: another account’s templates do not count', async () => {
    await caller();
    const account = await makeAccount(store.db, 5, { dlt: 'on', entityId: ENTITY });
    const routes = ['transactional'] as const;
    await createSender(store.db, systemClock, { account, sender: 'HARKRA', routes, status: 'approved' });

    const answer = await send(await makeKey(store.db, account), GOOD);

    expectProblem(answer, 'template_mismatch');
    expect(answer.body).to.deep.include({ scrub_code: '630', mismatch: { kind: 'no_template' } });
    await expectNothingDone(account);
  });

  describe('403 entity_id_missing: without a PE id of the account', () => {
    const withoutEntity = async (): Promise<Caller> => {
      const made = await caller();
      await store.db
        .collection<AccountDocument>('accounts')
        .updateOne({ _id: made.account }, { $unset: { entityId: '' } });
      return made;
    };
    const ways: readonly [string, string, object][] = [
      ['a send', '/v2/send', GOOD],
      ['a dry run', '/v2/send', { ...GOOD, dry_run: true }],
      ['a template with params', '/v2/send', { ...BASE, template_id: OTP_ID, params: ['1234'] }],
      ['a bulk send', '/v2/send-bulk', { ...GOOD, to: [GOOD.to] }],
      ['a bulk template', '/v2/send-bulk', { ...BASE, to: [GOOD.to], template_id: OTP_ID, params: ['1234'] }],
      ['a schedule', '/v2/schedule', { ...GOOD, schedule_time: new Date(Date.now() + 3_600_000).toISOString() }],
    ];
    for (const [what, path, body] of ways) {
      it(`refuses ${what}, and says which command mends it`, async () => {
        const { account, key } = await withoutEntity();

        const answer = await post(path, key, body);

        expectProblem(answer, 'entity_id_missing');
        expect(answer.body.detail).to.contain('`npm run ops -- account update ACCOUNT --entity-id PE-ID`');
        await expectNothingDone(account);
      });
    }

    it('is the first thing to be told to an account that has nothing yet', async () => {
      const account = await makeAccount(store.db, 5, { dlt: 'on' });

      expectProblem(await send(await makeKey(store.db, account), GOOD), 'entity_id_missing');
    });

    it('sends what a template with a PE id of its own approves', async () => {
      const { key } = await withoutEntity();

      const answer = await send(key, { ...GOOD, message: 'Order 77 for Asha has left' });

      expect(answer.status, answer.text).to.equal(200);
      expect(await messageOf(answer.body.message_id)).to.include({ entityId: '1101160000000000222' });
    });
  });

  it('403 sender_not_allowed: senders must be registered whatever the account’s setting', async () => {
    const { account, key } = await caller({ senders: 'any' });

    expectProblem(await send(key, { ...GOOD, sender: 'OTHERS' }), 'sender_not_allowed');
    const lower = await send(key, { ...GOOD, sender: 'Harkra' });
    expectProblem(lower, 'sender_not_allowed');
    expect(lower.body.detail).to.include('Send it as "HARKRA".');
    expectProblem(await send(key, { ...GOOD, route: 'promotional' }), 'sender_not_allowed');
    await expectNothingDone(account);
  });

  it('404 template_not_found: the sender has no such template', async () => {
    const { account, key } = await caller();

    const answer = await send(key, { ...BASE, template_id: '1107160000000000999' });

    expectFieldRefusal(answer, 'template_not_found', 'template_id');
    await expectNothingDone(account);
  });

  it('400: a template that becomes an empty text', async () => {
    const { account, key } = await caller();
    const template_id = '1107160000000000003';
    await createTemplate(
      store.db,
      systemClock,
      account,
      makeTemplate({ dltId: template_id, name: 'Any', content: '{#var#}' }),
    );

    const answer = await send(key, { ...BASE, template_id, params: [''] });

    expectProblem(answer, 'invalid_request');
    expect(answer.body.errors).to.have.lengthOf(1);
    expect(answer.body.errors[0]).to.include({ code: 'too_short' });
    await expectNothingDone(account);
  });

  const bad: readonly [string, object, readonly string[]][] = [
    ['a text and a template', { ...GOOD, template_id: OTP_ID, params: ['1'] }, ['message conflict']],
    ['params without a template', { ...GOOD, params: ['1'] }, ['params conflict']],
    ['template_id is a number', { ...BASE, template_id: 5 }, ['template_id wrong_type']],
    ['params are a string', { ...BASE, template_id: OTP_ID, params: 'x' }, ['params wrong_type']],
    ['a param is a number', { ...BASE, template_id: OTP_ID, params: [1] }, ['params[0] wrong_type']],
    [
      'a param has half an emoji',
      { ...BASE, template_id: ORDER_ID, params: ['1', '\ud83d'] },
      ['params[1] invalid_text'],
    ],
    ['too few params', { ...BASE, template_id: ORDER_ID, params: ['1'] }, ['params wrong_count']],
    ['no params', { ...BASE, template_id: OTP_ID }, ['params wrong_count']],
    [
      'every param that does not fit',
      { ...BASE, template_id: ORDER_ID, params: ['twelve', 'x'.repeat(31)] },
      ['params[0] wrong_type', 'params[1] too_long'],
    ],
  ];
  for (const [what, body, problems] of bad) {
    it(`400: names every problem: ${what}`, async () => {
      const { account, key } = await caller();

      const answer = await send(key, body);

      expectProblem(answer, 'invalid_request');
      const found = answer.body.errors.map((one: { field: string; code: string }) => `${one.field} ${one.code}`);
      expect(found).to.have.members(problems);
      await expectNothingDone(account);
    });
  }

  describe('POST /v2/schedule', () => {
    const tomorrow = (): string => `${new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 19)}+00:00`;
    const schedule = (key: string, body: object): request.Test =>
      post('/v2/schedule', key, { ...body, schedule_time: tomorrow() });

    it('keeps the template until the message leaves', async () => {
      const { account, key } = await caller();

      const answer = await schedule(key, GOOD);

      expect(answer.status, answer.text).to.equal(200);
      const stored = await store.db.collection<ScheduleDocument>('schedules').findOne({ account });
      expect(stored?.content).to.deep.nested.include({ 'message.template': OTP_ID, 'message.entityId': ENTITY });
    });

    for (const to of [GOOD.to, [GOOD.to]]) {
      it(`400 template_mismatch: books nothing and charges nothing (${typeof to})`, async () => {
        const { account, key } = await caller();

        const answer = await schedule(key, { ...GOOD, to, message: 'Your kode is 1234.' });

        expectProblem(answer, 'template_mismatch');
        expect(await store.db.collection('schedules').countDocuments({ account })).to.equal(0);
        await expectNothingDone(account);
      });
    }
  });

  describe('POST /v2/send-bulk', () => {
    const bulk = (key: string, body: object): request.Test =>
      post('/v2/send-bulk', key, { ...body, to: ['919876543210', '919876543211'] });
    const batchOf = (id: BatchId) => store.db.collection<BatchDocument>('batches').findOne({ _id: id });

    it('keeps the template that the text matches', async () => {
      const { key } = await caller();

      const answer = await bulk(key, GOOD);

      expect(answer.status, answer.text).to.equal(200);
      const batch = await batchOf(answer.body.batch_id);
      expect(batch).to.include({ entityId: ENTITY });
      expect(batch?.content).to.include({ kind: 'text', dltId: OTP_ID });
    });

    it('keeps the business of the template that is rendered', async () => {
      const { key } = await caller();

      const answer = await bulk(key, { sender: 'HARKRA', template_id: ORDER_ID, params: ['5', 'all'] });

      expect(await batchOf(answer.body.batch_id)).to.include({ entityId: '1101160000000000222' });
    });

    it('400 template_mismatch: stores nothing and charges nothing', async () => {
      const { account, key } = await caller();

      const answer = await bulk(key, { ...GOOD, message: 'Your kode is 1234.' });

      expectProblem(answer, 'template_mismatch');
      expect(answer.body.mismatch).to.include({ template_id: OTP_ID, at: 5 });
      await expectNothingDone(account);
    });

    it('a dry run names the template that matches', async () => {
      const { account, key } = await caller();

      expect((await bulk(key, { ...GOOD, dry_run: true })).body).to.include({ template_id: OTP_ID });
      await expectNothingDone(account);
    });
  });
});

const ID = '1107160000000000077';
const ASHA = { to: '919876543210', sender: 'HARKRA' };
const FORMS = { 'CR LF': '\r\n', LF: '\n', CR: '\r' } as const;

describe('line breaks of DLT texts', () => {
  const { store, send, post } = smsWorld('/v2/send', { config: { ...TEST_CONFIG, keyCacheMs: 0 } });

  async function caller(content: string, overrides: Partial<AccountDocument> = {}) {
    const made = await dltCaller(store.db, overrides);
    await createTemplate(store.db, systemClock, made.account, makeTemplate({ dltId: ID, content }));
    return made;
  }
  const messageOf = (_id: MessageDocument['_id']) => store.db.collection<MessageDocument>('messages').findOne({ _id });

  for (const [registered, ours] of Object.entries(FORMS)) {
    for (const [sent, theirs] of Object.entries(FORMS)) {
      it(`a text with ${sent} matches what is registered with ${registered}, and is sent as it was given`, async () => {
        const { key } = await caller(`Dear {#var#},${ours}${ours}bye {#var#}`);
        const message = `Dear Asha,${theirs}${theirs}bye${theirs === '\r' ? '' : theirs} now`.replace(
          `bye${theirs}`,
          'bye',
        );

        const { status, body, text } = await send(key, { ...ASHA, message });

        expect(status, text).to.equal(200);
        expect(await messageOf(body.message_id)).to.include({ template: ID, text: message });
      });
    }
  }

  it('where a text differs is told by its own places', async () => {
    const { key } = await caller('Dear {#var#},\n\nbye now');

    for (const lineBreak of ['\r\n', '\n']) {
      const message = `Dear Asha,${lineBreak}${lineBreak}bye then`;
      const { body } = await send(key, { ...ASHA, message });
      const at = message.indexOf('then');
      expect(body.mismatch).to.include({ at });
      expect(body.detail).to.include(`At character ${at + 1} `);
    }
  });

  it('a line break within a value counts as one character of it', async () => {
    const { key } = await caller('Dear {#var#}, bye');

    expect((await send(key, { ...ASHA, message: `Dear ${'x'.repeat(28)}\r\ny, bye` })).status).to.equal(200);
    expectProblem(await send(key, { ...ASHA, message: `Dear ${'x'.repeat(29)}\r\ny, bye` }), 'template_mismatch');
  });

  it('a template is filled with LF, whatever the portal exported', async () => {
    const { key } = await caller('Dear {#var#},\r\nbye');

    const { body } = await send(key, { ...ASHA, template_id: ID, params: ['Asha'] });

    expect(await messageOf(body.message_id)).to.include({ text: 'Dear Asha,\nbye' });
  });

  it('an account that wants them exact: only the registered form matches, and a template is filled as registered', async () => {
    const { key } = await caller('Dear {#var#},\r\nbye', { lineBreaks: 'exact' });

    expectProblem(await send(key, { ...ASHA, message: 'Dear Asha,\nbye' }), 'template_mismatch');
    expect((await send(key, { ...ASHA, message: 'Dear Asha,\r\nbye' })).status).to.equal(200);
    const { body } = await send(key, { ...ASHA, template_id: ID, params: ['Asha'] });
    expect(await messageOf(body.message_id)).to.include({ text: 'Dear Asha,\r\nbye' });
  });

  it('many at once: matched and filled by the same rule', async () => {
    const { key } = await caller('Dear {#var#},\r\nbye');
    const to = ['919876543210'];

    const given = await post('/v2/send-bulk', key, { to, sender: 'HARKRA', message: 'Dear you,\nbye', dry_run: true });
    const filled = await post('/v2/send-bulk', key, {
      to,
      sender: 'HARKRA',
      template_id: ID,
      params: ['you'],
      dry_run: true,
    });

    expect([given.status, filled.status]).to.deep.equal([200, 200]);
    expect(filled.body.units).to.equal(given.body.units);
  });
});
