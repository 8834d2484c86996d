import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import { expectProblem } from '../../../support/problem.ts';
import { openReceiver, type Receiver } from '../../../workers/webhooks/receiver.ts';
import { verify } from '../../../workers/webhooks/world.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/webhooks';

describe('a test event', () => {
  const { site, ask } = settingsWorld({
    ...{ webhookAllowHttp: 'yes', webhookAllowSubnets: ['127.0.0.0/8'] },
    webhookTimeoutMs: 5_000,
  });
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  async function receiver(...args: Parameters<typeof openReceiver>): Promise<Receiver> {
    const made = await openReceiver(...args);
    closing.push(() => made.close());
    return made;
  }
  const register = async (url: string) => (await ask('post', PATH, { channel: 'sms', url }).expect(200)).body;
  const test = (id: string) => ask('post', `${PATH}/${id}/test`);

  it('is signed as all events are, and tells what was answered; it is no delivery', async () => {
    const target = await receiver((_, res) => res.end('thanks '.repeat(1_000)));
    const { webhook_id: id, secret } = await register(`${target.url}/hooks?a=1`);

    const { body } = await test(id).expect(200);

    expect(body).to.include({ acknowledged: true, result: 200, answer: 'thanks '.repeat(1_000).slice(0, 2_048) });
    expect(body.duration_ms).to.be.a('number');
    const [got, ...more] = target.received;
    expect(more).to.deep.equal([]);
    expect(got).to.include({ path: '/hooks?a=1', body: body.body });
    expect(got && verify(secret, got)).to.deep.include({ event: 'webhook.test', webhook_id: id });
    expect(await site.db.collection('deliveries').countDocuments({ endpoint: id })).to.equal(0);
  });

  it('has both signatures after a rotation, and reaches a disabled webhook', async () => {
    const target = await receiver();
    const { webhook_id: id, secret: old } = await register(target.url);
    const { secret } = (await ask('post', `${PATH}/${id}/rotate`, {}).expect(200)).body;
    await ask('patch', `${PATH}/${id}`, { state: 'disabled' }).expect(200);

    await test(id).expect(200);

    const [got] = target.received;
    for (const key of [old, secret]) expect(got && verify(key, got)).to.include({ event: 'webhook.test' });
  });

  it('says in words what went wrong, and leaves the health of the webhook alone', async () => {
    const failing = await receiver((_, res) => res.writeHead(503).end('down'));
    const silent = await receiver(() => {});
    const [a, b] = [await register(failing.url), await register(silent.url)];

    expect((await test(a.webhook_id).expect(200)).body).to.include({
      ...{ acknowledged: false, result: 503, reason: 'Your server answered 503.', answer: 'down' },
    });
    const late = (await test(b.webhook_id).expect(200)).body;
    expect(late).to.include({ acknowledged: false, result: 'timeout', answer: null });
    expect(late.reason).to.match(/did not answer in time/);
    expect((await ask('get', `${PATH}/${a.webhook_id}`)).body).to.include({ failing_since: null, state: 'active' });
  });

  it('goes nowhere that a delivery may not go, also when the address was allowed once', async () => {
    const { webhook_id: id } = await register('https://shop.example/hooks');
    for (const [url, result] of [
      ['http://10.0.0.1:22/', 'refused_address'],
      ['http://[::1]:6379/', 'refused_address'],
      ['ftp://shop.example/', 'refused_url'],
    ] as const) {
      await site.db.collection<EndpointDocument>('endpoints').updateOne({ _id: id }, { $set: { url } });
      expect((await test(id).expect(200)).body).to.include({ result, acknowledged: false, answer: null });
    }
  });

  it('is not for looking for open ports: ten a minute for an account', async () => {
    const target = await receiver();
    const { webhook_id: id } = await register(target.url);

    const answers = await Promise.all(Array.from({ length: 22 }, () => test(id)));

    // More calls pass than a minute's limit if a minute ends in between.
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).to.be.at.least(1);
    for (const answer of refused) expectProblem(answer, 'rate_limited');
    expect(target.received.length).to.equal(answers.length - refused.length);
  });
});
