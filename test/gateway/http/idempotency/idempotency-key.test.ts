import { expect } from 'chai';
import { parseIdempotencyKey } from '../../../../gateway/http/idempotency/idempotency-key.ts';

describe('Idempotency-Key', () => {
  for (const [header, key] of [
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43e8-bc93-6894a57f9324"', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['a', 'a'],
    ['~!@#$%^&*(){}', '~!@#$%^&*(){}'],
    ['a"b\\c', 'a"b\\c'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  ] as const) {
    it(`is read: ${header.slice(0, 30)}`, () => {
      expect(parseIdempotencyKey(header)).to.equal(key);
    });
  }

  for (const header of [
    '',
    '""',
    '"',
    '"a',
    '"a"b"',
    '"a";p=1',
    '"a", "b"',
    'a, b',
    'a b',
    'a\tb',
    '"a b"',
    '"a\\x"',
    '"a\\"',
    'é',
    '"é"',
    'x'.repeat(256),
    `"${'x'.repeat(256)}"`,
  ]) {
    it(`is refused: ${JSON.stringify(header.slice(0, 30))}`, () => {
      expect(parseIdempotencyKey(header)).to.equal(undefined);
    });
  }
});
