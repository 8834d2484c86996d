import { expect } from 'chai';
import { isSenderForm } from '../../../shared/carriers/sender-form.ts';

describe('isSenderForm', () => {
  for (const sender of [
    'A',
    'HARKRA',
    'My Shop 24',
    "O'Neil & Co",
    'abcdefghijk',
    'B_C-D.E',
    '123',
    '123456789012345',
  ]) {
    it(`takes ${sender}`, () => {
      expect(isSenderForm(sender)).to.equal(true);
    });
  }

  const refused = [
    '',
    '12',
    '1234567890123456',
    'abcdefghijkl',
    '...',
    '1 2 3',
    ' SHOP',
    'SHOP ',
    'SH\0OP',
    'SHOP\n',
    'SH\tOP',
    'me@shop',
    'Ünder',
    'दुकान',
    'A😀',
    'A\u0000',
  ];
  for (const sender of refused) {
    it(`refuses ${JSON.stringify(sender)}`, () => {
      expect(isSenderForm(sender)).to.equal(false);
    });
  }
});
