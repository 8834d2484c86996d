import {
  type Db,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
  type TopologyDescriptionChangedEvent,
} from 'mongodb';
import { connectStore, type Store } from '../../../shared/platform/mongo/connect.ts';
import { eventually } from '../eventually.ts';
import { openTestStore, type TestStore } from '../store.ts';
import { unreplicated } from './faults.ts';
import { type PlayedSet, startPlayedSet } from './set.ts';
import { rolledBack } from './undo.ts';

/** Unless the driver accepts the played set as a real replica set, tests that use it prove nothing. */
describe('a played replica set, to the driver', function () {
  this.timeout(60_000);
  let server: TestStore;
  let set: PlayedSet;
  let store: Store;
  let db: Db;
  before(async () => {
    server = await openTestStore();
  });
  after(() => server.close());
  afterEach(async () => {
    await store.close();
    await set.close();
  });
  const open = async (streams: boolean): Promise<void> => {
    set = await startPlayedSet(server.uri, { streams });
    store = await connectStore({ mongodbUri: set.uri, dataDir: '', mongodbDatabase: server.db.databaseName });
    db = store.db;
  };
  const things = () => db.collection<{ _id: number; n?: number }>('things');
  const insert = (_id: number) => things().insertOne({ _id });
  const stored = (_id: number) => server.db.collection<{ _id: number; n?: number }>('things').findOne({ _id });
  const errorOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );
  const primaryChanges = (): Promise<void> =>
    new Promise((resolve) => {
      const [first] = /127[^,]*/.exec(set.uri) ?? [];
      db.client.on('topologyDescriptionChanged', ({ newDescription }: TopologyDescriptionChangedEvent) => {
        const primary = [...newDescription.servers.values()].find(({ type }) => type === 'RSPrimary');
        if (primary !== undefined && primary.address !== first) resolve();
      });
    });
  const untilWritten = (_id: number) =>
    eventually(() => insert(_id).then(() => true), `the driver writes ${_id}`, 30_000);

  for (const [how, streams] of [
    ['told at once', true],
    ['asked', false],
  ] as const) {
    it(`follows a step-down, members being ${how}: an error, none, then the next one`, async () => {
      await open(streams);
      await insert(streams ? 1 : 11);

      set.stepDown();
      const refused = await errorOf(insert(2));
      const none = await errorOf(insert(2));
      set.elect();
      await untilWritten(streams ? 3 : 13);

      if (refused instanceof MongoServerError) expect(refused.code).to.equal(10_107);
      else expect(refused).to.be.instanceOf(MongoServerSelectionError);
      expect(none).to.be.instanceOf(MongoServerSelectionError);
      expect(await stored(2)).to.equal(null);
      expect(set.taken[1]).to.equal(1);
    });
  }

  it('follows a crash, and takes the old one for a secondary when it comes back', async () => {
    await open(true);
    await insert(21);

    set.crash();
    set.elect();
    await untilWritten(22);
    set.heal();
    await untilWritten(23);

    expect(set.taken.slice(1)).to.deep.equal([2, 0]);
  });

  it('leaves a primary that was cut off from the others, by the number of its election', async () => {
    await open(true);
    await insert(31);

    set.isolate();
    const waits = errorOf(insert(32));
    const known = primaryChanges();
    set.elect();
    await known;
    await insert(33);
    set.heal();

    expect(await waits)
      .to.have.property('name')
      .that.matches(/^Mongo(Network|PoolCleared)/);
    expect(await stored(32)).to.equal(null);
    expect(set.taken[1]).to.equal(1);
  });

  it('tells of writes that are perhaps not on a majority, and of those that were rolled back', async () => {
    await open(false);
    await insert(41);
    const own = server.db;
    set.inject({ command: 'insert', happens: unreplicated('WriteConcernTimeout') });
    set.inject({ command: 'insert', happens: rolledBack(own, 'InterruptedDueToReplStateChange') });
    set.inject({ command: 'update', happens: rolledBack(own, 'cut') });

    const errors = [await errorOf(insert(42))];
    await eventually(() => errorOf(insert(43)).then((error) => errors.push(error)), 'the next');
    await eventually(() => things().countDocuments(), 'the driver sees the primary again');
    const cut = await errorOf(things().updateOne({ _id: 41 }, { $inc: { n: 1 } }));

    for (const error of errors) expect(error).to.be.instanceOf(MongoWriteConcernError);
    expect(cut).to.have.property('name', 'MongoNetworkError');
    expect(await stored(42)).to.deep.equal({ _id: 42 });
    expect(await stored(43)).to.equal(null);
    expect(await stored(41)).to.deep.equal({ _id: 41 });
  });
});
