import { readFileSync } from 'node:fs';
import { type CsvOptions, readTemplateCsv } from '../../../../../shared/templates/sms/export/csv.ts';

const A = '1107160000000000001';
const lines = (...all: string[]) => all.join('\r\n');

function read(text: string, options?: CsvOptions) {
  const found = readTemplateCsv(text, options);
  if (found.kind === 'unreadable') throw new Error(found.detail);
  return { ...found, templates: found.templates.map(({ line: _line, told: _told, ...template }) => template) };
}

function fault(text: string) {
  const found = readTemplateCsv(text);
  if (found.kind === 'read') throw new Error('it was read');
  return found;
}

describe('templates/csv: what spreadsheets and portals make of a file', () => {
  describe('ids that a program has rounded', () => {
    const rowsOf = (...ids: string[]) => lines('id,header,content', ...ids.map((id) => `${id},HARKRA,Hi ${id}`));

    it('are refused, each with what to do: those of Excel, and the PE id beside them', () => {
      const { templates, problems } = read(readFileSync('test/fixtures/sheets/07-templates-excel-rounded.csv', 'utf8'));

      expect(templates).to.deep.equal([]);
      expect(problems.map(({ line }) => line)).to.deep.equal([2, 3, 4]);
      expect(problems[0]?.detail).to.match(
        /^id: 1107161234567890000 ends in zeros .* column as text.* entity id: 1101172974420810000 ends in zeros/,
      );
    });

    it('are refused where two templates have become one', () => {
      const { badRows, problems } = read(rowsOf('1107161234567890000', '1107161234567890000'));

      expect(badRows).to.equal(2);
      for (const { detail } of problems) expect(detail).to.include('rounded');
    });

    it('are refused as a program writes them that reads numbers as doubles', () => {
      expect(read(rowsOf('1107161234567890200', '1107165550000123900', A)).badRows).to.equal(2);
    });

    it('are taken where they are no more than chance, or were written as texts', () => {
      const many = Array.from({ length: 2_000 }, (_, i) => `11071600000${10_000_019 + 37 * i}`);

      expect(read(rowsOf(...many, '1107160000000010000')).badRows).to.equal(0);
      expect(read(rowsOf('="1107161234567890000"', "'1107165550000120000")).badRows).to.equal(0);
      expect(read(rowsOf(A, '1107165550000120000')).badRows).to.equal(1);
    });

    it('are told in any notation of a number that is too long', () => {
      for (const id of ['1.10716E+18', '"1,10716E+18"', '1.1071612345678902e+18']) {
        expect(read(rowsOf(id)).problems[0]?.detail).to.include('A spreadsheet has rounded it');
      }
    });
  });

  it('takes ids with what nobody sees, with spaces between their digits, and in full width', () => {
    for (const id of [
      `\u202a${A}\u202c`,
      '1107 1600 0000 0000 001',
      '１１０７１６００００００００００００１',
      `\ufeff${A}`,
    ]) {
      expect(read(lines('id,header,content', `${id},HARKRA,Hi`)).templates[0]?.dltId).to.equal(A);
    }
  });

  const states: readonly [string, string | undefined][] = [
    ['Approved,Active', 'approved'],
    ['Approved,Inactive', 'rejected'],
    ['Active (Blacklisted),', 'rejected'],
    ['BLACKLISTED,Approved', 'rejected'],
    ['Suspended by PE,', 'rejected'],
    ['Pending,Active', 'submitted'],
    [',', 'approved'],
    ['Registered - De-activated,', 'rejected'],
    ['Black listed,', 'rejected'],
    ['Non-active,', 'rejected'],
    ['Approved,Not Blacklisted', 'approved'],
    ['Approval Pending,', 'submitted'],
    ['In Process,Active', 'submitted'],
    ['Registered via Airtel,Approved by registrar', 'approved'],
    ['Active: No,', undefined],
    ['Constructor,', undefined],
    ['Approved,Perhaps', undefined],
  ];
  for (const [cells, status] of states) {
    it(`takes the one of several states that lets the least pass: ${cells}`, () => {
      const { templates } = read(lines('id,header,content,Status,Active Status', `${A},HARKRA,Hi,${cells}`));

      expect(templates[0]?.status).to.equal(status);
    });
  }

  it('takes a template for blacklisted when one row of it is, and keeps the word', () => {
    const { templates } = read(
      lines('id,header,content,status', `${A},HARKRA,Hi,Active`, `${A},ACMEBK,Hi,Blacklisted`),
    );

    expect(templates[0]).to.deep.include({ status: 'rejected', reason: 'The DLT platform says: Blacklisted' });
  });

  it('takes CR LF and LF for one line break, unless the account wants them exact', () => {
    const text = `id,header,content\n${A},HARKRA,"Hi\r\nyou"\n${A},ACMEBK,"Hi\nyou"`;

    expect(read(text)).to.deep.include({ badRows: 0 });
    expect(read(text, { exactLineBreaks: true }).problems[0]?.detail).to.include('another content');
  });

  it('tells the first hundred bad rows, and some faults of each, however many there are', () => {
    const { problems, badRows } = read(`id,header,content\nx,HARKRA,"${'{#'.repeat(900)}"\n${'a,\n'.repeat(10_000)}`);

    expect([problems.length, badRows]).to.deep.equal([100, 10_001]);
    expect(problems[0]?.detail).to.match(/And \d+ more\.$/);
  });

  it('tells the columns of a file that has very many', () => {
    const { detail } = fault(`${'column,'.repeat(250)}\nx`);

    expect(detail).to.have.length.below(1_000);
    expect(detail).to.include('and 231 more');
  });
});
