import request from 'supertest';
import { readAccepted } from '../../../../gateway/endpoints/messages/status.ts';
import { TEMPLATES } from '../../../../scripts/simulator/provider/templates.ts';
import { eventsOf } from '../../../../shared/events/catalogue.ts';
import type { DeliveryDocument } from '../../../../shared/events/webhooks/delivery.ts';
import { createEndpoint } from '../../../../shared/events/webhooks/endpoint-store.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { type VerificationDocument, verificationsOf } from '../../../../shared/messages/document/verification.ts';
import { createKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { announceVerifications } from '../../../../workers/maintenance/announce.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { copyTemplates, TEST_BOX } from '../../../support/chatapp.ts';
import { makeKey, TEST_CONFIG, useGateway } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { tellDeps } from '../../../support/tell-deps.ts';

const SMS = { to: CUSTOMER, sender: 'HARKRA', message: 'Your code is {code}. Keep it.' };

describe('codes that are to be given back', () => {
  const world = chatAtGateway(100);
  const strict = useGateway(world, { config: { ...TEST_CONFIG, verifyPerNumber: 2, verifyPerClient: 3 } });
  let key: string;
  beforeEach(async () => {
    key = await makeKey(world.db, world.account, ['send', 'read', 'otp']);
  });
  const post = (path: string, body: object, { url = world.url, by = key, once = '' } = {}) => {
    const asked = request(url).post(path).set('Authorization', `Bearer ${by}`);
    return (once === '' ? asked : asked.set('Idempotency-Key', once)).send(body);
  };
  const get = async (path: string, by = key) =>
    (await request(world.url).get(path).set('Authorization', `Bearer ${by}`)).body;
  const messageOf = async (id: MessageId) => {
    const stored = async () => (await world.db.collection<AnyMessage>('messages').findOne({ _id: id })) ?? undefined;
    return readAccepted<AnyMessage, AnyMessage>(world.db, world.account, id, stored, (one) => one);
  };
  /** Begins a verification and returns its code, which only the message has. */
  const begun = async (body: object = SMS) => {
    const { body: answer, status } = await post('/v2/verify', body);
    expect(status, JSON.stringify(answer)).to.equal(200);
    const message = (await messageOf(answer.message_id)) as MessageDocument; // an SMS
    const code = /\d{4,10}/.exec(message.text)?.[0] ?? '';
    return { id: answer.verification_id, answer, message, code, wrong: code === '000000' ? '000001' : '000000' };
  };
  const check = (id: string, code: string, more: Parameters<typeof post>[2] = {}) =>
    post('/v2/verify/check', { verification_id: id, code }, more);

  it('go out as the most urgent message, are stored hashed, shown to nobody, and right once', async () => {
    const { id, answer, message, code } = await begun({ ...SMS, code_length: 8, reference: 'sign-in 7' });
    expect(answer).not.to.have.property('test_code');
    expect(code).to.match(/^\d{8}$/);
    expect(message).to.include({ lane: 0, route: 'transactional', reference: 'sign-in 7', verification: id });
    expect(message.validUntil.toISOString().slice(0, 19)).to.equal(answer.expires_at.slice(0, 19));

    const shown = await get(`/v2/messages/${answer.message_id}`);
    expect(shown).to.include({ text: 'Your code is ••••••••. Keep it.', text_shown: 'masked', verification_id: id });
    const stored = await verificationsOf(world.db).findOne({ _id: id });
    const everything = JSON.stringify([
      stored,
      shown,
      await get('/v2/verifications'),
      await get('/v2/messages'),
      answer,
    ]);
    expect(everything).not.to.contain(code);

    expect((await check(id, code)).body).to.include({ valid: true, state: 'approved', attempts_left: 0, to: CUSTOMER });
    const again = await check(id, code);
    expectProblem(again, 'verification_ended');
    expect(again.body.state).to.equal('approved');
    expect(await verificationsOf(world.db).findOne({ _id: id })).not.to.have.property('codeHash');
    expect(await get(`/v2/verifications/${id}`)).to.include({ state: 'approved', attempts: 1, max_attempts: 5 });
  });

  it('are found by the number too, the newest one; what is not there is 404, what is too late 409', async () => {
    const old = await begun();
    const { id, code } = await begun();
    const other = await begun({ ...SMS, to: '919876543211' });
    expect((await post('/v2/verify/check', { to: CUSTOMER, code })).body).to.include({
      verification_id: id,
      valid: true,
    });
    expectProblem(await post('/v2/verify/check', { to: '919876543299', code }), 'verification_not_found');
    expect((await check(old.id, old.code)).body).to.include({ valid: true });
    await verificationsOf(world.db).updateOne({ _id: other.id }, { $set: { expiresAt: new Date() } });
    const late = await check(other.id, other.code);
    expectProblem(late, 'verification_ended');
    expect(late.body.state).to.equal('expired');
  });

  it('fail after so many wrong ones, then the right one is none', async () => {
    const { id, code, wrong } = await begun({ ...SMS, max_attempts: 2 });
    expect((await check(id, wrong)).body).to.include({ valid: false, state: 'pending', attempts_left: 1 });
    expect((await check(id, wrong)).body).to.include({ valid: false, state: 'failed', attempts_left: 0 });
    expectProblem(await check(id, code), 'verification_ended');
  });

  it('of many checks at once one is right, and no more are answered than may be', async () => {
    const right = await begun({ ...SMS, max_attempts: 10 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => check(right.id, right.code)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409, 409, 409]);

    const guessed = await begun({ ...SMS, max_attempts: 3 });
    const guesses = await Promise.all(Array.from({ length: 8 }, () => check(guessed.id, guessed.wrong)));
    expect(guesses.filter(({ status }) => status === 200)).to.have.length(3);
    expect(await verificationsOf(world.db).findOne({ _id: guessed.id })).to.include({ attempts: 3, state: 'failed' });
  });

  it('are sent and checked once for each Idempotency-Key, also when the answer was lost', async () => {
    const first = await post('/v2/verify', SMS, { once: 'a' });
    const second = await post('/v2/verify', SMS, { once: 'a' });
    expect(second.body).to.deep.equal(first.body);
    expect(await world.balance()).to.equal(99);
    // As after a crash between the payment and the stored answer.
    const forget = () =>
      world.db.collection('idempotency').updateMany({}, { $unset: { answer: '' }, $set: { payBy: new Date(0) } });
    await forget();
    expect((await post('/v2/verify', SMS, { once: 'a' })).body).to.deep.equal(first.body);
    expect(await world.balance()).to.equal(99);

    const { id, code } = await begun();
    const right = await check(id, code, { once: 'b' });
    await forget();
    const repeated = await check(id, code, { once: 'b' });
    expect(repeated.body).to.deep.equal(right.body);
    expect(repeated.body.valid).to.equal(true);
  });

  it('are bounded by number and by client, before anything is charged', async () => {
    const by = { url: strict.url };
    const client = { client_ip: '2001:db8:1:2:3::1' };
    for (const wanted of [200, 200])
      expect((await post('/v2/verify', { ...SMS, ...client }, by)).status).to.equal(wanted);
    const third = await post('/v2/verify', { ...SMS, ...client }, by);
    expectProblem(third, 'verification_limit_reached');
    expect(third.body.limit).to.equal('to');
    expectProblem(await post('/v2/verify', { ...SMS, dry_run: true }, by), 'verification_limit_reached');
    // Refused and unsendable requests do not count for the client.
    expect((await post('/v2/verify', { ...SMS, to: '919876543211', ...client }, by)).status).to.equal(200);
    const neighbour = { ...SMS, to: '919876543212', client_ip: '2001:db8:1:2::9' };
    const fourth = await post('/v2/verify', neighbour, by);
    expectProblem(fourth, 'verification_limit_reached');
    expect(fourth.body.limit).to.equal('client_ip');
    expect(await world.balance()).to.equal(97);
    expect(await verificationsOf(world.db).countDocuments({ account: world.account })).to.equal(3);
  });

  it('cost and leave nothing when they are refused or a dry run, and cannot be sent again', async () => {
    const dry = await post('/v2/verify', { ...SMS, dry_run: true });
    expect(dry.body).to.include({ dry_run: true, credits_required: 1 });
    await world.db.collection<{ _id: string }>('accounts').updateOne({ _id: world.account }, { $set: { balance: 0 } });
    expectProblem(await post('/v2/verify', SMS), 'insufficient_credits');
    expect(await verificationsOf(world.db).countDocuments({ account: world.account })).to.equal(0);
    const noOtp = await makeKey(world.db, world.account, ['send', 'read']);
    expectProblem(await post('/v2/verify', SMS, { by: noOtp }), 'scope_missing');
  });

  it('are not sent again as a message', async () => {
    const { answer, message } = await begun();
    await world.db
      .collection<AnyMessage>('messages')
      .replaceOne({ _id: message._id }, { ...message, state: 'delivered' }, { upsert: true });
    expectProblem(await post(`/v2/messages/${answer.message_id}/resend`, {}), 'not_resendable');
  });

  const rows: readonly [what: string, body: object, errors: readonly string[]][] = [
    ['no place for the code', { message: 'Your code' }, ['message invalid_value']],
    ['no text', { message: undefined }, ['message missing_field']],
    ['no sender', { sender: undefined }, ['sender missing_field']],
    ['values without a code', { message: undefined, template_id: '1', params: ['x'] }, ['params invalid_value']],
    [
      'bounds',
      { code_length: 3, expires_in: 59, max_attempts: 11, client_ip: 'home' },
      ['client_ip invalid_value', 'code_length out_of_range', 'expires_in out_of_range', 'max_attempts out_of_range'],
    ],
    ['fields of the other channel', { template: 'x', language: 'en' }, ['language conflict', 'template conflict']],
    [
      'a fallback that comes too late, and has no code',
      {
        ...{ channel: 'chatapp', sender: undefined, message: undefined, template: 'login_code', language: 'en_US' },
        ...{ expires_in: 60 },
        fallback: { channel: 'sms', after_seconds: 40, sender: 'HARKRA', message: 'Hello' },
      },
      ['fallback.after_seconds out_of_range', 'fallback.message invalid_value'],
    ],
    [
      'a second try by the same channel, with words of the other one',
      { fallback: { channel: 'sms', after_seconds: 9, template: 'login_code', message: '{code}' } },
      ['fallback.after_seconds out_of_range'],
    ],
    [
      'a second try that is none',
      { fallback: { channel: 'sms', after_seconds: 30, template: 'login_code', message: '{code}' } },
      ['fallback.channel conflict', 'fallback.template conflict'],
    ],
    [
      'a second try without a template, with words of an SMS, and too late',
      { expires_in: 60, fallback: { channel: 'chatapp', after_seconds: 31, sender: 'HARKRA', params: ['x'] } },
      ['fallback.after_seconds out_of_range', 'fallback.params invalid_value', 'fallback.sender conflict'],
    ],
    [
      'a second try without a template, and an SMS without a sender',
      { sender: undefined, fallback: { channel: 'chatapp', after_seconds: 30 } },
      ['fallback.language missing_field', 'fallback.template missing_field', 'sender missing_field'],
    ],
  ];
  for (const [what, change, errors] of rows) {
    it(`are refused with ${what}`, async () => {
      const answer = await post('/v2/verify', { ...SMS, ...change });
      expectProblem(answer, 'invalid_request');
      const found = answer.body.errors.map((one: { field: string; code: string }) => `${one.field} ${one.code}`);
      expect(found.sort()).to.deep.equal(errors);
    });
  }

  it('go by an authentication template, with the same code in the SMS in its place', async () => {
    await world.configure();
    await copyTemplates(world.db, world.account, TEMPLATES);
    const { body } = await post('/v2/verify', {
      ...{ to: CUSTOMER, channel: 'chatapp', template: 'login_code', language: 'en_US' },
      fallback: { channel: 'sms', after_seconds: 30, sender: 'HARKRA', message: '{code} is your code' },
    });
    expect(body, JSON.stringify(body)).to.include({ status: 'success', channel: 'chatapp' });
    const message = (await messageOf(body.message_id)) as ChatMessageDocument; // of that channel
    const code = /\d{6}/.exec(message.fallback?.sms.text ?? '')?.[0] ?? '';
    expect(message).to.deep.nested.include({ verification: body.verification_id, 'fallback.sms.lane': 0 });
    expect(message.content).to.deep.include({ params: [code] });

    const shown = await get(`/v2/messages/${body.message_id}`);
    expect(shown).to.deep.include({ params: ['••••••'], text_shown: 'masked' });
    expect(JSON.stringify(await get(`/v2/account/inbox/${CUSTOMER}`))).not.to.contain(code);
    expect((await check(body.verification_id, code)).body).to.include({ valid: true });
    expect((await get(`/v2/messages/${body.message_id}`)).fallback).to.include({ state: 'not_needed' });
  });

  it('are known to test keys, which see their own alone', async () => {
    const live = await begun();
    const made = await createKey(world.db, systemClock, {
      ...{ account: world.account, test: true, name: 'ci', scopes: ['send', 'read', 'otp'] },
    });
    const by = { by: made.key };
    const { body } = await post('/v2/verify', { ...SMS, code_length: 4 }, by);
    expect(body).to.include({ test_code: '1234' });
    expectProblem(await check(live.id, '1234', by), 'verification_not_found');
    expect((await check(body.verification_id, '4321', by)).body).to.include({ valid: false });
    expect((await check(body.verification_id, '1234', by)).body).to.include({ valid: true });
    expect((await get('/v2/verifications', made.key)).data).to.have.length(1);
  });

  it('tell the webhooks of their channel how they ended, once, whoever finds that they are too old', async () => {
    const url = 'https://shop.test/verify';
    const endpoint = { account: world.account, channel: 'sms', url, events: eventsOf('sms') } as const;
    await createEndpoint(world.db, systemClock, TEST_BOX, endpoint);
    const right = await begun({ ...SMS, reference: 'sign-in 7' });
    const wrong = await begun({ ...SMS, max_attempts: 1 });
    const late = await begun();
    await begun();
    await check(right.id, right.code);
    await check(wrong.id, wrong.wrong);
    const over = new Date(Date.now() - 1_000);
    await verificationsOf(world.db).updateOne({ _id: late.id }, { $set: { expiresAt: over } });
    const deps = tellDeps(world.db);
    while ((await announceVerifications(deps)) > 0);

    const ends = [
      ['verification.approved', right.id],
      ['verification.failed', wrong.id],
      ['verification.expired', late.id],
    ];
    const told = await world.db
      .collection<DeliveryDocument>('deliveries')
      .find({ account: world.account, event: { $in: ends.map(([event]) => event) } })
      .toArray();
    // So they are erased with the message's other events.
    for (const { eventId, message = '' } of told) expect(eventId.startsWith(`evt_${message.slice(4)}_`)).to.equal(true);
    const bodies = told.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ event, verification_id: id }) => [event, id])).to.have.deep.members(ends);
    expect(bodies.find(({ state }) => state === 'approved')).to.include({
      ...{ to: CUSTOMER, attempts: 1, message_id: right.answer.message_id, reference: 'sign-in 7', channel: 'sms' },
    });
    expect(await get(`/v2/verifications/${late.id}`)).to.include({ state: 'expired', decided_at: null });
    const left = await verificationsOf(world.db)
      .find({ state: { $ne: 'pending' } })
      .toArray();
    for (const one of left) {
      expect(one).not.to.have.property('codeHash');
      expect(one.unannounced).to.deep.equal([]);
    }
  });

  it('are counted by prefix, those that ended', async () => {
    const ended = new Date();
    const soon = new Date(Date.now() + 60_000);
    const made = (state: VerificationDocument['state'], to: string, expiresAt: Date): VerificationDocument => ({
      ...{ _id: newId('vrf'), account: world.account, to, channel: 'sms', message: newId('msg'), codeLength: 6, state },
      ...{ attempts: 0, maxAttempts: 5, expiresAt, removeAt: new Date(Date.now() + 86_400_000) },
    });
    await begun();
    await verificationsOf(world.db).insertMany([
      made('approved', CUSTOMER, soon),
      made('pending', CUSTOMER, ended),
      made('failed', '994771234567', soon),
    ]);
    expect(await get('/v2/account/verification-rates')).to.deep.equal({
      ...{ asked: 3, approved: 1, cut: false },
      prefixes: [
        { prefix: '91987', country: 'IN', asked: 2, approved: 1 },
        { prefix: '994771', country: 'AZ', asked: 1, approved: 0 },
      ],
    });
  });
});
