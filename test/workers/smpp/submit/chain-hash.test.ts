import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { chainHash } from '../../../../workers/smpp/submit/chain-hash.ts';

const fixture = new URL('../../../fixtures/dlt-hash.json', import.meta.url);
const { cases }: { cases: readonly { chain: readonly string[]; hash: string }[] } = JSON.parse(
  readFileSync(fixture, 'utf8'),
);

describe('templates/chain-hash', () => {
  it('there are vectors', () => {
    expect(cases).to.have.length.greaterThan(2);
  });

  for (const { chain, hash } of cases) {
    it(`hashes a chain of ${chain.length} from ${chain[0]} as the vector says`, () => {
      expect(chainHash(chain)).to.equal(hash);
    });
  }
});
