import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { carrierPage } from '../../../scripts/ops/carrier-page.ts';

describe('docs/carriers.md', () => {
  it('is what the table of settings says now', () => {
    const file = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'carriers.md'), 'utf8');

    expect(file, 'run `npm run -s ops -- carrier settings > docs/carriers.md`').to.equal(carrierPage());
  });
});
