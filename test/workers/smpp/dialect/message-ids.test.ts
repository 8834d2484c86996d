import fc from 'fast-check';
import { candidateKeys, messageKey } from '../../../../workers/smpp/dialect/message-ids.ts';

const keys = (id: string | readonly string[], idForm: 'exact' | 'learn' = 'learn'): string[] =>
  candidateKeys({ _id: 'c', idForm }, typeof id === 'string' ? [id] : id).map(({ key }) => key);

/** The id in the answer, and the id in the receipt. */
const PAIRS: readonly (readonly [string, string, string])[] = [
  ['the same', '4f1c', '4f1c'],
  ['upper case', '4F1C', '4f1c'],
  ['lower case', 'da86d461', 'DA86D461'],
  ['padded with zeros', '436949', '0000436949'],
  ['padded in the answer', '0000436949', '436949'],
  ['hexadecimal, then decimal', '55f568bd', '1442146493'],
  ['upper hexadecimal, then decimal', '55F568BD', '1442146493'],
  ['decimal, then hexadecimal', '436949', '6aad5'],
  ['18 digits, above what a double holds', '117062714244798261', '19fe3eb1b011735'],
  ['19 digits', '8674665223082153551', '78629a0f5f3f164f'],
  ['a UUID', 'ce5bc5a9-4f7d-4282-9244-2e1022a9335c', 'CE5BC5A9-4F7D-4282-9244-2E1022A9335C'],
  ['spaces around it', ' 4f1c ', '4f1c'],
];

describe('message ids in other notations', () => {
  for (const [what, answer, receipt] of PAIRS) {
    it(`${what}: "${answer}" is found by "${receipt}"`, () => {
      expect(keys(receipt)).to.include(messageKey('c', answer));
    });
  }

  it('the id as it is written comes first', () => {
    expect(keys('1442146493')).to.deep.equal(['c:1442146493', 'c:55f568bd', 'c:55F568BD', 'c:87007978643']);
    expect(keys('9aBc').slice(0, 3)).to.deep.equal(['c:9aBc', 'c:9abc', 'c:9ABC']);
  });

  it('ids that differ in case only have keys of their own', () => {
    expect(messageKey('c', '9aBc')).not.to.equal(messageKey('c', '9abc'));
  });

  it('a carrier that writes ids exactly is looked up in no other base and case', () => {
    expect(keys('1442146493', 'exact')).to.deep.equal(['c:1442146493']);
    expect(keys('9aBc', 'exact')).to.deep.equal(['c:9aBc']);
  });

  it('several ids of one receipt are all tried, without doubles', () => {
    expect(keys(['6aad5', '0000436949']).filter((key) => key === 'c:6aad5')).to.have.length(1);
    expect(keys(['6aad5', '0000436949'])).to.include.members(['c:6aad5', 'c:436949']);
  });

  it('an empty id has no key', () => {
    expect(messageKey('c', ' ')).to.equal(undefined);
    expect(keys('')).to.deep.equal([]);
  });

  it('a hexadecimal id is found by its decimal form, and the other way round, at any length', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 128n }), (id) => {
        expect(keys(id.toString(10))).to.include(messageKey('c', id.toString(16)));
        expect(keys(id.toString(16))).to.include(messageKey('c', id.toString(10)));
      }),
    );
  });

  it('a hostile id of any length and content costs nothing and throws nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (id) => {
        expect(keys(id).every((key) => key.length < 200)).to.equal(true);
      }),
    );
  });
});
