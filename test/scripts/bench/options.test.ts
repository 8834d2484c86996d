import { expect } from 'chai';
import { readOptions } from '../../../scripts/bench/options.ts';

describe('npm run bench: options', () => {
  it('refuse a carrier that sends no receipt, for which a run would wait for ever', () => {
    expect(() => readOptions(['--deliver-window', '0'])).to.throw(
      '--deliver-window must be a whole number, at least 1, not "0"',
    );
    expect(readOptions(['--deliver-window', '1'])).to.deep.nested.include({ 'carrier.deliverWindow': 1 });
    expect(() => readOptions(['--messages', 'x'])).to.throw('--messages must be a whole number, not "x"');
    expect(readOptions(['--response-delay', '0'])).to.deep.nested.include({ 'carrier.responseDelayMs': 0 });
  });

  for (const name of ['window', 'connections', 'accounts', 'keys', 'gateways']) {
    it(`refuse --${name} 0, with which nothing is sent`, () => {
      expect(() => readOptions([`--${name}`, '0'])).to.throw(`--${name} must be a whole number, at least 1, not "0"`);
      expect(readOptions([`--${name}`, '1'])).to.include({ [name]: 1 });
    });
  }

  it('take several rates, and refuse one at which nothing is sent', () => {
    expect(readOptions(['--rate', '50,1000'])).to.deep.include({ rates: [50, 1_000] });
    for (const rate of ['0', '500,', 'fast']) {
      expect(() => readOptions(['--rate', rate])).to.throw(
        `--rate must be whole numbers, at least 1, with commas between, not "${rate}"`,
      );
    }
  });
});
