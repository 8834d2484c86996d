import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { findProvider } from '../../../../shared/carriers/providers/store.ts';
import type { InboxItemDocument } from '../../../../shared/messages/chat-inbox.ts';
import { type ConversationDocument, conversationKey } from '../../../../shared/money/conversations/conversation.ts';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { startEmbeddedStore } from '../../../../workers/embedded-db/server.ts';
import { callbackPost, callbackSignature, statusOf, textMessage } from '../../../support/chat-callback.ts';
import { makeProvider, NUMBER } from '../../../support/chatapp.ts';
import { dyingDb } from '../../../support/dying-db.ts';
import { eventually } from '../../../support/eventually.ts';
import { openGateway, TEST_CONFIG, type TestGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { expectProblem } from '../../../support/problem.ts';
import { mergeParts, readAlone } from '../../../support/read-callback.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { callbackWorld, postSigned } from './callback-world.ts';

describe('/chatapp/callback/{callback}', () => {
  const world = callbackWorld();
  const { gateway, itemsOf, post } = world;

  it('stores message and status before it answers, and the session is open then', async () => {
    const at = new Date(Math.floor(Date.now() / 1000) * 1000 - 5_000);
    const body = callbackPost({
      messages: [textMessage('wamid.A', '919876543210', at)],
      statuses: [statusOf('wamid.B', 'read')],
    });

    const answer = await post(body);

    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ status: 'success' });
    const items = await itemsOf();
    expect(items.map(({ _id }) => _id)).to.deep.equal([
      `${gateway.account}:in:wamid.A`,
      `${gateway.account}:read:wamid.B`,
    ]);
    expect(items.every(({ due }) => due !== undefined)).to.equal(true);
    const conversation = await gateway.db
      .collection<ConversationDocument>('conversations')
      .findOne({ _id: conversationKey(gateway.account, '919876543210') });
    expect(conversation).to.deep.include({ account: gateway.account, customer: '919876543210', lastInboundAt: at });
  });

  it('opens the session before anybody can hear of the message: an answer that comes at once is not refused', async () => {
    const died = dyingDb(gateway.db, 3, 'before');
    const heard = await openGateway(died);
    try {
      const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.early')] }));
      const answer = await postSigned(heard.url + world.path, body);
      expect(answer.status).to.equal(500);
    } finally {
      await heard.close();
    }

    const session = await gateway.db
      .collection<ConversationDocument>('conversations')
      .findOne({ _id: conversationKey(gateway.account, '919876543210') });
    expect(session).to.have.property('lastInboundAt');
    expect(await itemsOf()).to.deep.equal([]);
  });

  it('stores the same post once, also when copies come at the same time, and brings nothing back that is worked off', async () => {
    const body = callbackPost({ messages: [textMessage('wamid.A')], statuses: [statusOf('wamid.B', 'sent')] });
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body)));
    await gateway.db.collection('chat_inbox').updateMany({ account: gateway.account }, { $unset: { due: '' } });

    const again = await post(body);

    expect([...answers, again].map(({ status }) => status)).to.deep.equal(Array.from({ length: 21 }, () => 200));
    const items = await itemsOf();
    expect(items).to.have.lengthOf(2);
    expect(items.every(({ due }) => due === undefined)).to.equal(true);
  });

  it('never lets a session end earlier, in whatever order posts come', async () => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    const ages = [60, 10, 3_000, 45, 5, 200];

    for (const age of ages) {
      await post(callbackPost({ messages: [textMessage(`wamid.${age}`, '919876543210', new Date(now - age * 1000))] }));
    }

    const conversation = await gateway.db
      .collection<ConversationDocument>('conversations')
      .findOne({ _id: conversationKey(gateway.account, '919876543210') });
    expect(conversation?.lastInboundAt).to.deep.equal(new Date(now - 5_000));
    expect(await itemsOf()).to.have.lengthOf(ages.length);
  });

  it('says 400 to a signed body that is no JSON object', async () => {
    for (const body of ['{"entry": [', '', '[]', 'null', '"x"', '{"a": "\ud800"', 'x'.repeat(1000)]) {
      expectProblem(await post(body), 'malformed_body');
    }
    const latin = Buffer.from('{"entry": "\xe9"}', 'latin1');
    const notUtf8 = await request(gateway.url)
      .post(world.path)
      .set({ 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(latin) })
      .serialize((bytes: unknown) => bytes as string) // unchanged
      .send(latin);
    expectProblem(notUtf8, 'malformed_body');
  });

  it('answers 200 to what it does not know, so that it is not posted again', async () => {
    expect((await post({})).status).to.equal(200);
    expect((await post({ object: 'page', entry: [{ changes: [{ field: 'feed' }] }] })).status).to.equal(200);
    expect((await post(callbackPost({ messages: [textMessage('wamid.A')] }, '999'))).status).to.equal(200);
    expect(await itemsOf()).to.deep.equal([]);
  });

  it('keeps messages of unknown types, with names that a store would take amiss', async () => {
    const message = {
      from: '919876543210',
      id: 'wamid.H',
      type: 'hologram',
      hologram: { $where: '1', 'a.b': 2, ok: 3 },
    };

    expect((await post(callbackPost({ messages: [message] }))).status).to.equal(200);

    const [item] = await itemsOf();
    expect(item?.what).to.deep.include({ type: 'hologram', more: { hologram: { ok: 3 } } });
  });

  it('is 503 while the store is away, so that the provider posts again, and stored when it is back', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'harkara-callback-'));
    const start = () => startEmbeddedStore({ dir, durability: 'none' });
    let server = await start();
    const connected = await connectStore({ mongodbUri: server.uri, dataDir: '', mongodbDatabase: 'harkara' });
    const cutOff = await openGateway(connected.db);
    const made = await makeProvider(connected.db, await makeAccount(connected.db, 0));
    const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.A')] }));
    const send = () => postSigned(`${cutOff.url}/chatapp/callback/${made.provider.callback}`, body);

    await server.close();
    const away = await send();
    server = await start();
    const back = await eventually(async () => {
      const answer = await send();
      return answer.status === 200 ? answer : undefined;
    }, 'the gateway finds the store again');
    const items = await connected.db.collection('chat_inbox').countDocuments({});
    await cutOff.close();
    await connected.close();
    await server.close();
    rmSync(dir, { recursive: true, force: true });

    expectProblem(away, 'store_unavailable');
    expect(away.headers['retry-after']).to.match(/^\d+$/);
    expect(back?.status).to.equal(200);
    expect(items).to.equal(1);
  });
});

/** Meta posts for all numbers of an app to the app's one address ("Webhook overrides" of its documentation). */
describe('/chatapp/callback/{callback}: several accounts at one app', () => {
  const world = callbackWorld();
  const { gateway, post } = world;
  let made = 0;

  /** An account with its own number and business account. */
  async function neighbour(appSecret = 'app-secret') {
    made++;
    const [phoneNumberId, businessId] = [`10654035224290${made}`, `10229012934030${made}`];
    const account = await makeAccount(gateway.db, 0);
    await makeProvider(gateway.db, account, { phoneNumberId, businessId, appSecret });
    return { account, phoneNumberId, businessId };
  }

  const idsOf = async (account: AccountId) => {
    const items = await gateway.db.collection<InboxItemDocument>('chat_inbox').find({ account }).toArray();
    return items.map(({ _id }) => _id.slice(account.length + 1)).sort();
  };

  it('hands each change of a post to the account that has the number, with its session open', async () => {
    const other = await neighbour();
    const own = callbackPost({ messages: [textMessage('wamid.own')] }) as { entry: object[] };
    const theirs = callbackPost(
      { messages: [textMessage('wamid.A', '919812345678')], statuses: [statusOf('wamid.B', 'read')] },
      other.phoneNumberId,
    ) as { entry: object[] };

    const answer = await post({ ...own, entry: [...theirs.entry, ...own.entry] });

    expect(answer.status).to.equal(200);
    expect(await idsOf(other.account)).to.deep.equal(['in:wamid.A', 'read:wamid.B']);
    expect(await idsOf(gateway.account)).to.deep.equal(['in:wamid.own']);
    const sessions = await gateway.db
      .collection('conversations')
      .find({ account: { $in: [other.account, gateway.account] } })
      .toArray();
    expect(sessions.map(({ account, customer }) => [account, customer])).to.have.deep.members([
      [other.account, '919812345678'],
      [gateway.account, '919876543210'],
    ]);
  });

  it('tells every account of a business account of a change of its templates', async () => {
    const first = await neighbour();
    const second = await makeAccount(gateway.db, 0);
    await makeProvider(gateway.db, second, { phoneNumberId: '77', businessId: first.businessId });
    const value = { event: 'PAUSED', message_template_name: 'cart', message_template_language: 'en_US' };
    const changes = [{ field: 'message_template_status_update', value }];

    await post({ entry: [{ id: first.businessId, time: 1_763_719_190, changes }] });

    for (const account of [first.account, second]) expect(await idsOf(account)).to.have.lengthOf(1);
    expect(await idsOf(gateway.account)).to.deep.equal([]);
  });

  it('writes nothing to an account whose app secret is another one', async () => {
    const other = await neighbour('their-app-secret');
    const value = { event: 'PAUSED', message_template_name: 'cart', message_template_language: 'en_US' };
    const entry = { id: other.businessId, changes: [{ field: 'message_template_status_update', value }] };

    const messages = await post(callbackPost({ messages: [textMessage('wamid.A')] }, other.phoneNumberId));
    const templates = await post({ entry: [entry] });

    expect([messages.status, templates.status]).to.deep.equal([200, 200]);
    expect(await idsOf(other.account)).to.deep.equal([]);
    expect(await gateway.db.collection('conversations').countDocuments({ account: other.account })).to.equal(0);
  });

  it('warns of what is for nobody, once a minute for each number, without the customer', async () => {
    const told: [string, object | undefined][] = [];
    const log = { ...silentLog, warn: (event: string, fields?: object) => void told.push([event, fields]) };
    const clock = new ManualClock(new Date());
    const watched = await openGateway(gateway.db, { log, clock });
    const send = (phoneNumberId: string) => {
      const value = { messages: [textMessage('wamid.A')], statuses: [statusOf('wamid.B', 'read')] };
      return postSigned(watched.url + world.path, callbackPost(value, phoneNumberId));
    };

    for (const number of ['106540352240001', '106540352240001', '106540352240002']) await send(number);
    clock.turn(60_000);
    await send('106540352240001');
    await watched.close();

    expect(told).to.deep.equal(
      ['106540352240001', '106540352240002', '106540352240001'].map((number) => [
        'callback_for_nobody',
        { account: gateway.account, whose: `number_${number}`, entries: 2 },
      ]),
    );
  });
});

/** From Meta's webhooks reference: `errors` of the field messages, account_update and similar ones. */
const LIMITED = {
  code: 130429,
  title: 'Rate limit hit',
  message: '(#130429) Rate limit hit for 919876543210',
  error_data: { details: 'Message failed to send to 919876543210' },
};
const account = (field: string, value: object, id = '2055') => ({
  object: 'whatsapp_business_account',
  entry: [{ id, time: 1_763_719_190, changes: [{ field, value }] }],
});

describe('/chatapp/callback/{callback}: what the provider tells the operator', () => {
  const world = callbackWorld();
  const clock = new ManualClock(new Date());
  const told: object[] = [];
  const log = { ...silentLog, warn: (event: string, fields?: object) => void told.push({ event, ...fields }) };
  let metrics: Metrics;
  let watched: TestGateway;
  beforeEach(async () => {
    told.length = 0;
    metrics = new Metrics();
    watched = await openGateway(world.gateway.db, { log, clock, metrics });
    // Its own business account, because all accounts of one are notified.
    await makeProvider(world.gateway.db, world.gateway.account, { businessId: world.gateway.account });
  });
  afterEach(() => watched.close());

  const post = (body: object) => postSigned(watched.url + world.path, body);
  const update = (field: string, value: object) => post(account(field, value, world.gateway.account));
  const counted = async () => {
    const metric = await metrics.registry.getSingleMetric('harkara_chatapp_callback_items_total')?.get();
    return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.fate, value]) ?? []);
  };

  it('warns of errors that concern no message, beside the messages of the post', async () => {
    const answer = await post(callbackPost({ errors: [LIMITED], messages: [textMessage('wamid.A')] }));

    expect(answer.status).to.equal(200);
    expect(told).to.deep.equal([
      {
        event: 'provider_notice',
        account: world.gateway.account,
        field: 'messages',
        code: 130429,
        title: 'Rate limit hit',
      },
    ]);
    expect(await world.itemsOf()).to.have.lengthOf(1);
    expect(await counted()).to.include({ kept: 1, notice: 1, other: 0 });
  });

  it('warns of what becomes of the business account, each thing once a minute', async () => {
    const ban = { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE' } };
    const flagged = { display_phone_number: '15550783881', event: 'FLAGGED', current_limit: 'TIER_10K' };

    for (const value of [ban, ban]) await update('account_update', value);
    await update('phone_number_quality_update', flagged);
    clock.turn(60_000);
    await update('account_update', ban);

    const banned = { field: 'account_update', kind: 'DISABLED_UPDATE', detail: 'SCHEDULE_FOR_DISABLE' };
    const quality = {
      field: 'phone_number_quality_update',
      kind: 'FLAGGED',
      detail: 'TIER_10K',
      number: '15550783881',
    };
    expect(told).to.deep.equal(
      [banned, quality, banned].map((notice) => ({
        event: 'provider_notice',
        account: world.gateway.account,
        ...notice,
      })),
    );
    expect(await counted()).to.include({ notice: 4, other: 0 });
  });

  it('keeps the volume tiers that the business account has reached, by market and category', async () => {
    const reached = (tier: string, region = 'INDIA') => ({
      event: 'VOLUME_BASED_PRICING_TIER_UPDATE',
      volume_tier_info: {
        ...{ tier_update_time: 1_743_451_903, pricing_category: 'UTILITY', tier, effective_month: '2026-11', region },
      },
    });

    for (const value of [reached('1:25000000'), reached('1:50000', 'BRAZIL'), reached('25000001:50000000')])
      await update('account_update', value);

    const { gateway } = world;
    const provider = await findProvider(gateway.db, NUMBER);
    expect(provider?.tiers?.map(({ at, ...tier }) => tier)).to.deep.equal([
      { category: 'UTILITY', region: 'BRAZIL', tier: '1:50000', month: '2026-11' },
      { category: 'UTILITY', region: 'INDIA', tier: '25000001:50000000', month: '2026-11' },
    ]);
    expect(provider).not.to.have.property('notice');
  });

  const alert = { alert_severity: 'WARNING', alert_type: 'INCREASED_CAPABILITIES_ELIGIBILITY_DEFERRED' };
  const changes: readonly [string, object, object][] = [
    ['account_alerts', { entity_type: 'BUSINESS', alert_info: alert }, { kind: alert.alert_type, detail: 'WARNING' }],
    ['account_alerts', { entity_type: 'WABA', ...alert }, { kind: alert.alert_type, detail: 'WARNING' }],
    ['account_review_update', { decision: 'REJECTED' }, { kind: 'REJECTED' }],
    ['account_update', { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SCAM' } }, { detail: 'SCAM' }],
    [
      'account_update',
      {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [{ restriction_type: 'NO_NUMBERS' }, { restriction_type: 'NO_SENDS' }],
      },
      { kind: 'ACCOUNT_RESTRICTION', detail: 'NO_NUMBERS NO_SENDS' },
    ],
    ['business_capability_update', { max_daily_conversation_per_phone: 250 }, { detail: '250' }],
    ['business_capability_update', { max_daily_conversations_per_business: 'TIER_2K' }, { detail: 'TIER_2K' }],
    ['account_update', { event: ['no', 'word'] }, { field: 'account_update' }],
  ];
  for (const [field, value, notice] of changes) {
    it(`reads ${field} ${JSON.stringify(value)}`, async () => {
      const provider = { _id: NUMBER, account: world.gateway.account, phoneNumberId: '1055', businessId: '2055' };
      const { notices, items } = mergeParts(await readAlone(account(field, value), provider));

      expect(notices).to.have.lengthOf(1);
      expect(notices[0]?.notice).to.include({ field, ...notice });
      expect(notices[0]?.numbers).to.deep.equal([NUMBER]);
      expect(items).to.deep.equal([]);
    });
  }
});

describe('/chatapp/callback/{callback}: who may post', () => {
  const world = callbackWorld();
  const { gateway, itemsOf, post } = world;

  describe('GET, the verify challenge', () => {
    const verify = (query: Readonly<Record<string, string>>, to = world.path) =>
      request(gateway.url).get(to).query(query);

    it('answers with the bare challenge when mode and token are right', async () => {
      const answer = await verify({
        'hub.mode': 'subscribe',
        'hub.verify_token': world.verifyToken,
        'hub.challenge': '1158201444',
      });

      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.match(/^text\/plain/);
      expect(answer.text).to.equal('1158201444');
    });

    it('refuses another token, another mode, and no query at all', async () => {
      const right = { 'hub.mode': 'subscribe', 'hub.verify_token': world.verifyToken, 'hub.challenge': '1' };
      for (const query of [
        { ...right, 'hub.verify_token': `${world.verifyToken}x` },
        { ...right, 'hub.verify_token': '' },
        { ...right, 'hub.mode': 'unsubscribe' },
        {},
      ]) {
        expectProblem(await verify(query), 'verify_token_invalid');
      }
    });

    it('knows no other address', async () => {
      const query = { 'hub.mode': 'subscribe', 'hub.verify_token': world.verifyToken, 'hub.challenge': '1' };

      expectProblem(await verify(query, '/chatapp/callback/cbk_00000000000000000000000000'), 'not_found');
      expectProblem(await verify(query, '/chatapp/callback/x'), 'not_found');
    });
  });

  it('stores nothing, and says 401, when the signature is another, missing or malformed', async () => {
    const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.A')] }));
    const good = callbackSignature(body);

    for (const signature of [
      callbackSignature(body, 'another secret'),
      good.replace('sha256=', 'sha1='),
      good.slice(0, -2),
      `${good}00`,
      'sha256=',
      '',
      'zzz',
    ]) {
      expectProblem(await post(body, { 'X-Hub-Signature-256': signature }), 'signature_invalid');
    }
    expectProblem(await request(gateway.url).post(world.path).type('json').send(body), 'signature_invalid');
    expect(await itemsOf()).to.deep.equal([]);
  });

  it('stores nothing when the body was altered on the way, by a space only', async () => {
    const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.A')] }));

    const altered = await post(`${body} `, { 'X-Hub-Signature-256': callbackSignature(body) });

    expectProblem(altered, 'signature_invalid');
    expect(await itemsOf()).to.deep.equal([]);
  });

  it('takes the signature of one account for no other', async () => {
    const other = await makeProvider(gateway.db, await makeAccount(gateway.db, 0), { appSecret: 'theirs' });
    const body = callbackPost({ messages: [textMessage('wamid.A')] });

    expectProblem(await post(body, {}, `/chatapp/callback/${other.provider.callback}`), 'signature_invalid');
    expectProblem(await post(body, {}, '/chatapp/callback/cbk_00000000000000000000000000'), 'not_found');
    expectProblem(await post(body, {}, '/chatapp/callback/'), 'not_found');
    expect(await gateway.db.collection('chat_inbox').countDocuments({ account: other.provider._id })).to.equal(0);
  });

  it('limits who has no good signature, by address; good ones from there are answered', async () => {
    const config = { ...TEST_CONFIG, authFailuresPerMinute: 3, trustProxy: ['127.0.0.1'] };
    const strict = await openGateway(gateway.db, { config });
    const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.A')] }));
    const send = (signature: string) =>
      request(strict.url)
        .post(world.path)
        .set({
          'X-Forwarded-For': '203.0.113.7',
          'Content-Type': 'application/json',
          'X-Hub-Signature-256': signature,
        })
        .send(body);

    const bad = [];
    for (let i = 0; i < 5; i++) bad.push((await send('sha256=00')).status);
    const good = await send(callbackSignature(body));
    await strict.close();

    expect(bad).to.deep.equal([401, 401, 401, 429, 429]);
    expect(good.status).to.equal(200);
  });
});
