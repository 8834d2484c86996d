import { MongoClient } from 'mongodb';
import { RateCounter } from '../../../gateway/access/counter.ts';
import { type RateDocument, WINDOW_MS } from '../../../gateway/access/window.ts';
import { msAfter } from '../../../shared/platform/mongo/store-time.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { useStore } from '../../support/store.ts';

const PLENTY = 1_000_000;
/** Too low for allowances: each event is counted by itself. */
const FEW = 70;

describe('rate counter', () => {
  const store = useStore();

  const newCounter = (clock = systemClock): RateCounter => new RateCounter({ db: store.db, clock });
  const rate = () => store.db.collection<RateDocument>('rate');
  const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

  it('gives every event its own rank, whoever counts it and however many come together', async () => {
    const counters = [newCounter(), newCounter(), newCounter()];
    const keys = Array.from({ length: 7 }, () => newId('req'));
    const events = upTo(350).map((i) => ({ key: keys[i % 7] ?? '', counter: counters[i % 3] }));

    const counted = await Promise.all(
      events.map(async ({ key, counter }) => ({ key, rank: (await counter?.count(key, FEW))?.rank ?? 0 })),
    );

    for (const key of keys) {
      const ranks = counted.filter((one) => one.key === key).map(({ rank }) => rank);
      expect(ranks.sort((a, b) => a - b)).to.deep.equal(upTo(50));
    }
  });

  it('counts keys that it knows and keys that are new in one group', async () => {
    const counter = newCounter();
    const known = Array.from({ length: 5 }, () => newId('req'));
    const [first = ''] = known;
    for (const key of known) await counter.count(key, FEW);

    const together = [...known, newId('req'), first, newId('req')];
    const counted = await Promise.all(together.map((key) => counter.count(key, FEW)));

    expect(counted.map(({ rank }) => rank)).to.deep.equal([2, 2, 2, 2, 2, 1, 3, 1]);
  });

  it('says when the window ends: a minute after its first event', async () => {
    const clock = new ManualClock();
    const key = newId('req');

    const { endsMs } = await newCounter(clock).count(key, PLENTY);
    await moveStart(key, -20_000);
    const later = await newCounter(clock).count(key, PLENTY);

    expect(endsMs - clock.monotonicMs()).to.equal(WINDOW_MS);
    expect(later.endsMs - clock.monotonicMs()).to.be.within(WINDOW_MS - 30_000, WINDOW_MS - 20_000);
  });

  for (const { what, ms, rank } of [
    { what: 'counts on in a window that runs', ms: -50_000, rank: 3 },
    { what: 'begins a new window when a minute is over by the time of the store', ms: -60_000, rank: 1 },
    { what: "stands a store's clock that was set back by seconds", ms: 20_000, rank: 3 },
    { what: "begins a new window when a store's clock was set back by an hour", ms: 3_600_000, rank: 1 },
  ]) {
    it(what, async () => {
      const key = newId('req');
      const others = Array.from({ length: 5 }, () => newId('req'));
      await newCounter().count(key, FEW);
      await newCounter().count(key, FEW);
      for (const other of others) await newCounter().count(other, FEW);
      await moveStart(key, ms);
      const counter = newCounter();

      // With other keys it is counted by the grouped command, alone by its own update.
      const grouped = await Promise.all([key, ...others].map((one) => counter.count(one, FEW)));
      const alone = await counter.count(key, FEW);

      expect([grouped[0]?.rank, alone.rank]).to.deep.equal([rank, rank + 1]);
    });
  }

  it('refuses without the store while the window runs, and asks it again when the window is over', async () => {
    const clock = new ManualClock();
    const counter = newCounter(clock);
    const key = newId('req');
    for (const rank of upTo(3)) expect((await counter.count(key, 3)).rank).to.equal(rank);
    // The store would know nothing of the key and count from 1.
    await rate().deleteOne({ _id: key });

    clock.turn(WINDOW_MS / 2);
    const before = await counter.count(key, 3);
    clock.turn(WINDOW_MS / 2);
    const after = await counter.count(key, 3);

    expect(before.rank).to.equal(4);
    expect(after.rank).to.equal(1);
  });

  it('takes a raised limit at once', async () => {
    const counter = newCounter();
    const key = newId('req');
    for (const rank of upTo(3)) expect((await counter.count(key, 3)).rank).to.equal(rank);

    expect((await counter.count(key, 5)).rank).to.equal(4);
  });

  describe('far from the limit', () => {
    it('asks the store once for many events of a key', async () => {
      const counter = newCounter();
      const key = newId('req');
      await counter.count(key, 1_000);
      await rate().deleteOne({ _id: key });

      const ranks = [];
      for (let i = 0; i < 32; i++) ranks.push((await counter.count(key, 1_000)).rank);

      expect(ranks).to.deep.equal(upTo(33).slice(1));
      expect(await rate().countDocuments({ _id: key })).to.equal(0);
      await counter.count(key, 1_000);
      expect(await rate().countDocuments({ _id: key })).to.equal(1);
    });

    it('does not use its allowance when the window is over', async () => {
      const clock = new ManualClock();
      const counter = newCounter(clock);
      const key = newId('req');
      await counter.count(key, PLENTY);
      await rate().deleteOne({ _id: key });

      clock.turn(WINDOW_MS);

      expect((await counter.count(key, PLENTY)).rank).to.equal(1);
      expect(await rate().countDocuments({ _id: key })).to.equal(1);
    });

    for (const { what, shares } of [
      { what: 'evenly', shares: [500, 500, 500] },
      { what: 'almost all to one', shares: [1_480, 10, 10] },
      { what: 'in turn to two, and one that was asked once', shares: [750, 749, 1] },
    ]) {
      it(`lets exactly the limit pass of events that come to three processes ${what}`, async () => {
        const key = newId('req');
        const counters = shares.map(() => newCounter());
        // Each counter takes an allowance before the rush.
        const first = await Promise.all(counters.map((counter) => counter.count(key, 1_000)));

        const rest = await Promise.all(
          shares.flatMap((events, i) => upTo(events - 1).map(() => counters[i]?.count(key, 1_000))),
        );

        const ranks = [...first, ...rest].map((counted) => counted?.rank ?? 0);
        const passed = ranks.filter((rank) => rank <= 1_000);
        expect(passed).to.have.length(1_000);
        expect(new Set(ranks.filter((rank) => rank > 1_000))).to.deep.equal(new Set([1_001]));
      });
    }

    it('lets the last ones wait for what others hold unused, and refuses when all of it is used', async () => {
      const [holder, other] = [newCounter(), newCounter()];
      const key = newId('req');
      await holder.count(key, 700);

      const ranks = await Promise.all(upTo(700).map(async () => (await other.count(key, 700)).rank));

      expect(ranks.filter((rank) => rank <= 700)).to.have.length(699);
      expect((await holder.count(key, 700)).rank).to.equal(701);
    });

    it('gives back what it holds unused', async () => {
      const [holder, other] = [newCounter(), newCounter()];
      const key = newId('req');
      await holder.count(key, 700);

      const ranks = await Promise.all(upTo(699).map(async () => (await other.count(key, 700)).rank));

      expect(ranks.filter((rank) => rank <= 700)).to.have.length(699);
    });

    it('gives back no more than the window gave, when what it holds is of the window before', async () => {
      const key = newId('req');
      await newCounter().count(key, PLENTY);
      const found = await rate().findOne({ _id: key });
      const [name = ''] = Object.keys(found?.window.by ?? {});
      // This counter got 4 events in the new window, but that answer was lost.
      const by = { [name]: { granted: 1, allowance: 4, held: 4, count: 3_000 } };
      await rate().updateOne({ _id: key }, { $set: { window: { start: new Date(), count: 3_000, by, recall: true } } });

      const after = await eventually(async () => {
        const now = await rate().findOne({ _id: key });
        expect(now?.window.by[name]?.held).to.equal(0);
        return now;
      }, 'the allowance is given back');
      expect(after?.window.count).to.equal(2_996);
    });

    it('refuses in the end when who holds something died', async () => {
      const key = newId('req');
      const counter = newCounter();
      for (let i = 0; i < 3; i++) await counter.count(key, 3 + i);
      await rate().updateOne(
        { _id: key },
        { $set: { 'window.by.ctr_dead': { granted: 1, allowance: 4, held: 4, count: 3 } } },
      );

      expect((await newCounter().count(key, 3)).rank).to.equal(4);
    });
  });

  it('rejects when the store cannot be asked', async () => {
    // Nothing listens on port 1.
    const away = new MongoClient('mongodb://127.0.0.1:1/', { serverSelectionTimeoutMS: 50 });
    const counter = new RateCounter({ db: away.db('none'), clock: systemClock });

    const outcomes = await Promise.allSettled([counter.count('a', 5), counter.count('b', 5)]);

    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    await away.close();
  });

  async function moveStart(key: string, ms: number): Promise<void> {
    const { matchedCount } = await rate().updateOne({ _id: key }, [
      { $set: { 'window.start': msAfter('$window.start', ms) } },
    ]);
    expect(matchedCount).to.equal(1);
  }
});
