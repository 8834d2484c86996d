import { expect } from 'chai';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import type { RouteDocument } from '../../../shared/routing/route.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { Reroute } from '../../../workers/maintenance/reroute.ts';
import { makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

function route(_id: string, match: RouteDocument['match'], carriers: readonly string[]): RouteDocument {
  const groups = carriers.map((carrier) => [{ carrier, weight: 1 }]);
  return { _id, order: 0, match, groups, waitSeconds: 30, createdAt: new Date(0) };
}

describe('Reroute', () => {
  let store: TestStore;
  const clock = new ManualClock();
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(() => store.db.dropDatabase());

  const routes = () => store.db.collection<RouteDocument>('routes');
  const messages = () => store.db.collection<MessageDocument>('messages');
  const make = (): Reroute => new Reroute({ db: store.db, clock, held: () => true });
  async function put(count: number, more: Partial<MessageDocument>): Promise<void> {
    await messages().insertMany(Array.from({ length: count }, () => makeMessage({ _id: newId('msg'), ...more })));
  }
  async function paths(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for await (const { path } of messages().find()) counts[path] = (counts[path] ?? 0) + 1;
    return counts;
  }

  it('what waits follows the routes, from the first to none, and is changed once for each change', async () => {
    await put(600, { to: '919876543210', path: 'transactional' });
    await put(10, { to: '447911123456', path: 'transactional' });
    const reroute = make();
    expect(await reroute.run()).to.equal(0);

    await routes().insertMany([route('india', { prefixes: ['91'] }, ['a', 'b']), route('rest', {}, ['c'])]);
    expect(await reroute.run()).to.equal(610);
    expect(await paths()).to.deep.equal({ '@30:a>b': 600, '@30:c': 10 });
    expect(await reroute.run()).to.equal(0);

    await routes().updateOne({ _id: 'india' }, { $set: { groups: [[{ carrier: 'b', weight: 1 }]] } });
    expect(await reroute.run()).to.equal(600);
    expect(await paths()).to.deep.equal({ '@30:b': 600, '@30:c': 10 });

    await routes().deleteMany({});
    expect(await reroute.run()).to.equal(610);
    expect(await paths()).to.deep.equal({ transactional: 610 });
    expect(await messages().countDocuments({ routed: { $exists: true } })).to.equal(0);
  });

  it('what a gateway puts on an earlier path a moment later is found, also when other messages lie there by right', async () => {
    await routes().insertMany([route('india', { prefixes: ['91'] }, ['a']), route('rest', {}, ['c'])]);
    const reroute = make();
    await reroute.run();
    await routes().updateOne({ _id: 'india' }, { $set: { groups: [[{ carrier: 'c', weight: 1 }]] } });
    await reroute.run();

    await put(1, { to: '919876543210', path: '@30:a' });
    expect(await reroute.run()).to.equal(1);
    await put(1, { to: '447911123456', path: '@30:c', routed: { route: 'india' } });
    expect(await reroute.run()).to.equal(0);
    clock.turn(3_000);
    expect(await reroute.run()).to.equal(1);
  });

  it('no carrier gets a message that it has refused, and what nobody may take any more waits for its end', async () => {
    const attempts = [{ carrier: 'a', at: new Date(0), code: '0x0B', reason: 'x' }];
    await put(1, { to: '919876543210', path: '@30:b', attempts });
    await put(1, { to: '447911123456', path: '@30:b' });
    await routes().insertOne(route('india', { prefixes: ['91'] }, ['a', 'c']));

    await make().run();

    expect(await paths()).to.deep.equal({ '@30:c': 1, '@0:': 1 });
  });

  it('what is with a carrier stays as it is', async () => {
    await put(1, { state: 'submitting', path: 'transactional' });
    await put(1, { state: 'sent', path: 'transactional' });
    await routes().insertOne(route('rest', {}, ['c']));

    expect(await make().run()).to.equal(0);
  });
});
