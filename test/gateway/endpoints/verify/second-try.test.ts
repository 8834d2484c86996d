import request from 'supertest';
import { readAccepted } from '../../../../gateway/endpoints/messages/status.ts';
import { TEMPLATES } from '../../../../scripts/simulator/provider/templates.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { verificationsOf } from '../../../../shared/messages/document/verification.ts';
import { type ChatAccepter, createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { createKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type MessageId, testAccountOf } from '../../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { createChatMetrics } from '../../../../workers/chatapp/metrics.ts';
import { SecondTries } from '../../../../workers/chatapp/second-tries.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { copyTemplates, TEST_BOX } from '../../../support/chatapp.ts';
import { makeKey } from '../../../support/gateway.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { expectProblem } from '../../../support/problem.ts';
import { silentLog } from '../../../support/silent-log.ts';

const CREDITS = 100;
/** Prices of an SMS, and of the conversation that the template opens. */
const [ONE_SMS, CONVERSATION] = [1, 2];
const TEMPLATE = { channel: 'chatapp', after_seconds: 10, template: 'login_code', language: 'en_US' };
const ASKED = {
  to: CUSTOMER,
  sender: 'HARKRA',
  message: 'Your code is {code}',
  reference: 'sign-in 7',
  fallback: TEMPLATE,
};

describe('a code by SMS, then by the chat app', () => {
  const world = chatAtGateway(CREDITS);
  let key: string;
  let clock: ManualClock;
  let accepter: ChatAccepter;
  beforeEach(async () => {
    key = await makeKey(world.db, world.account, ['send', 'read', 'otp']);
    await world.configure();
    await copyTemplates(world.db, world.account, TEMPLATES);
    clock = new ManualClock(new Date());
    const prices = { userCredits: 1, businessCredits: CONVERSATION };
    accepter = createChatAccepter({ db: world.db, clock: systemClock, log: silentLog, prices });
  });
  const post = (path: string, body: object, by = key) =>
    request(world.url).post(path).set('Authorization', `Bearer ${by}`).send(body);
  const get = async (path: string, by = key) =>
    (await request(world.url).get(path).set('Authorization', `Bearer ${by}`)).body;
  const shown = async (id: string, by = key) => (await get(`/v2/verifications/${id}`, by)).fallback;
  const stored = (id: string) => verificationsOf(world.db).findOne({ _id: id as never });
  const chats = (account = world.account) =>
    world.db.collection<ChatMessageDocument>('messages').find({ account, channel: 'chatapp' }).toArray();
  const begun = async (by = key) => {
    const { body, status } = await post('/v2/verify', ASKED, by);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as { verification_id: string; message_id: MessageId; test_code?: string };
  };
  const codeOf = async (id: MessageId) => {
    const found = async () => (await world.db.collection<AnyMessage>('messages').findOne({ _id: id })) ?? undefined;
    const sms = await readAccepted<AnyMessage, AnyMessage>(world.db, world.account, id, found, (one) => one);
    return /\d{6}/.exec(JSON.stringify(sms && 'text' in sms && sms.text))?.[0] ?? expect.fail('no code');
  };
  const look = async (by: ChatAccepter = accepter) => {
    const metrics = createChatMetrics(new Metrics());
    const tries = new SecondTries({
      ...{ db: world.db, clock, log: silentLog, metrics, box: TEST_BOX, accepter: by, serves: () => true },
    });
    tries.work.look();
    await tries.work.close();
  };
  const costs = async (credits: number) => {
    expect(await world.balance()).to.equal(CREDITS - credits);
    expect((await verifyLedger(world.db, world.account)).problems).to.deep.equal([]);
  };

  it('goes when the code was not given back in time: the same code, once, masked, with an id and a price of its own', async () => {
    const { verification_id: id, message_id: sms } = await begun();
    const code = await codeOf(sms);
    expect(JSON.stringify(await stored(id))).not.to.contain(code);
    await look();
    expect(await shown(id)).to.deep.include({ channel: 'chatapp', after_seconds: 10, state: 'waiting' });
    await costs(ONE_SMS);

    clock.turn(11_000);
    await Promise.all([look(), look()]);
    await look();

    const [message, ...more] = await chats();
    expect(more).to.deep.equal([]);
    expect(message).to.deep.include({ to: CUSTOMER, verification: id, reference: 'sign-in 7' });
    expect(message?.content).to.deep.include({ name: 'login_code', params: [code] });
    expect(await shown(id)).to.deep.include({ state: 'sent', message_id: message?._id });
    expect(await stored(id)).not.to.have.nested.property('second.sealed');
    expect(await get(`/v2/messages/${message?._id}`)).to.deep.include({ text_shown: 'masked', verification_id: id });
    await costs(ONE_SMS + CONVERSATION);
    expect((await post('/v2/verify/check', { verification_id: id, code })).body).to.include({ valid: true });
    expect((await shown(id)).state).to.equal('sent');
  });

  it('does not go when the code was given back, or too many were wrong', async () => {
    const given = await begun();
    const failed = await begun();
    const code = await codeOf(given.message_id);
    await post('/v2/verify/check', { verification_id: given.verification_id, code });
    await verificationsOf(world.db).updateOne({ _id: failed.verification_id as never }, { $set: { maxAttempts: 1 } });
    await post('/v2/verify/check', { verification_id: failed.verification_id, code: '0000' });

    clock.turn(11_000);
    await look();

    for (const { verification_id: id } of [given, failed]) {
      expect((await shown(id)).state).to.equal('not_needed');
      expect((await stored(id))?.second).to.deep.equal({ afterSeconds: 10 });
    }
    expect(await chats()).to.deep.equal([]);
    await costs(2 * ONE_SMS);
  });

  const dies: readonly [where: string, accept: ChatAccepter['accept']][] = [
    ['before it is paid for', async () => ({ kind: 'outcome_unknown' })],
    [
      'behind it',
      async (...given) => {
        await accepter.accept(...given);
        return { kind: 'outcome_unknown' };
      },
    ],
  ];
  for (const [where, accept] of dies) {
    it(`is found by the next worker when one died ${where}: one message, paid once`, async () => {
      const { verification_id: id } = await begun();
      clock.turn(11_000);
      await look({ ...accepter, accept });
      expect((await shown(id)).state).to.equal('going');
      const before = await chats();
      await verificationsOf(world.db).updateOne(
        { _id: id as never },
        { $set: { 'second.due': new Date(), 'second.decided.payBy': new Date(Date.now() - 1) } },
      );
      clock.turn(20_000);
      await Promise.all([look(), look()]);
      await look();

      const after = await chats();
      expect(after).to.have.length(1);
      if (before.length > 0) expect(after).to.deep.equal(before);
      expect(await shown(id)).to.deep.include({ state: 'sent', message_id: after[0]?._id });
      await costs(ONE_SMS + CONVERSATION);
    });
  }

  const refusals: readonly [why: string, before: object, code: string][] = [
    ['the credits are gone', { balance: 0 }, 'insufficient_credits'],
    ['the account is suspended', { status: 'suspended' }, 'account_suspended'],
    ['the country is allowed no more', { countries: ['AZ'] }, 'not_allowed'],
  ];
  for (const [why, set, code] of refusals) {
    it(`does not go when ${why}, and says so`, async () => {
      const { verification_id: id } = await begun();
      await world.db.collection('accounts').updateOne({ _id: world.account as never }, { $set: set });
      clock.turn(11_000);
      await look();
      expect((await stored(id))?.second?.ended).to.deep.include({ kind: 'refused', code });
      expect(await chats()).to.deep.equal([]);
    });
  }

  it('does not go for a code that is about to expire', async () => {
    const { verification_id: id } = await begun();
    clock.turn(595_000);
    await look();
    expect(await shown(id)).to.deep.include({ state: 'refused', error_code: 'validity_expired' });
  });

  it('is checked and priced when it is asked for, and nothing is stored', async () => {
    const dry = await post('/v2/verify', { ...ASKED, dry_run: true });
    expect(dry.body).to.deep.include({ credits_required: ONE_SMS, fallback: { credits_required: CONVERSATION } });
    const unknown = await post('/v2/verify', { ...ASKED, fallback: { ...TEMPLATE, template: 'nothing' } });
    expectProblem(unknown, 'template_not_found');
    expect(unknown.body.errors[0].field).to.equal('fallback.template');
    const wrong = await post('/v2/verify', { ...ASKED, fallback: { ...TEMPLATE, params: ['{code}', 'x'], from: '1' } });
    expectProblem(wrong, 'invalid_request');
    expect(await verificationsOf(world.db).countDocuments({ account: world.account })).to.equal(0);
    await costs(0);
  });

  it('goes with a test key too, and costs nothing', async () => {
    const made = await createKey(world.db, systemClock, {
      ...{ account: world.account, test: true, name: 'ci', scopes: ['send', 'read', 'otp'] },
    });
    const { verification_id: id, test_code: code = '' } = await begun(made.key);
    clock.turn(11_000);
    await look();
    const [message] = await chats(testAccountOf(world.account));
    expect(message?.content).to.deep.include({ params: [code] });
    expect(await shown(id, made.key)).to.deep.include({ state: 'sent', message_id: message?._id });
    await costs(0);
  });
});
