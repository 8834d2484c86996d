import { changeOptOuts } from '../../../../shared/carriers/opt-outs/store.ts';
import type { RouteDocument } from '../../../../shared/carriers/routing/route.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectFieldRefusal, expectProblem } from '../../../support/problem.ts';
import { smsWorld } from './world.ts';

const TO_INDIA = { to: '919876543210', message: 'Hello', sender: 'HARKRA' };
const TO_UK = { ...TO_INDIA, to: '447911123456' };
const INDIA: RouteDocument = {
  _id: 'india',
  order: 0,
  match: { countries: ['IN'] },
  groups: [[{ carrier: 'a', weight: 1 }], [{ carrier: 'b', weight: 1 }]],
  waitSeconds: 20,
  price: '0.12 INR',
  costs: { a: '0.10 INR' },
  createdAt: new Date('2026-11-22T10:00:00Z'),
};

describe('400 no_route', () => {
  const single = smsWorld('/v2/send');
  const bulk = smsWorld('/v2/send-bulk');
  const optedOut = smsWorld('/v2/send');

  it('of a single message: nothing is charged, and the routes that there are carry the others at their price', async () => {
    const account = await makeAccount(single.store.db, 5);
    const key = await makeKey(single.store.db, account);
    await single.store.db.collection<RouteDocument>('routes').insertOne(INDIA);

    const refused = await eventually(async () => {
      const answer = await single.send(key, TO_UK);
      if (answer.status !== 400) throw new Error('accepted');
      return answer;
    }, 'the route counts');
    const before = await single.balanceOf(account);
    expectProblem(refused, 'no_route');
    expect(
      refused.body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`),
    ).to.deep.equal(['to no_route']);
    const taken = await single.send(key, TO_INDIA);

    expect(taken.status).to.equal(200);
    expect(await single.balanceOf(account)).to.equal((before ?? 0) - 1);
    const stored = await single.store.db
      .collection<MessageDocument>('messages')
      .findOne({ _id: taken.body.message_id });
    expect(stored).to.deep.include({
      path: '@20:a>b',
      routed: { route: 'india', price: '0.12 INR', costs: { a: '0.10 INR' } },
    });
  });

  it('of a bulk request: by index, all or nothing', async () => {
    const account = await makeAccount(bulk.store.db, 5);
    const key = await makeKey(bulk.store.db, account);
    await bulk.store.db.collection<RouteDocument>('routes').insertOne(INDIA);
    const { to: _, ...words } = TO_INDIA;

    const refused = await bulk.send(key, { ...words, to: [TO_INDIA.to, TO_UK.to, '4915112345678'] });

    expectProblem(refused, 'no_route');
    expect(refused.body.errors.map(({ field }: { field: string }) => field)).to.deep.equal(['to[1]', 'to[2]']);
    expect(await bulk.balanceOf(account)).to.equal(5);
  });

  it('is not told of a recipient who has opted out: that one wants no messages by any route', async () => {
    const { store, post, balanceOf } = optedOut;
    const account = await makeAccount(store.db, 5, { optOuts: true });
    const key = await makeKey(store.db, account);
    await store.db.collection<RouteDocument>('routes').insertOne(INDIA);
    const wish = { kind: 'out', scope: '*', at: new Date(), source: 'api' } as const;
    await changeOptOuts(store.db, [{ account, customer: TO_UK.to, ...wish }]);
    const both = { ...TO_UK, to: [TO_INDIA.to, TO_UK.to] };

    expectProblem(await post('/v2/send', key, { ...TO_UK, to: '447911123457' }), 'no_route');
    expectFieldRefusal(await post('/v2/send', key, TO_UK), 'recipient_opted_out', 'to');
    expectProblem(await post('/v2/send-bulk', key, both), 'recipient_opted_out');
    const sent = await post('/v2/send-bulk', key, { ...both, skip_opted_out: true });

    expect(sent.body).to.include({ total: 1, skipped: 1 });
    expect(await balanceOf(account)).to.equal(4);
  });
});
