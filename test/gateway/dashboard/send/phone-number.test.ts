import { expect } from 'chai';
import { digitsOf, looksLikeNumber } from '../../../../gateway/dashboard/client/pages/send/phone-number.ts';

describe('a number as it is written', () => {
  const same: readonly [string, string][] = [
    ['919876543210', '919876543210'],
    [' +91 98765-43210 ', '919876543210'],
    ['(+91) 98765 43210', '919876543210'],
    ['33.1.23.45.67.00', '33123456700'],
    ['+1.4155550100', '14155550100'],
    ['919876543210.', '919876543210'],
    ['919876543210.0', '919876543210'],
    ['9876 54321x', '987654321x'],
  ];
  for (const [written, digits] of same) {
    it(`${written} is ${digits}`, () => expect(digitsOf(written)).to.equal(digits));
  }

  for (const written of [
    '+44 (0)20 7946 0958',
    '919876543210.5',
    '919876543210.00',
    '9.19877E+11',
    '9.2e11',
    '9E+11',
  ]) {
    it(`${written} stays, so that the gateway refuses it`, () => expect(digitsOf(written)).to.equal(written));
  }

  it('is found among the columns, also when it will be refused', () => {
    const cells = ['name', '+44 (0)20 7946 0958', '919876543210.0', 'Ravi 2', '12'];

    expect(cells.filter(looksLikeNumber)).to.deep.equal(['+44 (0)20 7946 0958', '919876543210.0']);
  });
});
