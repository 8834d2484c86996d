import { expect } from 'chai';
import {
  formatKey,
  hashSecret,
  newKeyText,
  parseKey,
  secretMatches,
} from '../../../../shared/people/keys/key-secret.ts';

describe('key text', () => {
  it('is hk_live_<id>_<secret> and reads back', () => {
    const text = newKeyText(Date.UTC(2026, 10, 21));

    const key = formatKey(text);

    expect(key).to.match(/^hk_live_[0-9a-z]{26}_[0-9a-f]{64}$/);
    expect(parseKey(key)).to.deep.equal({ ...text, test: false });
    expect(parseKey(formatKey(text, true))).to.deep.equal({ ...text, test: true });
  });

  it('never makes the same secret twice', () => {
    const secrets = new Set(Array.from({ length: 1_000 }, () => newKeyText(0).secret));

    expect(secrets.size).to.equal(1_000);
  });

  const good = formatKey(newKeyText(0));
  for (const bad of [
    '',
    'hk_live_',
    good.slice(1),
    `${good}0`,
    `${good}\n`,
    ` ${good}`,
    good.toUpperCase(),
    'x'.repeat(99),
  ]) {
    it(`does not read ${JSON.stringify(bad.slice(0, 20))} (${bad.length} characters)`, () => {
      expect(parseKey(bad)).to.equal(undefined);
    });
  }

  it('matches only its own secret', () => {
    const { secret } = newKeyText(0);
    const last = secret.endsWith('0') ? '1' : '0';

    expect(secretMatches(secret, hashSecret(secret))).to.equal(true);
    expect(secretMatches(secret.slice(0, -1) + last, hashSecret(secret))).to.equal(false);
    expect(secretMatches(secret, new Uint8Array())).to.equal(false);
  });
});
