import request from 'supertest';
import { callbackPost, callbackSignature, textMessage } from '../../../support/chat-callback.ts';
import { makeProvider } from '../../../support/chatapp.ts';
import { openGateway, TEST_CONFIG } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { callbackWorld } from './callback-world.ts';

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
