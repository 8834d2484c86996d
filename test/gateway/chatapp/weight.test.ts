import { expect } from 'chai';
import { weightOf } from '../../../gateway/endpoints/chatapp-callbacks/weight.ts';

describe('chatapp/weight', () => {
  for (const [value, weight] of [
    [undefined, 32],
    [null, 32],
    [1.5, 32],
    ['abc', 35],
    [[], 32],
    [[1, 'a', []], 129],
    [{}, 32],
    [{ ab: 1, c: { d: 'x' } }, 32 + 34 + 33 + 34],
    [new Date(0), 32],
  ] as const) {
    it(`of ${JSON.stringify(value)} is ${weight}`, () => {
      expect(weightOf(value, 1_000)).to.equal(weight);
    });
  }

  it('looks at nothing further once it is above the limit', () => {
    let looked = 0;
    const member = { enumerable: true, get: () => ++looked };
    const names = Array.from({ length: 10_000 }, (_, i) => [`k${i}`, member] as const);

    expect(weightOf(Object.defineProperties({}, Object.fromEntries(names)), 350)).to.be.within(351, 400);
    expect(weightOf(Array(1_000_000).fill(0), 350)).to.be.within(351, 400);
    expect(looked).to.be.below(11);
  });

  it('goes no deeper than what is kept', () => {
    let deep: unknown = 'x'.repeat(10_000);
    for (let i = 0; i < 100_000; i++) deep = [deep];

    expect(weightOf(deep, 100_000)).to.be.below(1_000);
  });
});
