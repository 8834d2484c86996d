import { expect } from 'chai';
import type { Db } from 'mongodb';
import { connectStore, type Store } from '../../../shared/mongo/connect.ts';
import { isStoreTrouble } from '../../../shared/mongo/errors.ts';
import { WriteRefused } from '../../../shared/mongo/guarded-connection.ts';
import { insertNew } from '../../../shared/mongo/insert-new.ts';
import { identityText, thisProcess } from '../../../shared/runtime/process-identity.ts';
import { within } from '../../../shared/runtime/within.ts';
import { closeAccess, closedProcesses, openAccess } from '../../../shared/store-access/access-store.ts';
import { WriteGate } from '../../../shared/store-access/write-gate.ts';
import { eventually } from '../../support/eventually.ts';
import { latch } from '../../support/latch.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pass, silent } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { silentLog as log } from '../../support/silent-log.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const PERIOD = { mode: 'read_only', period: 'p1', since: new Date() } as const;

interface Thing {
  readonly _id: string;
}

describe('the gate before the writes of a process', () => {
  let store: TestStore;
  let clock: ManualClock;
  let gate: WriteGate;
  /** The connection that the process uses. The test itself closes and opens the store for writes through `store.db`. */
  let own: Store;
  let proxy: WireProxy;
  let happened: string[];
  beforeEach(async () => {
    store = await openTestStore();
    clock = new ManualClock();
    gate = new WriteGate({ clock, log });
    proxy = await startWireProxy(store.uri);
    own = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: store.db.databaseName }, 0, gate);
    happened = [];
  });
  afterEach(async () => {
    gate.stop();
    await own.close();
    await proxy.close();
    await store.close();
  });

  const write = (id: string, db: Db = own.db) => db.collection<Thing>('things').insertOne({ _id: id });
  const things = async () => (await store.db.collection<Thing>('things').find().toArray()).map(({ _id }) => _id).sort();
  const refusalOf = (writing: Promise<unknown>) => writing.then(() => 'done').catch((error: unknown) => error);
  const isNoted = async (period = 'p1') => (await closedProcesses(store.db, period)).has(identityText(thisProcess()));
  const follow = () =>
    gate.follow(
      {
        pause: async () => {
          await write(`in hand ${happened.length}`);
          happened.push('pause');
        },
        resume: async () => void happened.push('resume'),
      },
      (error) => happened.push(`failed: ${error}`),
    );

  it('lets the parts store what is in hand, then refuses every kind of write, and opens again', async () => {
    await gate.begin(own.db);
    await follow();
    await write('before');
    await closeAccess(store.db, PERIOD);
    await eventually(isNoted, 'the process says that it is closed');

    const all = own.db.collection<Thing>('things');
    const refused = await Promise.all(
      [
        write('after'),
        insertNew(own.db, 'things', [{ _id: 'after' }]),
        all.updateMany({}, { $set: { x: 1 } }),
        all.findOneAndUpdate({}, { $set: { x: 1 } }),
        all.bulkWrite([{ deleteMany: { filter: {} } }]),
        all.deleteMany({}),
        all.createIndex({ x: 1 }),
        all.dropIndex('x_1'),
        all.drop(),
        own.db.dropDatabase(),
      ].map(refusalOf),
    );
    const read = await all.countDocuments();
    const during = await things();
    await openAccess(store.db, PERIOD);
    await eventually(() => gate.open, 'it opens');
    await write('later');

    // The driver wraps the refusal of a bulk write in another error, as it wraps a lost connection.
    expect(refused.map(isStoreTrouble)).to.deep.equal(refused.map(() => true));
    expect(refused[0]).to.be.instanceOf(WriteRefused);
    expect(read).to.equal(2);
    expect(during).to.deep.equal(['before', 'in hand 1']);
    expect(happened).to.deep.equal(['resume', 'pause', 'resume']);
    expect(await things()).to.deep.equal(['before', 'in hand 1', 'later']);
    expect(await isNoted()).to.equal(false);
  });

  for (const [what, standStill] of [
    ['process that was frozen', () => clock.turn(6_000)],
    ['machine that was suspended', () => clock.suspend(6_000)],
  ] as const) {
    it(`of a ${what} while the store was closed passes nothing, not even what it has in hand`, async () => {
      await gate.begin(own.db);
      await closeAccess(store.db, PERIOD);
      standStill();

      expect(await refusalOf(write('late'))).to.be.instanceOf(WriteRefused);
      expect(gate.open).to.equal(false);
      expect(await things()).to.deep.equal([]);
    });
  }

  it('of a process that was frozen while nothing happened passes its next write', async () => {
    await gate.begin(own.db);
    clock.turn(6_000);

    await write('late');

    expect(await things()).to.deep.equal(['late']);
  });

  it('looks again when it learned late that the store was open', async () => {
    await gate.begin(own.db);
    clock.turn(6_000);
    const answer = latch();
    const look = proxy.inject({
      command: 'find',
      collection: 'store_state',
      happens: async ({ message }, link) => {
        const open = await link.ask(message);
        await answer.opened;
        link.tell(open);
      },
    });
    const writing = refusalOf(write('late'));
    await eventually(() => look.met === 1, 'it looks');
    await closeAccess(store.db, PERIOD);
    clock.turn(6_000);
    answer.open();

    expect(await writing).to.be.instanceOf(WriteRefused);
    expect(await things()).to.deep.equal([]);
  });

  it('asks on another connection when one has died without a word', async () => {
    await gate.begin(own.db);
    const look = proxy.inject({ command: 'find', collection: 'store_state', happens: silent });

    expect(await within(20_000, gate.isOpenNow())).to.equal(true);
    expect(look.met).to.equal(1);
  });

  it('is held up by a dead connection for the write of that one alone', async () => {
    await gate.begin(own.db);
    clock.turn(6_000);
    const look = proxy.inject({ command: 'find', collection: 'store_state', happens: silent });
    const stuck = refusalOf(write('stuck'));
    await eventually(() => look.met === 1, 'it looks');

    await within(20_000, write('soon'));
    const stored = await things();
    await own.close();

    expect(stored).to.deep.equal(['soon']);
    expect(await stuck).to.be.instanceOf(Error);
  });

  it('looks for writes that hold all connections of the process', async function () {
    this.timeout(20_000);
    await gate.begin(own.db);
    clock.turn(6_000);
    const ids = Array.from({ length: 100 }, (_, i) => String(i).padStart(3, '0'));

    await Promise.all(ids.map((id) => write(id)));

    expect(await things()).to.deep.equal(ids);
  });

  it('of a process that starts while the store is closed passes nothing, and its parts begin when it opens', async () => {
    await closeAccess(store.db, PERIOD);
    const access = await gate.begin(own.db);
    await follow();
    await eventually(isNoted, 'the process says that it is closed');
    const refused = await refusalOf(write('early'));
    const began = [...happened];
    await openAccess(store.db, PERIOD);
    await eventually(() => happened.length > 0, 'the parts begin');

    expect(access).to.deep.include(PERIOD);
    expect(refused).to.be.instanceOf(WriteRefused);
    expect(began).to.deep.equal([]);
    expect(happened).to.deep.equal(['resume']);
  });

  it('lets the parts begin again when they have paused, however long that takes', async () => {
    const pausing = latch();
    const pause = async () => {
      await pausing.opened;
      happened.push('paused');
    };
    await gate.begin(own.db);
    await gate.follow({ pause, resume: async () => void happened.push('resume') }, () => {});
    await closeAccess(store.db, PERIOD);
    await eventually(isNoted, 'it is closed, although its parts go on');
    await openAccess(store.db, PERIOD);
    const look = proxy.inject({ command: 'find', collection: 'store_state', times: 3, happens: pass });
    await eventually(() => look.met === 3, 'it has seen that the store is open');

    pausing.open();
    await eventually(() => gate.open && happened.length === 3, 'the parts begin');

    expect(happened).to.deep.equal(['resume', 'paused', 'resume']);
  });

  it('says nothing of a period that began while it was about to open from the one before', async () => {
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await gate.begin(own.db);
    await gate.follow({ pause: async () => {}, resume: async () => {} }, () => {});
    const writing = gate.write(
      'things',
      () => held,
      async () => undefined,
    );
    await closeAccess(store.db, PERIOD);
    await eventually(async () => !(await gate.isOpenNow()), 'it closes, and waits for the write in flight');
    await openAccess(store.db, PERIOD);
    await gate.isOpenNow(); // It will open when the write is answered.
    await closeAccess(store.db, { ...PERIOD, period: 'p2' });
    await gate.isOpenNow(); // It saw the next period before it opened.

    answer();
    await writing;
    await eventually(() => isNoted('p2'), 'it says that it is closed');

    expect(gate.open).to.equal(false);
    expect(await refusalOf(write('after'))).to.be.instanceOf(WriteRefused);
  });
});
