import { inSlices, nextTurn, turnOver } from '../../../../shared/platform/runtime/turns.ts';

function busyFor(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

describe('inSlices', () => {
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

describe('turns of long work', () => {
  it('a hundred that begin together have one turn of the event loop after the other, in their order', async () => {
    let turn = 0;
    let done = false;
    const count = (): void => {
      turn += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    const worked: { readonly who: number; readonly turn: number }[] = [];
    const work = async (who: number): Promise<void> => {
      for (let piece = 0; piece < 2; piece++) {
        if (turnOver()) await nextTurn();
        busyFor(3);
        worked.push({ who, turn });
      }
    };

    await Promise.all(Array.from({ length: 100 }, (_, who) => work(who)));
    done = true;

    expect(new Set(worked.map((one) => one.turn)).size).to.equal(200);
    // The first one had its first piece at once, and has waited longest.
    expect(worked.slice(0, 101).map(({ who }) => who)).to.deep.equal([
      0,
      ...Array.from({ length: 100 }, (_, who) => who),
    ]);
  });
});
