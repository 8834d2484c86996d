import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { listen, trigger } from '../../../scripts/listen/listen.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { accountAtGateway } from '../../support/account-gateway.ts';
import { eventually } from '../../support/eventually.ts';
import { makeMessage } from '../../support/make.ts';

describe('npm run listen', () => {
  const world = accountAtGateway(10);
  let server: Server;
  let posts: { headers: IncomingHttpHeaders; body: string }[];
  let told: string[];
  let status: number;
  beforeEach((done) => {
    [posts, told, status] = [[], [], 204];
    server = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk) => (body += chunk));
      req.on('end', () => {
        posts.push({ headers: req.headers, body });
        res.writeHead(status).end();
      });
    }).listen(0, '127.0.0.1', done);
  });
  afterEach((done) => {
    server.close(done);
  });
  const asked = (stop = new AbortController()) => ({
    to: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`),
    gateway: new URL(world.url),
    key: world.key,
    tell: (line: string) => void told.push(line),
    stop: stop.signal,
  });
  const secret = () => /whsec_\S+/.exec(told.join('\n'))?.[0] ?? '';
  const delivered = async (at = new Date()) => {
    const message: MessageDocument = makeMessage({
      account: world.account,
      state: 'delivered',
      history: [{ state: 'delivered', at }],
    });
    await world.db.collection<MessageDocument>('messages').insertOne(message);
    return message;
  };

  it('posts each event once, as a webhook would, and tells what was answered', async () => {
    await delivered(new Date(Date.now() - 60_000));
    const stop = new AbortController();
    const listening = listen(asked(stop), []);
    await eventually(() => secret() !== '', 'it listens');

    const messages = [await delivered(), await delivered()];
    await eventually(() => posts.length >= 2, 'both are posted');
    status = 500;
    messages.push(await delivered());
    await eventually(() => told.some((line) => line.includes('→ 500')), 'the refusal is told');
    stop.abort();
    await listening;

    expect(posts).to.have.length(3);
    for (const { headers, body } of posts) {
      const event = new Webhook(secret()).verify(body, headers as Record<string, string>);
      expect(event).to.include({ event: 'message.delivered' }).and.not.to.have.property('event_id');
    }
    const ids = posts.map(({ body }) => JSON.parse(body).message_id);
    expect(ids).to.have.members(messages.map(({ _id }) => _id));
    expect(told.join()).not.to.include(world.key);
  });

  it('posts only the kinds that were asked for', async () => {
    const stop = new AbortController();
    const listening = listen(asked(stop), ['message.failed']);
    await eventually(() => secret() !== '', 'it listens');
    await delivered();
    const failed = makeMessage({
      account: world.account,
      state: 'failed',
      history: [{ state: 'failed', at: new Date() }],
    });
    await world.db.collection<MessageDocument>('messages').insertOne(failed);

    await eventually(() => posts.length > 0, 'the failure is posted');
    stop.abort();
    await listening;

    expect(posts.map(({ body }) => JSON.parse(body).event)).to.deep.equal(['message.failed']);
  });

  it('ends at once with a key that is refused, and says why', async () => {
    const error = await listen({ ...asked(), key: 'hk_live_wrong' }, []).catch((thrown: Error) => thrown);

    expect(error)
      .to.be.instanceOf(Error)
      .and.to.have.property('message')
      .that.matches(/answers 401: /);
  });

  it('triggers an example of any event, signed with the same secret', async () => {
    await trigger(asked(), 'message.received');

    const [post] = posts;
    const event = new Webhook(secret()).verify(post?.body ?? '', post?.headers as Record<string, string>);
    expect(event).to.include({ event: 'message.received' });
    const unknown = await trigger(asked(), 'message.lost').catch((thrown: Error) => thrown);
    expect(unknown)
      .to.have.property('message')
      .that.matches(/no event message.lost. There are: .*message.delivered/);
  });
});
