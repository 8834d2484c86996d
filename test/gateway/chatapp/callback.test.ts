import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import request from 'supertest';
import type { InboxItemDocument } from '../../../shared/chat-inbox/inbox-item.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/conversations/conversation.ts';
import { connectStore } from '../../../shared/mongo/connect.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { startEmbeddedStore } from '../../../workers/embedded-db/server.ts';
import { callbackPost, callbackSignature, statusOf, textMessage } from '../../support/chat-callback.ts';
import { makeProvider } from '../../support/chatapp.ts';
import { dyingDb } from '../../support/dying-db.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway, TEST_CONFIG, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { ManyRequests } from '../../support/many-requests.ts';
import { expectProblem } from '../../support/problem.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('/chatapp/callback/{callback}', () => {
  let store: TestStore;
  let gateway: TestGateway;
  let account: AccountId;
  let path: string;
  let verifyToken: string;
  before(async () => {
    store = await openTestStore();
    gateway = await openGateway(store.db);
  });
  after(async () => {
    await gateway.close();
    await store.close();
  });
  beforeEach(async () => {
    account = await makeAccount(store.db, 0);
    const made = await makeProvider(store.db, account);
    path = `/chatapp/callback/${made.provider.callback}`;
    verifyToken = made.verifyToken ?? '';
  });

  const itemsOf = (): Promise<InboxItemDocument[]> =>
    store.db.collection<InboxItemDocument>('chat_inbox').find({ account }).sort({ _id: 1 }).toArray();
  const post = (body: object | string, headers: Readonly<Record<string, string>> = {}, to = path) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return request(gateway.url)
      .post(to)
      .set({ 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(text), ...headers })
      .send(text);
  };

  describe('GET, the verify challenge', () => {
    const verify = (query: Readonly<Record<string, string>>, to = path) => request(gateway.url).get(to).query(query);

    it('answers with the bare challenge when mode and token are right', async () => {
      const answer = await verify({
        'hub.mode': 'subscribe',
        'hub.verify_token': verifyToken,
        'hub.challenge': '1158201444',
      });

      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.match(/^text\/plain/);
      expect(answer.text).to.equal('1158201444');
    });

    it('refuses another token, another mode, and no query at all', async () => {
      const right = { 'hub.mode': 'subscribe', 'hub.verify_token': verifyToken, 'hub.challenge': '1' };
      for (const query of [
        { ...right, 'hub.verify_token': `${verifyToken}x` },
        { ...right, 'hub.verify_token': '' },
        { ...right, 'hub.mode': 'unsubscribe' },
        {},
      ]) {
        expectProblem(await verify(query), 'verify_token_invalid');
      }
    });

    it('knows no other address', async () => {
      const query = { 'hub.mode': 'subscribe', 'hub.verify_token': verifyToken, 'hub.challenge': '1' };

      expectProblem(await verify(query, '/chatapp/callback/cbk_00000000000000000000000000'), 'not_found');
      expectProblem(await verify(query, '/chatapp/callback/x'), 'not_found');
    });
  });

  describe('POST', () => {
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
      expect(items.map(({ _id }) => _id)).to.deep.equal([`${account}:in:wamid.A`, `${account}:read:wamid.B`]);
      expect(items.every(({ due }) => due !== undefined)).to.equal(true);
      const conversation = await store.db
        .collection<ConversationDocument>('conversations')
        .findOne({ _id: conversationKey(account, '919876543210') });
      expect(conversation).to.deep.include({ account, customer: '919876543210', lastInboundAt: at });
    });

    it('opens the session before anybody can hear of the message: an answer that comes at once is not refused', async () => {
      const died = dyingDb(store.db, 2, 'before');
      const heard = await openGateway(died);
      try {
        const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.early')] }));
        const answer = await request(heard.url)
          .post(path)
          .set({ 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(body) })
          .send(body);
        expect(answer.status).to.equal(500);
      } finally {
        await heard.close();
      }

      const session = await store.db
        .collection<ConversationDocument>('conversations')
        .findOne({ _id: conversationKey(account, '919876543210') });
      expect(session).to.have.property('lastInboundAt');
      expect(await itemsOf()).to.deep.equal([]);
    });

    it('stores the same post once, also when copies come at the same time, and brings nothing back that is worked off', async () => {
      const body = callbackPost({ messages: [textMessage('wamid.A')], statuses: [statusOf('wamid.B', 'sent')] });
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(body)));
      await store.db.collection('chat_inbox').updateMany({ account }, { $unset: { due: '' } });

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
        await post(
          callbackPost({ messages: [textMessage(`wamid.${age}`, '919876543210', new Date(now - age * 1000))] }),
        );
      }

      const conversation = await store.db
        .collection<ConversationDocument>('conversations')
        .findOne({ _id: conversationKey(account, '919876543210') });
      expect(conversation?.lastInboundAt).to.deep.equal(new Date(now - 5_000));
      expect(await itemsOf()).to.have.lengthOf(ages.length);
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
      expectProblem(await request(gateway.url).post(path).type('json').send(body), 'signature_invalid');
      expect(await itemsOf()).to.deep.equal([]);
    });

    it('stores nothing when the body was altered on the way, by a space only', async () => {
      const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.A')] }));

      const altered = await post(`${body} `, { 'X-Hub-Signature-256': callbackSignature(body) });

      expectProblem(altered, 'signature_invalid');
      expect(await itemsOf()).to.deep.equal([]);
    });

    it('takes the signature of one account for no other', async () => {
      const other = await makeProvider(store.db, await makeAccount(store.db, 0), { appSecret: 'theirs' });
      const body = callbackPost({ messages: [textMessage('wamid.A')] });

      expectProblem(await post(body, {}, `/chatapp/callback/${other.provider.callback}`), 'signature_invalid');
      expectProblem(await post(body, {}, '/chatapp/callback/cbk_00000000000000000000000000'), 'not_found');
      expectProblem(await post(body, {}, '/chatapp/callback/'), 'not_found');
      expect(await store.db.collection('chat_inbox').countDocuments({ account: other.provider._id })).to.equal(0);
    });

    it('limits who has no good signature, by address; good ones from there are answered', async () => {
      const config = { ...TEST_CONFIG, authFailuresPerMinute: 3, trustProxy: ['127.0.0.1'] };
      const strict = await openGateway(store.db, { config });
      const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.A')] }));
      const send = (signature: string) =>
        request(strict.url)
          .post(path)
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

    it('says 400 to a signed body that is no JSON object', async () => {
      for (const body of ['{"entry": [', '', '[]', 'null', '"x"', '{"a": "\ud800"', 'x'.repeat(1000)]) {
        expectProblem(await post(body), 'malformed_body');
      }
      const latin = Buffer.from('{"entry": "\xe9"}', 'latin1');
      const notUtf8 = await request(gateway.url)
        .post(path)
        .set({ 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(latin) })
        .serialize((bytes: unknown) => bytes as string) // as it is
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

    it('takes 3 MB with thousands of entries, and no more', async function () {
      this.timeout(30_000);
      const messages = Array.from({ length: 8_000 }, (_, i) => ({
        ...textMessage(`wamid.${i}`, `9198765${String(i).padStart(5, '0')}`),
        context: { pad: 'x'.repeat(220) },
      }));
      const body = JSON.stringify(callbackPost({ messages }));
      expect(body.length).to.be.within(2_500_000, 3_145_728);

      const large = await post(body);
      const larger = await post(body.padEnd(3_145_729, ' '));

      expect(large.status).to.equal(200);
      expectProblem(larger, 'body_too_large');
      expect(await itemsOf()).to.have.lengthOf(8_000);
      expect(await store.db.collection('conversations').countDocuments({ account })).to.equal(8_000);
    });

    it('keeps a large item for what it is known by, and all that came with it', async () => {
      const giants = [
        { ...textMessage('wamid.text'), text: { body: 'x'.repeat(1_000_000) } },
        {
          ...textMessage('wamid.names'),
          ...Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, 0])),
        },
        { ...textMessage('wamid.deep'), odd: 'deep' },
      ];
      const status = {
        ...statusOf('wamid.s', 'failed'),
        errors: [{ code: 131_026, title: 'No' }],
        pricing: { x: Array(50_000).fill(1) },
      };
      const value = { messages: [...giants, textMessage('wamid.small')], statuses: [status] };
      const deep = '{"a":['.repeat(100_000) + ']}'.repeat(100_000);
      const body = JSON.stringify(callbackPost(value)).replace('"deep"', deep);
      const told: unknown[] = [];
      const log = { ...silentLog, warn: (event: string, fields?: object) => void told.push({ event, ...fields }) };
      const other = await openGateway(store.db, { log });

      const answer = await request(other.url)
        .post(path)
        .set({ 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(body) })
        .send(body);
      await other.close();

      expect(answer.status).to.equal(200);
      const items = await itemsOf();
      expect(
        items.map(({ what }) => ('body' in what ? [what.upstreamId, what.body] : [what.upstreamId, what.error?.code])),
      ).to.deep.equal([
        ['wamid.s', 131_026],
        ['wamid.deep', 'hi'],
        ['wamid.names', 'hi'],
        ['wamid.small', 'hi'],
        ['wamid.text', 'x'.repeat(16_384)],
      ]);
      expect(await store.db.collection('conversations').countDocuments({ account })).to.equal(1);
      // What only lies too deep is left out of its item, which is kept whole besides.
      expect(told).to.deep.include({ event: 'callback_items_cut', account, items: 3 });
    });

    it('says 400 to more values than any post has, and to megabytes that are no JSON object', async function () {
      this.timeout(30_000);
      const list = (entry: string) => `[${Array(1_000_000).fill(entry).join()}]`;
      const post3 = (value: string) => JSON.stringify(callbackPost({ x: 'X' })).replace('"x":"X"', value);

      for (const body of [
        post3(`"statuses":${list('1')}`),
        post3(`"messages":${list('{}')}`),
        `{"entry":${list('1')}}`,
        `{"entry":[{"changes":${list('1')}}]}`,
        list('1'),
        '['.repeat(3_000_000),
        '{"a":'.repeat(400_000),
        'x'.repeat(1_000_000),
        Buffer.from(`{"entry":[${'"a",'.repeat(50_000)}"\ud800"`).toString(),
      ]) {
        expectProblem(await post(body), 'malformed_body');
      }
      expect(await itemsOf()).to.deep.equal([]);
    });

    it('stores each of a flood of duplicates, shuffled and forged once, and answers each', async function () {
      this.timeout(60_000);
      const many = new ManyRequests(20);
      const genuine = Array.from({ length: 300 }, (_, i) => {
        const value =
          i % 2 === 0 ? { messages: [textMessage(`wamid.${i}`)] } : { statuses: [statusOf(`wamid.${i}`, 'delivered')] };
        return { body: JSON.stringify(callbackPost(value)), of: undefined, status: 200 };
      });
      const forged = genuine
        .slice(0, 50)
        .map(({ body }) => ({ body: body.replace('wamid.', 'wamid.forged'), of: body, status: 401 }));
      const posts = shuffled([...genuine, ...genuine, ...forged]);

      const answers = await Promise.all(
        posts.map(({ body, ...one }) =>
          many.send({
            url: gateway.url + path,
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'x-hub-signature-256': callbackSignature(typeof one.of === 'string' ? one.of : body),
            },
            body,
          }),
        ),
      );
      many.close();

      expect(answers.map(({ status }) => status)).to.deep.equal(posts.map(({ status }) => status));
      const items = await itemsOf();
      expect(items).to.have.lengthOf(300);
      expect(items.some(({ _id }) => _id.includes('forged'))).to.equal(false);
    });
  });

  it('is 503 while the store is away, so that the provider posts again, and stored when it is back', async function () {
    this.timeout(30_000);
    const dir = mkdtempSync(join(tmpdir(), 'harkara-callback-'));
    const start = () => startEmbeddedStore({ dir, durability: 'none' });
    let server = await start();
    const connected = await connectStore({ mongodbUri: server.uri, dataDir: '', mongodbDatabase: 'harkara' });
    const cutOff = await openGateway(connected.db);
    const made = await makeProvider(connected.db, await makeAccount(connected.db, 0));
    const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.A')] }));
    const send = () =>
      request(cutOff.url)
        .post(`/chatapp/callback/${made.provider.callback}`)
        .set({ 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(body) })
        .send(body);

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

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
