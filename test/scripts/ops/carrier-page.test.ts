import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PRESETS } from '../../../gateway/endpoints/carriers/presets.ts';
import { CARRIER_OPTIONS, settingsFrom } from '../../../scripts/ops/carrier-options.ts';
import { carrierPage } from '../../../scripts/ops/carrier-page.ts';
import { CARRIER_DEFAULTS } from '../../../shared/carriers/carrier.ts';
import { checkCarrier } from '../../../shared/carriers/carrier-form.ts';

describe('docs/carriers.md', () => {
  it('is what the table of settings says now', () => {
    const file = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'carriers.md'), 'utf8');

    expect(file, 'run `npm run -s ops -- carrier settings > docs/carriers.md`').to.equal(carrierPage());
  });
});

describe('presets of carriers', () => {
  const GOOD = {
    ...CARRIER_DEFAULTS,
    ...{ _id: 'acme', name: 'Acme', host: 'smsc.example', port: 2775, systemId: 'us', password: 'secret' },
  };

  for (const [preset, { settings: options, source }] of Object.entries(PRESETS)) {
    it(`${preset} has options that exist, valid values, and a source`, () => {
      const known = Object.entries(CARRIER_OPTIONS).filter(([name]) => name in options);

      expect(known.map(([name, one]) => [name, one.read(options[name]) !== undefined])).to.deep.equal(
        known.map(([name]) => [name, true]),
      );
      expect(known).to.have.length(Object.keys(options).length);
      expect(source).to.match(/^https:/);
      expect(() => checkCarrier({ ...GOOD, ...settingsFrom({ preset }) })).not.to.throw();
    });
  }

  it('give way to what is given beside them', () => {
    expect(settingsFrom({ preset: 'sinch', windowSize: 5, alphabet: undefined })).to.deep.include({
      windowSize: 5,
      perSecond: 10,
    });
  });
});
