import { instantIn, sheetOf, templateValues } from '../../../gateway/dashboard/client/pages/send-values.ts';

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

describe('instantIn', () => {
  const rows: readonly [string, string, string][] = [
    ['2026-11-22T10:00', 'Asia/Kolkata', '2026-11-22T10:00:00+05:30'],
    ['2026-11-22T10:00', 'UTC', '2026-11-22T10:00:00+00:00'],
    ['2026-07-01T10:00', 'Europe/London', '2026-07-01T10:00:00+01:00'],
    ['2026-12-01T10:00', 'Europe/London', '2026-12-01T10:00:00+00:00'],
    ['2026-12-01T10:00', 'America/St_Johns', '2026-12-01T10:00:00-03:30'],
    ['2026-12-01T10:00', 'Pacific/Kiritimati', '2026-12-01T10:00:00+14:00'],
    // New York leaves summer time on 1 November 2026 at 02:00, and London entered it on 29 March at 01:00.
    ['2026-11-01T00:30', 'America/New_York', '2026-11-01T00:30:00-04:00'],
    ['2026-11-01T03:30', 'America/New_York', '2026-11-01T03:30:00-05:00'],
    ['2026-03-29T00:30', 'Europe/London', '2026-03-29T00:30:00+00:00'],
    ['2026-03-29T02:30', 'Europe/London', '2026-03-29T02:30:00+01:00'],
    // Skipped times; Adelaide has an offset with half an hour, and Lord Howe changes by half an hour.
    ['2026-03-29T01:30', 'Europe/London', '2026-03-29T01:30:00+00:00'],
    ['2026-03-08T02:30', 'America/New_York', '2026-03-08T02:30:00-05:00'],
    ['2026-10-04T02:30', 'Australia/Adelaide', '2026-10-04T02:30:00+09:30'],
    ['2026-10-04T02:15', 'Australia/Lord_Howe', '2026-10-04T02:15:00+10:30'],
  ];
  for (const [local, zone, expected] of rows) {
    it(`${local} in ${zone}`, () => expect(instantIn(local, zone)).to.equal(expected));
  }

  it('leaves what is no time to the gateway', () => expect(instantIn('soon', 'UTC')).to.equal('soon'));
});
