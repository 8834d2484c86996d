import type { Db } from 'mongodb';
import type { RouteDocument } from '../../../shared/carriers/routing/route.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { MIXED, queueDocuments, unpackLines } from '../../../shared/messages/queue/queue-document.ts';
import { claimLines, insertFirst, queueOf } from '../../../shared/messages/queue/queue-store.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Reroute, type RerouteDeps } from '../../../workers/maintenance/reroute.ts';
import { Died, dyingDb } from '../../support/dying-db.ts';
import { makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { enqueue, enqueueWritten, writeOutAll } from '../../support/queue.ts';
import { useStore } from '../../support/store.ts';

function route(_id: string, match: RouteDocument['match'], carriers: readonly string[]): RouteDocument {
  const groups = carriers.map((carrier) => [{ carrier, weight: 1 }]);
  return { _id, order: 0, match, groups, waitSeconds: 30, createdAt: new Date(0) };
}

function observed(db: Db, before: (command: Parameters<Db['command']>[0]) => unknown): Db {
  return new Proxy(db, {
    get(target, property) {
      if (property !== 'command') return Reflect.get(target, property);
      return async (...[command, options]: Parameters<Db['command']>) => {
        await before(command);
        return target.command(command, options);
      };
    },
  });
}

describe('Reroute', () => {
  const store = useStore();
  const clock = new ManualClock();
  beforeEach(() => store.db.dropDatabase());

  const routes = () => store.db.collection<RouteDocument>('routes');
  const messages = () => store.db.collection<MessageDocument>('messages');
  const deps = (): RerouteDeps => ({
    ...{ db: store.db, clock, held: () => true },
    holder: () => ({ carrier: '@maintenance', epoch: 1 }),
  });
  const make = (): Reroute => new Reroute(deps());
  const some = (count: number, more: Partial<MessageDocument>): MessageDocument[] =>
    Array.from({ length: count }, () => makeMessage({ account: 'acc_1', _id: newId('msg'), ...more }));
  const enqueueMixed = async (accounts: readonly MessageDocument[][]): Promise<void> => {
    const group = newId('grp');
    const groups = accounts.map((messages) => ({ group, messages }));
    expect(await insertFirst(store.db, queueDocuments(groups, clock.now()))).to.equal(true);
  };
  const put = (count: number, more: Partial<MessageDocument>) => enqueueWritten(store.db, some(count, more));
  /** Each queued message has a line on its path, where a carrier finds it. */
  async function expectLines(): Promise<void> {
    const open = await queueOf(store.db).find({ open: true }).toArray();
    const lines = open.flatMap(({ path, lines: packed, next }) =>
      unpackLines(packed)
        .slice(next)
        .map(({ _id }) => `${path} ${_id}`),
    );
    const queued = await messages().find({ state: 'queued' }).toArray();
    // Two lines of a message are harmless: the message decides.
    expect([...new Set(lines)]).to.have.members(queued.map(({ path, _id }) => `${path} ${_id}`));
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
    await expectLines();
    expect(await queueOf(store.db).countDocuments({ open: { $exists: false } })).to.equal(0);
  });

  it('what waits as lines only is written out if it moves, and is left alone if it does not', async () => {
    await routes().insertMany([route('india', { prefixes: ['91'] }, ['a']), route('rest', {}, ['c'])]);
    await enqueue(store.db, some(250, { to: '919876543210', path: 'transactional' }));
    await enqueue(store.db, some(10, { to: '447911123456', path: '@30:c', routed: { route: 'rest' } }));

    expect(await make().run()).to.equal(250);

    expect(await paths()).to.deep.equal({ '@30:a': 250 });
    await writeOutAll(store.db);
    await expectLines();
  });

  it('lines of several accounts in one document are moved, or left alone, as those of one', async () => {
    await routes().insertMany([route('india', { prefixes: ['91'] }, ['a']), route('rest', {}, ['c'])]);
    const india = { to: '919876543210', path: 'transactional' };
    await enqueueMixed([some(2, india), some(2, { ...india, account: 'acc_2' })]);
    const stays = { to: '447911123456', path: '@30:c', routed: { route: 'rest' } } as const;
    await enqueueMixed([some(1, stays), some(1, { ...stays, account: 'acc_2' })]);

    expect(await make().run()).to.equal(4);

    expect(await paths()).to.deep.equal({ '@30:a': 4 });
    expect(await queueOf(store.db).countDocuments({ account: MIXED })).to.equal(1);
    await writeOutAll(store.db);
    await expectLines();
  });

  it('what a carrier claims at the same moment stays with it', async () => {
    await routes().insertOne(route('rest', {}, ['c']));
    const [document] = await enqueue(store.db, some(150, { path: 'transactional' }));
    if (document === undefined) throw new Error('nothing is queued');
    const claim = { id: newId('clm'), carrier: 'a', epoch: 1, at: new Date() };
    const take = (from: number) => claimLines(store.db, claim, [{ head: { ...document, next: from }, to: from + 10 }]);
    await take(0);
    let claimed = false;
    const db = observed(store.db, async ({ update, updates }) => {
      if (update !== 'queue' || claimed || updates[0].u.$set.written !== true) return;
      claimed = true;
      await take(10);
    });

    expect(await new Reroute({ ...deps(), db }).run()).to.equal(130);

    expect(claimed).to.equal(true);
    expect(await messages().countDocuments({ state: 'queued', path: '@30:c' })).to.equal(130);
    expect(
      await messages().countDocuments({ state: 'submitting', path: 'transactional', 'claim.carrier': 'a' }),
    ).to.equal(20);
  });

  for (const when of ['before', 'after'] as const) {
    it(`no message loses its line, whatever command is the last of a process that dies ${when} it`, async () => {
      await routes().insertOne(route('rest', {}, ['c']));
      for (let [last, died] = [1, true]; died; last++) {
        await messages().deleteMany({});
        await queueOf(store.db).deleteMany({});
        await put(3, { path: 'transactional' });
        await enqueue(store.db, some(3, { path: 'transactional' }));
        await enqueueMixed([some(1, { path: 'transactional' }), some(1, { path: 'transactional', account: 'acc_2' })]);
        const dying = new Reroute({ ...deps(), db: dyingDb(store.db, last, when) });
        died = await dying.run().then(
          () => false,
          (error) => error instanceof Died,
        );
        if (last === 1) expect(died).to.equal(true);

        await new Reroute({ ...deps(), holder: () => ({ carrier: '@maintenance', epoch: 2 }) }).run();

        await writeOutAll(store.db);
        expect(await paths()).to.deep.equal({ '@30:c': 8 });
        await expectLines();
      }
    });
  }

  it('a path that no carrier serves keeps no documents of what does not wait there', async () => {
    await put(20, { path: '@30:gone' });
    await messages().updateMany({}, { $set: { state: 'rejected' }, $inc: { v: 1 } });

    expect(await make().run()).to.equal(0);

    expect(await queueOf(store.db).countDocuments({})).to.equal(0);
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
