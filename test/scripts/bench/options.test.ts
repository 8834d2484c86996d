import { expect } from 'chai';
import { readOptions } from '../../../scripts/bench/options.ts';

describe('npm run bench: options', () => {
  it('refuse a carrier that sends no receipt, for which a run would wait for ever', () => {
    expect(() => readOptions(['--deliver-window', '0'])).to.throw(
      '--deliver-window must be a whole number, at least 1, not "0"',
    );
    expect(readOptions(['--deliver-window', '1'])).to.deep.nested.include({ 'carrier.deliverWindow': 1 });
    expect(() => readOptions(['--window', 'x'])).to.throw('--window must be a whole number, not "x"');
    expect(readOptions(['--response-delay', '0'])).to.deep.nested.include({ 'carrier.responseDelayMs': 0 });
  });
});
