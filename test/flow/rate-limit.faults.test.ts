import type { RateDocument } from '../../gateway/access/window.ts';
import { createKey } from '../../shared/people/keys/store.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { type ManyAnswer, ManyRequests } from '../support/many-requests.ts';
import { useProduct } from '../support/product.ts';

const LIMIT = 1_000;
const ASKED = 1_500;

describe('the rate limit of real gateway processes', () => {
  const product = useProduct({ gateways: 2 });

  it('of 1,500 requests of one key in one window exactly 1,000 pass, over two processes and 100 connections', async () => {
    const { db, account, url } = product;
    const { key } = await createKey(db, systemClock, { account, name: 'limited', scopes: ['read'], perMinute: LIMIT });
    const many = new ManyRequests(100);
    const headers = { Authorization: `Bearer ${key}` };
    // The first begins this key's window; all others fall into its minute.
    const first = await many.send({ url: `${url}/v2/balance`, method: 'GET', headers });

    const others = await Promise.all(
      Array.from({ length: ASKED - 1 }, () => many.send({ url: `${url}/v2/balance`, method: 'GET', headers })),
    );
    many.close();

    const answers = [first, ...others];
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([passed.length, refused.length]).to.deep.equal([LIMIT, ASKED - LIMIT]);
    for (const answer of refused) expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect(restsOf(passed)).to.satisfy((rests: readonly number[]) => rests.every((rest) => rest >= 0 && rest < LIMIT));
  });

  it('requests without a good key are limited by address, a good key from the same address passes', async () => {
    const { url, key, db } = product;
    const many = new ManyRequests(20);
    const bad = { Authorization: 'Bearer hk_live_nobody' };

    const answers = await Promise.all(
      Array.from({ length: 60 }, () => many.send({ url: `${url}/v2/balance`, method: 'GET', headers: bad })),
    );
    const good = await many.send({
      url: `${url}/v2/balance`,
      method: 'GET',
      headers: { Authorization: `Bearer ${key}` },
    });
    // No proxy is trusted, so a forged address does not count.
    const forged = await many.send({
      url: `${url}/v2/balance`,
      method: 'GET',
      headers: { ...bad, 'X-Forwarded-For': '203.0.113.7' },
    });
    many.close();

    expect(answers.filter(({ status }) => status === 401)).to.have.length(30);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(30);
    expect(good.status).to.equal(200);
    expect(forged.status).to.equal(429);
    const counted = await db
      .collection<RateDocument>('rate')
      .find({ _id: { $regex: '^ip:' } })
      .toArray();
    expect(counted.map(({ _id }) => _id)).to.deep.equal(['ip:127.0.0.1']);
  });
});

/** What the answers say is left of the limit. */
function restsOf(answers: readonly ManyAnswer[]): number[] {
  return answers.map(({ headers }) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1]));
}
