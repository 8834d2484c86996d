import fc from 'fast-check';
import { isBlank } from '../../../../shared/platform/sheets/cell.ts';
import { decodeFile, looksLikeHead, parseSheet } from '../../../../shared/platform/sheets/parse.ts';

const LIMITS = { rows: 1_000, columns: 50, cell: 2_000 };
const cellsOf = (text: string) => parseSheet(text, LIMITS).rows.map(({ cells }) => cells);

describe('parseSheet', () => {
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
    ['commas, and the blanks around them', 'a, b ,c', [['a', ' b ', 'c']]],
    ['a comma before a semicolon', 'a;b,c', [['a;b', 'c']]],
    ['semicolons', 'a;b', [['a', 'b']]],
    ['tabs', 'a\tb', [['a', 'b']]],
    ['bars', 'a|b', [['a', 'b']]],
    [
      'the separator that is as often in every line',
      'a;b, c\n1;2\n3;4,5,6',
      [
        ['a', 'b, c'],
        ['1', '2'],
        ['3', '4,5,6'],
      ],
    ],
    [
      'a separator within quotes for none',
      '"Sharma, Asha";1\n"Rao";2',
      [
        ['Sharma, Asha', '1'],
        ['Rao', '2'],
      ],
    ],
    [
      'tabs, as cells are copied, before commas in sums',
      '919876543210\tAsha\tRs. 1,200\n919876543211\tRavi\tRs. 2,200',
      [
        ['919876543210', 'Asha', 'Rs. 1,200'],
        ['919876543211', 'Ravi', 'Rs. 2,200'],
      ],
    ],
    ['the separator that leaves a number alone', '919876543210;1.200,50', [['919876543210', '1.200,50']]],
    ['a comma behind a tab that keeps a number a text', '\t919876543210,Asha', [['\t919876543210', 'Asha']]],
    ['no line of what nobody sees', '\u200b\n1,2\n\u00a0,\u202a\n', [['1', '2']]],
    ['quotes around a separator, a quote, a line end', '"a,b","c ""d""","e\nf"', [['a,b', 'c "d"', 'e\nf']]],
    ['a byte order mark', '\ufeffa,b', [['a', 'b']]],
    ['a quoted word before others', '"a" b,c', [['a b', 'c']]],
    ['quotes amid a cell as they stand', 'say "hi" now,="91"', [['say "hi" now', '="91"']]],
    ['the separator that the first line names', 'sep=;\r\na,b;c', [['a,b', 'c']]],
    ['such a line in quotes, behind a mark', '\ufeff"sep=|"\na;b|c', [['a;b', 'c']]],
  ];
  for (const [what, text, expected] of rows) {
    it(what, () => expect(cellsOf(text)).to.deep.equal(expected));
  }

  it('tells the line of each row, and a cell that goes on behind its quotes', () => {
    const { rows: read } = parseSheet('sep=,\r\na,"b\r\nc\rd\ne"\r\n\r\n"f"g,h\ri', LIMITS);

    expect(read.map(({ line, torn }) => [line, torn])).to.deep.equal([
      [2, undefined],
      [7, true],
      [8, undefined],
    ]);
  });

  const faults: readonly [string, string, RegExp][] = [
    ['a quote without an end', '1,a\r\n2,"b\r\n3,c\r\n', /in line 2 hides lines after it/],
    ['a quote that ends where another one begins', '1,a\n2,"b\n3,"c"\n4,d', /in line 2 hides/],
    ['a quote that takes more lines than a cell may have', `1,"a\n${'2,b\n'.repeat(1_000)}"`, /in line 1 hides/],
    ['too many rows', 'a\n'.repeat(1_001), /^There are more than 1000 rows\.$/],
    ['too many columns', `a,b\n${'a,'.repeat(500_000)}`, /^Line 2 has more than 50 columns\.$/],
    ['too long a cell', `a\n${'b'.repeat(2_001)}`, /^Line 2 has a cell of more than 2000 characters\.$/],
  ];
  for (const [what, text, fault] of faults) {
    it(`says what is wrong: ${what}`, () => expect(parseSheet(text, LIMITS).fault).to.match(fault));
  }

  it('reads no more than it may, whatever follows', () => {
    expect(parseSheet('a\n'.repeat(5_000), LIMITS).rows).to.have.length(1_000);
    expect(parseSheet(`b\n${'a,'.repeat(5_000)}\nc`, LIMITS).rows).to.have.length(1);
  });

  it('reads what a spreadsheet writes', () => {
    const cell = fc.string({ minLength: 1 }).filter((text) => !isBlank(text));
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (table) => {
        const text = table.map((row) => row.map(quoted).join(',')).join('\r\n');

        const sheet = parseSheet(`head,head\r\n${text}`, LIMITS);
        expect(sheet.rows.slice(1).map(({ cells }) => cells)).to.deep.equal(table);
        expect(sheet).not.to.have.property('fault');
      }),
    );
  });

  it('takes a row of words for the names of columns, and a number with a slip for none', () => {
    expect(looksLikeHead(['number', ' param 1 ', ''])).to.equal(true);
    expect(looksLikeHead(['98765 4321O'])).to.equal(false);
  });
});

const TEXT = 'Template ID,Header,Content\r\n1107160000000000001,HARKRA,"प्रिय {#var#}, ₹ 100 – bye"\r\n';
const swapped = (octets: Buffer): Buffer => Buffer.from(octets).swap16();
const utf16le = Buffer.from(TEXT, 'utf16le');

describe('sheets/encoding', () => {
  const files: readonly [string, Uint8Array][] = [
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16, little end first, with its mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['UTF-16, big end first, with its mark', swapped(Buffer.from(`\ufeff${TEXT}`, 'utf16le'))],
    ['UTF-16, little end first', utf16le],
    ['UTF-16, big end first', swapped(utf16le)],
  ];
  for (const [name, octets] of files) {
    it(`reads ${name}`, () => {
      expect(decodeFile(octets)).to.deep.equal({ kind: 'text', text: TEXT });
    });
  }

  it('does not guess that a file is windows-1252: it names the line, and what to do', () => {
    const octets = Buffer.from('id,header,content\n1,HARKRA,plain\n2,HARKRA,caf\xe9 \x96 bye\n', 'latin1');

    const refused = decodeFile(octets);

    expect(refused.kind).to.equal('unreadable');
    expect(refused)
      .to.have.property('detail')
      .that.matches(/^Line 3 is not UTF-8;.*encoding windows-1252/);
    expect(decodeFile(octets, 'windows-1252')).to.deep.include({
      text: 'id,header,content\n1,HARKRA,plain\n2,HARKRA,café – bye\n',
    });
  });

  const others: readonly [string, Uint8Array, RegExp][] = [
    ['a workbook', Buffer.from('PK\x03\x04rest'), /\.xlsx.*save it as "CSV UTF-8"/],
    ['an old workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 1]), /\.xls\)/],
    ['a web page that is called .xls', Buffer.from('  <html><table>'), /web page/],
    ['UTF-16 that is cut off', utf16le.subarray(0, 101), /not the utf-16le/],
  ];
  for (const [name, octets, detail] of others) {
    it(`says that it is ${name}`, () => {
      expect(decodeFile(octets)).to.have.property('detail').that.matches(detail);
    });
  }
});
