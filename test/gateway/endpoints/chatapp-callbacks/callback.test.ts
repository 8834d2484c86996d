import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { type ConversationDocument, conversationKey } from '../../../../shared/money/conversations/conversation.ts';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import { startEmbeddedStore } from '../../../../workers/embedded-db/server.ts';
import { callbackPost, callbackSignature, statusOf, textMessage } from '../../../support/chat-callback.ts';
import { makeProvider } from '../../../support/chatapp.ts';
import { dyingDb } from '../../../support/dying-db.ts';
import { eventually } from '../../../support/eventually.ts';
import { openGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
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
