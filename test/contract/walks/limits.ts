import { eventually } from '../../support/eventually.ts';
import { type ManyAnswer, ManyRequests } from '../../support/many-requests.ts';
import type { Answer } from '../client.ts';
import { expectProblem, namedFields } from '../shape.ts';
import { LIMITS } from '../tables/limits.ts';
import { SETTLE_MS, type World } from '../world.ts';
import { balance } from './states.ts';

/** Every row of "Limits", at its value and one beyond. */
export function walkLimits(world: () => World): void {
  const { requestRate, bulkRecipients, billingUnit, sessionWindow } = LIMITS;

  it(`${billingUnit.value} ${billingUnit.unit}`, async () => {
    const { client, otherKey } = world();
    const before = await balance(world(), otherKey);
    const message = 'Ihre Bestellung ist unterwegs. '.repeat(8); // Two segments.

    const one = await client.call({
      method: 'POST',
      path: '/v2/send',
      key: otherKey,
      body: { to: '919876500991', message, sender: 'HARKRA' },
    });
    const three = await client.call({
      method: 'POST',
      path: '/v2/send-bulk',
      key: otherKey,
      body: { to: ['919876500992', '919876500993', '919876500992'], message, sender: 'HARKRA' },
    });

    expect([one.body.credits_used, three.body.total, three.body.credits_used]).to.deep.equal([1, 3, 3]);
    expect(await balance(world(), otherKey)).to.equal(before - 4 * billingUnit.value);
  });

  it(`${sessionWindow.value} ${sessionWindow.unit}: inside it a text goes, outside it 403`, async () => {
    const windowMs = sessionWindow.value * 3_600_000;
    const inside = await writesAndIsAnswered(world(), '919876500994', windowMs - 60_000);
    const outside = await writesAndIsAnswered(world(), '919876500995', windowMs + 2_000);

    expect(inside.status, inside.text).to.equal(200);
    expectProblem(outside, sessionWindow.exceeding, 'session_closed');
  });

  it(`${bulkRecipients.value} ${bulkRecipients.unit} go, one more and none are ${bulkRecipients.exceeding}`, async () => {
    const { client, product } = world();
    const created = JSON.parse(await product.ops('account create --name Bulk --senders any --json'));
    const account = String(created.account);
    await product.ops(`credits top-up ${account} ${bulkRecipients.value}`);
    // Paused, so that the messages stay queued: this test is only about the request.
    await product.ops(`account pause ${account}`);
    const { key } = JSON.parse(await product.ops(`key create ${account} --name bulk --json`));
    const ask = (count: number): Promise<Answer> => {
      const to = Array.from({ length: count }, (_, i) => String(919_800_000_000 + i));
      const body = { to, message: 'To all', sender: 'HARKRA', route: 'transactional' };
      return client.call({ method: 'POST', path: '/v2/send-bulk', key, body });
    };

    for (const count of [bulkRecipients.value + 1, 0]) {
      const refused = await ask(count);
      expectProblem(refused, bulkRecipients.exceeding, 'invalid_request');
      expect(namedFields(refused)).to.deep.equal(['to']);
    }
    expect(await balance(world(), key)).to.equal(bulkRecipients.value);

    const accepted = await ask(bulkRecipients.value);
    expect(accepted.status, accepted.text).to.equal(200);
    expect(accepted.body).to.include({ total: bulkRecipients.value, credits_used: bulkRecipients.value });
    expect(await balance(world(), key)).to.equal(0);
  });

  it(`${requestRate.value} ${requestRate.unit}: the next is ${requestRate.exceeding} with Retry-After, another key's is not`, async () => {
    const { product } = world();
    const { key } = JSON.parse(await product.ops(`key create ${product.account} --name rate --json`));
    const many = new ManyRequests(20);
    const ask = (): Promise<ManyAnswer> => {
      const headers = { Authorization: `Bearer ${key}` };
      return many.send({ url: `${product.url}/v2/balance`, method: 'GET', headers });
    };
    // The first request begins the window; all others fall into its minute.
    const first = await ask();

    const others = await Promise.all(Array.from({ length: requestRate.value + 49 }, ask));
    const answers = [first, ...others];
    many.close();

    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === requestRate.exceeding);
    expect([passed.length, refused.length]).to.deep.equal([requestRate.value, 50]);
    for (const { headers } of answers) {
      expect(headers['ratelimit-policy']).to.equal(`"default";q=${requestRate.value};w=60`);
      expect(headers.ratelimit).to.match(/^"default";r=\d{1,3};t=\d{1,2}$/);
    }
    for (const { headers } of refused) expect(Number(headers['retry-after'])).to.be.within(1, 60);
    await expectOnlyThisKey(world(), key);
  });
}

/** All endpoints share a key's limit, so a send is refused too. The account's other keys are not refused. */
async function expectOnlyThisKey(world: World, key: string): Promise<void> {
  const { client } = world;
  const body = { to: '919876500996', message: 'Too many', sender: 'HARKRA' };

  const refused = await client.call({ method: 'POST', path: '/v2/send', key, body });
  const other = await client.call({ method: 'POST', path: '/v2/send', key: world.sendKey, body });

  expectProblem(refused, LIMITS.requestRate.exceeding, 'rate_limited');
  expect(refused.body.retryable).to.equal(true);
  expect(other.status).to.equal(200);
}

/** Has a customer write that long ago, then sends the customer a free-form text. */
async function writesAndIsAnswered({ client, key, product }: World, customer: string, agoMs: number): Promise<Answer> {
  const timestamp = String(Math.floor((Date.now() - agoMs) / 1000));
  product.provider?.sends(customer, { type: 'text', text: { body: 'Hello?' }, timestamp });
  await eventually(
    () => product.receiver.received().some(({ json }) => json.event === 'message.received' && json.from === customer),
    `the message of ${customer}`,
    SETTLE_MS,
  );
  const body = { to: customer, message: 'Here we are.' };
  return client.call({ method: 'POST', path: '/v2/chatapp/send-text', key, body });
}
