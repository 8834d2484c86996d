import { eventually } from '../../support/eventually.ts';
import { type PlayedSet, startPlayedSet } from '../../support/mongo-wire/set.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';
import { expectClear, expectWhole } from '../../support/trouble-answers.ts';
import { openTroubleWorld, type TroubleAnswer, type TroubleWorld } from '../../support/trouble-world.ts';

const CALLERS = 6;
const PATIENCE_MS = 120_000;

/** Gateway, SMPP worker and carrier on a replica set whose primary changes under requests. */
describe('when the primary of a replica set changes', function () {
  this.timeout(PATIENCE_MS * 3);
  let store: TestStore;
  let set: PlayedSet;
  let world: TroubleWorld;
  let answers: TroubleAnswer[];
  let over: boolean;
  beforeEach(async () => {
    store = await openTestStore();
    set = await startPlayedSet(store.uri);
    world = await openTroubleWorld(set.uri, store.db.databaseName);
    answers = [];
    over = false;
  });
  afterEach(async () => {
    await world.close();
    await set.close();
    await store.close();
  });

  const accepted = () => answers.filter(({ status }) => status === 200).length;
  const refused = () => answers.length - accepted();
  const more = (count: () => number, what: string, by = 20): Promise<unknown> => {
    const wanted = count() + by;
    return eventually(() => count() >= wanted, what, PATIENCE_MS);
  };
  /** Each caller sends one request after the other while the primary changes. */
  async function underLoad(change: () => Promise<unknown>): Promise<void> {
    world.smsc.release();
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!over) answers.push(await world.send());
    });
    const changed = (async () => {
      await more(accepted, 'requests are accepted');
      await change();
      await more(accepted, 'requests are accepted again');
    })().finally(() => {
      over = true;
    });
    await Promise.all([changed, ...callers]);
    expectClear(answers);
    await expectWhole(world, store.db, answers);
  }

  it('stepped down, elected soon: requests wait for it or get 503, and all is whole', async () => {
    await underLoad(async () => {
      set.stepDown();
      await eventually(() => set.refused > 0, 'somebody came to the old one', PATIENCE_MS);
      set.elect();
    });

    const [first, second] = set.taken;
    expect(first).to.be.greaterThan(20);
    expect(second).to.be.greaterThan(20);
  });

  it('crashed, nobody elected for longer than the driver looks: requests get 503, and all go on by themselves', async () => {
    await underLoad(async () => {
      set.crash();
      await more(refused, 'requests are refused', 2 * CALLERS);
      set.elect();
      await more(accepted, 'requests are accepted again');
      set.heal();
      set.stepDown();
      set.elect();
    });

    expect(set.taken[2]).to.be.greaterThan(20);
  });

  it('cut off from the others, and still primary to itself: what it took is rolled back, and nothing is lost', async () => {
    await underLoad(async () => {
      set.isolate();
      set.elect();
      // All requests may wait for the old primary, but the worker's queries find the new one.
      await more(() => set.taken[1] ?? 0, 'the new primary is asked');
      set.heal();
    });
  });
});
