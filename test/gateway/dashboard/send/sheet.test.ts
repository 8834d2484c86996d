import { sheetOf, templateValues } from '../../../../gateway/dashboard/client/pages/send/sheet.ts';

describe('the recipients of a file', () => {
  it('have the heads of the first line, when it names columns', () => {
    const named = sheetOf('sep=;\r\nnumber;name\r\n919876500010; Asha \r\n');
    const unnamed = sheetOf('919876500010\n919876500011,Asha\n');

    expect(named).to.deep.equal({ rows: [['919876500010', 'Asha']], heads: ['number', 'name'], hasHead: true });
    expect([unnamed.heads, unnamed.hasHead]).to.deep.equal([['Column 1', 'Column 2'], false]);
  });

  it('have no columns at the end in which nothing is', () => {
    const { heads, rows } = sheetOf('number;name;;\r\n919876500010;Asha;;\r\n919876500011;;\u200b;\r\n');

    expect({ heads, rows }).to.deep.equal({
      heads: ['number', 'name'],
      rows: [
        ['919876500010', 'Asha'],
        ['919876500011', ''],
      ],
    });
  });

  it('are read no further than a request may have them, and it is said', () => {
    const { rows, fault } = sheetOf('919876543210\n'.repeat(200_000));

    expect([rows.length, fault]).to.deep.equal([10_001, 'There are more than 10001 rows.']);
  });
});

describe('the values of a template', () => {
  const rows: readonly [string, string, readonly string[]][] = [
    ['none', '', []],
    ['one on each line', 'Asha\n1234', ['Asha', '1234']],
    ['an empty line is one, so that the next ones keep their places', 'Asha\n\n1234', ['Asha', '', '1234']],
    ['blanks belong to a value', ' Asha ', [' Asha ']],
  ];
  for (const [what, written, values] of rows) {
    it(what, () => expect(templateValues(written)).to.deep.equal(values));
  }
});
