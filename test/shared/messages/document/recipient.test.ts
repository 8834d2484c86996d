import { expect } from 'chai';
import { recipientProblem } from '../../../../shared/messages/document/recipient.ts';

describe('recipientProblem', () => {
  for (const to of ['12345678', '919876543210', '123456789012345']) {
    it(`takes ${to}`, () => {
      expect(recipientProblem(to)).to.equal(undefined);
    });
  }

  const refused: readonly [string, RegExp][] = [
    ['', /empty/],
    ['+919876543210', /Remove the plus/],
    ['00919876543210', /leading 00/],
    ['09876543210', /never begins with 0/],
    ['0', /never begins with 0/],
    ['1234567', /has 7 digits/],
    ['1234567890123456', /has 16 digits/],
    ['91 98765 43210', /Remove spaces/],
    ['(919)876-543210', /Remove spaces/],
    ['919876543210\n', /Remove the character \\u000a/],
    ['+44 (0)20 7946 0958', /without \(0\)/],
    ['919876543210,919876543211', /several numbers/],
    ['+919876543210; +919876543211', /several numbers/],
    ['919876543210 919876543211', /several numbers/],
    ['919876543210.0', /column as text/],
    ['919876543210,0', /column as text/],
    ['9.19877E+11', /column as text/],
    ['91987654321o', /only the digits/],
    ['٩١٩٨٧٦٥٤٣٢١٠', /Remove the character \\u0669/],
  ];
  for (const [to, reason] of refused) {
    it(`refuses ${JSON.stringify(to)} and says how to correct it`, () => {
      expect(recipientProblem(to)).to.match(reason);
    });
  }
});
