import { deserialize, serialize } from 'bson';
import { type Results, sorted } from '../../../workers/embedded-db/plan/results.ts';
import { PAUSE } from '../../../workers/embedded-db/plan/scan.ts';
import { parseSort } from '../../../workers/embedded-db/query/sort.ts';
import { Prng } from '../../support/prng.ts';

interface Doc {
  readonly _id: number;
  readonly a: number;
}

describe('embedded-db sort in memory', () => {
  const prng = new Prng(7);
  const docs: Doc[] = Array.from({ length: 5_500 }, (_, _id) => ({ _id, a: prng.below(900) }));
  const expected = [...docs].sort((x, y) => y.a - x.a || x._id - y._id); // ties keep their order

  function sortOf(keep: number): { readonly found: Doc[]; readonly pauses: number } {
    let at = 0;
    const all: Results = {
      next() {
        const doc = docs[at++];
        return doc === undefined ? undefined : Buffer.from(serialize(doc));
      },
    };
    const results = sorted(all, parseSort({ type: 3, buf: Buffer.from(serialize({ a: -1 })), pos: 0 }), keep);
    const found: Doc[] = [];
    let pauses = 0;
    for (let doc = results.next(); doc !== undefined; doc = results.next()) {
      if (doc === PAUSE) pauses++;
      else found.push(deserialize(doc) as Doc); // as it was made above
    }
    return { found, pauses };
  }

  it('gives all documents in order, with pauses', () => {
    const { found, pauses } = sortOf(0);

    expect(found).to.deep.equal(expected);
    expect(pauses).to.be.at.least(10);
  });

  for (const keep of [1, 20, 999, 1_000, 2_300, 5_499]) {
    it(`gives the first ${keep}`, () => expect(sortOf(keep).found).to.deep.equal(expected.slice(0, keep)));
  }

  it('holds at most 100 MB, and of large documents few more than it gives', () => {
    const large = Buffer.from(serialize({ a: 1, padding: 'x'.repeat(1024 * 1024) }));
    const firstOf = (keep: number): unknown => {
      let left = 150;
      const all: Results = { next: () => (left-- > 0 ? large : undefined) };
      const results = sorted(all, parseSort({ type: 3, buf: Buffer.from(serialize({ a: 1 })), pos: 0 }), keep);
      let found = results.next();
      while (found === PAUSE) found = results.next();
      return found;
    };

    expect(firstOf(10)).to.equal(large);
    expect(() => firstOf(0))
      .to.throw('Sort exceeded memory limit')
      .with.property('code', 292);
  });

  it('gives nothing of nothing', () => {
    expect(sorted({ next: () => undefined }, [], 0).next()).to.equal(undefined);
  });
});
