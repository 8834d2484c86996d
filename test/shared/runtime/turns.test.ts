import { expect } from 'chai';
import { inSlices } from '../../../shared/runtime/turns.ts';

describe('inSlices', () => {
  function busyFor(ms: number): void {
    for (const endMs = performance.now() + ms; performance.now() < endMs; );
  }

  it('gives way between few entries that take long, and looks at each once, in order', async () => {
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns += 1;
      if (!done && turns < 1_000_000) setImmediate(count);
    };
    setImmediate(count);
    const seen: string[] = [];

    await inSlices(['a', 'b', 'c', 'd', 'e'], (entry, index) => {
      seen.push(`${index}${entry}`);
      busyFor(10);
    });
    done = true;

    expect(seen).to.deep.equal(['0a', '1b', '2c', '3d', '4e']);
    expect(turns).to.be.at.least(4);
  });
});
