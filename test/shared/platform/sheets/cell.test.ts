import { readFileSync } from 'node:fs';
import { looksLikePhone, oddCharacter, phoneDigits, wordOf } from '../../../../shared/platform/sheets/cell.ts';
import { parseSheet } from '../../../../shared/platform/sheets/parse.ts';

const fixture = (name: string) => readFileSync(new URL(`../../../fixtures/sheets/${name}`, import.meta.url), 'utf8');
const LIMITS = { rows: 100, columns: 10, cell: 100 };

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
    ['="919876543210"', '919876543210'],
    ["'919876543210", '919876543210'],
    ['’+91 98765 43210', '919876543210'],
    ['"919876543210"', '919876543210'],
    ['“919876543210”', '919876543210'],
    ['=919876543210', '919876543210'],
    ['\u202a+91 98765 43210\u202c', '919876543210'],
    ['\ufeff919876543210\u200e\u00ad', '919876543210'],
    ['91\u00a098765\u202f43210', '919876543210'],
    ['+91\u201198765\u201143210', '919876543210'],
    ['＋９１（９８７６５）－４３２１０', '919876543210'],
    ['९१९८७६५४३२१०', '919876543210'],
    ['٩١٩٨٧٦٥٤٣٢١٠', '919876543210'],
  ];
  for (const [written, digits] of same) {
    it(`${JSON.stringify(written)} is ${digits}`, () => expect(phoneDigits(written)).to.equal(digits));
  }

  for (const written of [
    '+44 (0)20 7946 0958',
    '919876543210.5',
    '919876543210,5',
    '919876543210.00',
    '9.19877E+11',
    '9,19877E+11',
    '9.2e11',
    '9E+11',
    '91987654321²',
    '28-11-2026',
    '2026.11.28',
  ]) {
    it(`${written} stays, so that it is refused in words`, () => expect(phoneDigits(written)).to.equal(written));
  }

  it('is found among the columns, also when it will be refused', () => {
    const cells = ['name', '+44 (0)20 7946 0958', '919876543210.0', '="919876543210"', 'Ravi 2', '12', '28-11-2026'];

    expect(cells.filter(looksLikePhone)).to.deep.equal(cells.slice(1, 4));
  });

  const files: readonly [string, readonly string[]][] = [
    ['09-recipients-invisible.txt', ['919876500010', '919876500011', '919876500012', '919876500013']],
    ['10-recipients-formula.csv', ['919876500010', '919876500011']],
    ['10-recipients-sep.csv', ['919876500010', '919876500011']],
  ];
  for (const [name, numbers] of files) {
    it(`is read in ${name}`, () => {
      const cells = parseSheet(fixture(name), LIMITS).rows.map((row) => phoneDigits(row.cells[0] ?? ''));

      expect(cells.filter((cell) => /^\d+$/.test(cell))).to.deep.equal(numbers);
    });
  }
});

describe('a word of a cell', () => {
  it('tells whether it was written as a text', () => {
    for (const cell of [`'1107`, '="1107"', '"1107"'])
      expect(wordOf(cell)).to.deep.equal({ text: '1107', isProtected: true });
    for (const cell of ['1107', ' 1107 ', '=1107'])
      expect(wordOf(cell)).to.deep.equal({ text: '1107', isProtected: false });
  });

  it('is named where it has a character that people do not see, or take for another', () => {
    expect(oddCharacter('919876543210')).to.equal(undefined);
    expect(oddCharacter('91\u202a9876')).to.deep.equal({ name: '\\u202a', place: 3 });
    expect(oddCharacter('𝟗𝟏')).to.deep.equal({ name: '\\u{1d7d7}', place: 1 });
  });
});
