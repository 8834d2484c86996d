import { expect } from 'chai';
import { Grouper } from '../../../shared/runtime/grouper.ts';

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
      // Added as soon as the first group has ended: that is before any pause is over, however busy the machine is.
      const third = first.then(() => grouper.add(3));
      release();
      await Promise.all([first, second, third]);

      expect(groups).to.deep.equal(expected);
    });
  }
});
