import { FreshCache } from '../../../../shared/platform/runtime/fresh-cache.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** A cache of 2 entries, fresh for 10 s, over a table that tests change. `reads`: the keys read from it. */
function setup(freshMs = 10_000) {
  const clock = new ManualClock();
  const table = new Map<string, number>();
  const reads: string[] = [];
  const cache = new FreshCache<string, number>({
    freshMs,
    maxEntries: 2,
    clock,
    read: async (key) => {
      reads.push(key);
      return table.get(key);
    },
  });
  return { clock, table, reads, cache };
}

describe('FreshCache', () => {
  it('reads once within its time, and again after it', async () => {
    const { clock, table, reads, cache } = setup();
    table.set('a', 1);
    await cache.get('a');
    table.set('a', 2);

    clock.turn(9_999);
    const remembered = await cache.get('a');
    clock.turn(1);
    const read = await cache.get('a');

    expect([remembered, read]).to.deep.equal([1, 2]);
    expect(reads).to.deep.equal(['a', 'a']);
  });

  it('remembers that something is not there', async () => {
    const { reads, cache } = setup();

    await cache.get('a');
    await cache.get('a');

    expect(reads).to.deep.equal(['a']);
  });

  it('makes one read of many at the same time', async () => {
    const { table, reads, cache } = setup();
    table.set('a', 1);

    const values = await Promise.all([cache.get('a'), cache.get('a'), cache.get('a')]);

    expect(values).to.deep.equal([1, 1, 1]);
    expect(reads).to.deep.equal(['a']);
  });

  it('remembers nothing when its time is 0', async () => {
    const { reads, cache } = setup(0);

    await cache.get('a');
    await cache.get('a');

    expect(reads).to.deep.equal(['a', 'a']);
  });

  it('keeps what is in use while made-up keys stream by', async () => {
    const { table, reads, cache } = setup();
    table.set('a', 1);
    await cache.get('a');
    for (let i = 0; i < 50; i++) await cache.get(`made-up ${i}`);

    await cache.get('a');

    expect(reads.filter((key) => key === 'a')).to.have.length(1);
  });

  it('forgets the oldest beyond its size, of values and of misses', async () => {
    const { table, reads, cache } = setup();
    for (const key of ['a', 'b', 'c']) table.set(key, 1);

    for (const key of ['a', 'b', 'c', 'a', 'x', 'y', 'z', 'x']) await cache.get(key);

    expect(reads).to.deep.equal(['a', 'b', 'c', 'a', 'x', 'y', 'z', 'x']);
  });

  it('does not remember a read that failed', async () => {
    let fails = true;
    const cache = new FreshCache<string, number>({
      freshMs: 10_000,
      maxEntries: 2,
      clock: new ManualClock(),
      read: async () => {
        if (fails) throw new Error('away');
        return 1;
      },
    });

    const error = await cache.get('a').catch((reason: unknown) => reason);
    fails = false;

    expect(error).to.be.instanceOf(Error);
    expect(await cache.get('a')).to.equal(1);
  });

  describe('of what can be read several at once', () => {
    /** A cache that is fresh for 20 ms by the test's clock. */
    function setupMany() {
      const clock = new ManualClock();
      const table = new Map<string, number>([...'abc'].map((key, i) => [key, i]));
      const reads: string[] = [];
      const state = { away: false };
      const cache = new FreshCache<string, number>({
        freshMs: 20,
        maxEntries: 10,
        clock,
        readMany: async (keys) => {
          reads.push(keys.join(''));
          if (state.away) throw new Error('away');
          return new Map(keys.flatMap((key) => (table.has(key) ? [[key, table.get(key) ?? 0] as const] : [])));
        },
      });
      const getAll = () => Promise.all([...'abc'].map((key) => cache.get(key)));
      return { clock, table, reads, cache, state, getAll };
    }

    it('reads what is in use again in the background, together', async () => {
      const { clock, table, reads, getAll } = setupMany();
      await getAll();
      clock.turn(9);
      await getAll();
      expect(reads).to.deep.equal(['abc']);

      clock.turn(1);
      table.set('a', 7);
      table.delete('c');
      expect(await getAll()).to.deep.equal([0, 1, 2]);
      await eventually(async () => (await getAll())[0] === 7, 'the renewed value');

      expect(reads).to.deep.equal(['abc', 'abc']);
      expect(await getAll()).to.deep.equal([7, 1, undefined]);
      clock.turn(19);
      expect(await getAll()).to.deep.equal([7, 1, undefined]);
      expect(reads).to.deep.equal(['abc', 'abc']);
    });

    it('reads one key again once, however often it is asked for meanwhile', async () => {
      const { clock, table, reads, cache } = setupMany();
      await cache.get('a');
      clock.turn(10);
      table.set('a', 7);
      for (let i = 0; i < 100; i++) await cache.get('a');
      // Equal timers fire in order, so once `b` is read no timer of `a` can cause another read.
      await cache.get('b');
      clock.turn(10);
      await cache.get('b');
      await eventually(() => reads.filter((key) => key === 'b').length === 2, 'the read of `b` in the background');

      expect([...reads].sort()).to.deep.equal(['a', 'a', 'b', 'b']);
    });

    it('believes nothing beyond its time when that fails', async () => {
      const { clock, table, reads, state, cache } = setupMany();
      await cache.get('a');
      state.away = true;
      clock.turn(10);
      await cache.get('a');
      await eventually(() => reads.length === 2, 'a read in the background');
      state.away = false;
      table.set('a', 7);

      clock.turn(9);
      const within = await cache.get('a');
      clock.turn(1);
      const after = await cache.get('a');

      expect([within, after]).to.deep.equal([0, 7]);
      expect(reads).to.deep.equal(['a', 'a', 'a']);
    });

    it('reads a stream of made-up keys together, each answered, and not one by one', async () => {
      const { reads, cache } = setupMany();
      const startedMs = performance.now();

      // First like one connection that waits for each answer, then like many connections at once.
      for (let i = 0; i < 20; i++) await cache.get(`alone ${i}`);
      const crowd = Array.from({ length: 3_000 }, (_, i) => cache.get(i === 7 ? 'b' : `made-up ${i}`));
      const answers = await Promise.all(crowd);

      // At least five milliseconds lie between two reads, however slow this machine is.
      expect(reads.length).to.be.at.most((performance.now() - startedMs) / 5 + 4);
      expect(answers.filter((value) => value !== undefined)).to.deep.equal([1]);
    });

    it('leaves alone what nobody asks for', async () => {
      const { clock, reads, cache, getAll } = setupMany();
      await getAll();
      clock.turn(15);
      await cache.get('b');

      await eventually(() => reads.length === 2, 'a read in the background');

      expect(reads).to.deep.equal(['abc', 'b']);
    });
  });

  describe('asked for many at a time', () => {
    const open = (maxEntries = 10) => {
      const clock = new ManualClock();
      const asked: (readonly string[])[] = [];
      const there = new Map([
        ['a', 1],
        ['b', 2],
      ]);
      const state = { away: false };
      const cache = new FreshCache<string, number>({
        clock,
        freshMs: 1_000,
        maxEntries,
        readMany: async (keys) => {
          if (state.away) throw new Error('the store is away');
          asked.push(keys);
          return new Map(keys.flatMap((key) => (there.has(key) ? [[key, there.get(key) ?? 0] as const] : [])));
        },
      });
      return { clock, asked, there, state, cache };
    };

    it('asks once for each key, also for one that is not there', async () => {
      const { asked, cache } = open();

      await cache.getMany(['a', 'x', 'a']);
      const found = await cache.getMany(['x', 'a', 'b']);

      expect([...found]).to.have.deep.members([
        ['a', 1],
        ['b', 2],
      ]);
      expect(asked).to.deep.equal([['a', 'x'], ['b']]);
    });

    it('asks again when an answer is old', async () => {
      const { clock, there, cache } = open();
      await cache.getMany(['a']);
      there.set('a', 5);

      clock.turn(999);
      expect((await cache.getMany(['a'])).get('a')).to.equal(1);
      clock.turn(1);
      expect((await cache.getMany(['a'])).get('a')).to.equal(5);
    });

    it('tells everything that was asked for, also when it remembers less', async () => {
      const { asked, cache } = open(1);

      expect((await cache.getMany(['a', 'b'])).size).to.equal(2);
      await cache.getMany(['b']);
      await cache.getMany(['a']);

      expect(asked).to.deep.equal([['a', 'b'], ['a']]);
    });

    it('does not remember that it could not ask', async () => {
      const { state, cache } = open();
      state.away = true;
      const failed = await cache.getMany(['a']).catch((error: unknown) => error);
      state.away = false;

      expect(failed).to.be.an('error');
      expect((await cache.getMany(['a'])).get('a')).to.equal(1);
    });

    it('tells the last answer however old it is, and asks nobody for it', async () => {
      const { clock, asked, cache } = open();
      await cache.getMany(['a', 'x']);
      clock.turn(5_000);

      expect([cache.last('a'), cache.last('x'), cache.last('b')]).to.deep.equal([1, undefined, undefined]);
      expect(asked).to.deep.equal([['a', 'x']]);
    });
  });
});
