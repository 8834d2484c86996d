import { Grouper } from '../../../../shared/platform/runtime/grouper.ts';

describe('the pause of a grouper between groups', () => {
  for (const { what, maxItems, pauseMs, expected } of [
    { what: 'lets the next group wait for company', maxItems: 3, pauseMs: 50, expected: [[1], [2, 3]] },
    { what: 'lets a full group wait for nobody', maxItems: 1, pauseMs: 60_000, expected: [[1], [2], [3]] },
  ]) {
    it(what, async () => {
      const groups: number[][] = [];
      let release = (): void => {};
      const grouper = new Grouper<number, number>({
        maxItems,
        gatherMs: 0,
        pauseMs,
        run: async (items) => {
          groups.push([...items]);
          if (groups.length === 1) await new Promise<void>((resolve) => (release = resolve));
          return items;
        },
      });

      const first = grouper.add(1);
      await new Promise((resolve) => setImmediate(resolve));
      const second = grouper.add(2);
      // Right after the first group, so before any pause ends, however busy the machine is.
      const third = first.then(() => grouper.add(3));
      release();
      await Promise.all([first, second, third]);

      expect(groups).to.deep.equal(expected);
    });
  }
});

describe('a grouper of items from a sender with a window', () => {
  /** A grouper that waits an hour for more. `sizes`: of its groups. */
  function windowed(run: () => Promise<void> = async () => {}) {
    const sizes: number[] = [];
    const grouper = new Grouper<number, number>({
      maxItems: 1_000,
      gatherMs: 3_600_000,
      pauseMs: 3_600_000,
      windowed: true,
      run: async (items) => {
        sizes.push(items.length);
        await run();
        return items;
      },
    });
    return { grouper, sizes };
  }

  it('waits for no more items than the window has', async () => {
    const { grouper, sizes } = windowed();
    let sent = 0;
    const sender = async (): Promise<void> => {
      while (sent < 200) await grouper.add(sent++);
    };

    await Promise.all(Array.from({ length: 10 }, sender));

    expect(sizes).to.deep.equal(Array.from({ length: 20 }, () => 10));
  });

  it('learns that the window is larger than it was when the items came one by one', async () => {
    const othersCome = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const { grouper, sizes } = windowed(othersCome);

    await grouper.add(1);
    const results: Promise<number>[] = [grouper.add(2)];
    await new Promise((resolve) => setImmediate(resolve));
    results.push(grouper.add(3), grouper.add(4));
    await results[0];
    results.push(grouper.add(5));
    await Promise.all(results);

    expect(sizes).to.deep.equal([1, 1, 3]);
  });
});
