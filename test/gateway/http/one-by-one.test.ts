import { expect } from 'chai';
import { OneByOne } from '../../../gateway/http/one-by-one.ts';

describe('one by one', () => {
  it('begins no work before the one ahead has ended, also when that failed', async () => {
    const queue = new OneByOne();
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`${name} ends`);
      if (name === 'b') throw new Error(name);
      return name;
    };

    const ends = await Promise.allSettled(['a', 'b', 'c'].map((name) => queue.run(work(name))));

    expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason)))).to.deep.equal([
      'a',
      'Error: b',
      'c',
    ]);
    expect(seen).to.deep.equal(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });
});
