import { callbackPost, callbackSignature, statusOf, textMessage } from '../../../support/chat-callback.ts';
import { openGateway } from '../../../support/gateway.ts';
import { ManyRequests } from '../../../support/many-requests.ts';
import { expectProblem } from '../../../support/problem.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { callbackWorld, postSigned } from '../chatapp-callbacks/callback-world.ts';

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

describe('/chatapp/callback/{callback}: large posts', () => {
  const world = callbackWorld();
  const { gateway, itemsOf, post } = world;

  it('takes 3 MB with thousands of entries, and no more', async () => {
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
    expect(await gateway.db.collection('conversations').countDocuments({ account: gateway.account })).to.equal(8_000);
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
    const other = await openGateway(gateway.db, { log });

    const answer = await postSigned(other.url + world.path, body);
    await other.close();

    expect(answer.status).to.equal(200);
    const items = await itemsOf();
    expect(
      items.map(({ what }) => {
        if (what.kind === 'template' || what.kind === 'preference') return [];
        return 'body' in what ? [what.upstreamId, what.body] : [what.upstreamId, what.error?.code];
      }),
    ).to.deep.equal([
      ['wamid.s', 131_026],
      ['wamid.deep', 'hi'],
      ['wamid.names', 'hi'],
      ['wamid.small', 'hi'],
      ['wamid.text', 'x'.repeat(16_384)],
    ]);
    expect(await gateway.db.collection('conversations').countDocuments({ account: gateway.account })).to.equal(1);
    // Only too deeply nested values of an item are removed; those of a status are not used.
    expect(told).to.deep.include({ event: 'callback_items_cut', account: gateway.account, items: 2 });
  });

  it('says 400 to more values than any post has, and to megabytes that are no JSON object', async () => {
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

  it('stores each of a flood of duplicates, shuffled and forged once, and answers each', async () => {
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
          url: gateway.url + world.path,
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
