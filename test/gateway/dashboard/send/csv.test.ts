import { expect } from 'chai';
import fc from 'fast-check';
import { parseCsv } from '../../../../gateway/dashboard/client/pages/send/csv.ts';

describe('parseCsv', () => {
  const rows: readonly [string, string, readonly (readonly string[])[]][] = [
    ['nothing', '', []],
    ['one number', '919876543210', [['919876543210']]],
    ['numbers, one a line, with empty lines', '1\r\n\r\n2\n', [['1'], ['2']]],
    [
      'lines that end in CR alone, as a Mac may write them',
      'a;b\rc;d\r',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['commas, and blanks around them', 'a, b ,c', [['a', 'b', 'c']]],
    ['a comma before a semicolon', 'a;b,c', [['a;b', 'c']]],
    ['semicolons', 'a;b', [['a', 'b']]],
    ['tabs', 'a\tb', [['a', 'b']]],
    ['quotes around a separator, a quote, a line end', '"a,b","c ""d""","e\nf"', [['a,b', 'c "d"', 'e\nf']]],
    ['a byte order mark', '\ufeffa,b', [['a', 'b']]],
    ['a quoted word before others', '"a" b,c', [['a b', 'c']]],
  ];
  for (const [what, text, expected] of rows) {
    it(what, () => expect(parseCsv(text)).to.deep.equal({ rows: expected }));
  }

  const faults: readonly [string, string, number][] = [
    ['a quote without an end', '1,a\r\n2,"b\r\n3,c\r\n', 2],
    ['a quote that ends where another one begins', '1,a\n2,"b\n3,"c"\n4,d', 2],
  ];
  for (const [what, text, line] of faults) {
    it(`tells the line of ${what}`, () => expect(parseCsv(text).openQuote).to.equal(line));
  }

  it('reads what a spreadsheet writes', () => {
    const cell = fc.string({ minLength: 1 }).filter((text) => text.trim() === text && !/[\r\ufeff]/.test(text));
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (table) => {
        const text = table.map((row) => row.map(quoted).join(',')).join('\r\n');

        const csv = parseCsv(`head,head\r\n${text}`);
        expect(csv.rows.slice(1)).to.deep.equal(table);
        expect(csv).not.to.have.property('openQuote');
      }),
    );
  });
});
