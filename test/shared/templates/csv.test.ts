import { expect } from 'chai';
import { readTemplateCsv } from '../../../shared/templates/csv.ts';

const A = '1107160000000000001';
const B = '1107160000000000002';
const lines = (...all: string[]) => all.join('\r\n');

describe('templates/csv', () => {
  it('reads id, header and content', () => {
    const { templates, problems } = readTemplateCsv(
      lines('id,header,content', `${A},HARKRA,Hi {#var#}`, `${B},456789,Sale {#var#}`, ''),
    );

    expect(problems).to.deep.equal([]);
    expect(templates).to.deep.equal([
      { dltId: A, name: A, senders: ['HARKRA'], routes: ['transactional'], content: 'Hi {#var#}', status: 'approved' },
      { dltId: B, name: B, senders: ['456789'], routes: ['promotional'], content: 'Sale {#var#}', status: 'approved' },
    ]);
  });

  it("takes a portal's own columns, in any order, among others, behind a byte order mark", () => {
    const { templates, problems } = readTemplateCsv(
      lines(
        '\ufeff"S.No","Template Type","Template Name","PE ID","Registered Header","Template Content","Template ID","Status","Created On"',
        `1,Service Explicit,Diwali,1101172974420810001,HARKRA,"Hi {#var#}, bye",${A},Approved,2026-01-14`,
        `2,Service Implicit,OTP,,"HARKRA, ACMEBK","OTP ""{#numeric#}""",'${B},Pending,2026-01-14`,
      ),
    );

    expect(problems).to.deep.equal([]);
    expect(templates).to.deep.equal([
      {
        dltId: A,
        name: 'Diwali',
        senders: ['HARKRA'],
        routes: ['promotional'],
        content: 'Hi {#var#}, bye',
        entityId: '1101172974420810001',
        status: 'approved',
      },
      {
        dltId: B,
        name: 'OTP',
        senders: ['HARKRA', 'ACMEBK'],
        routes: ['transactional'],
        content: 'OTP "{#numeric#}"',
        status: 'submitted',
      },
    ]);
  });

  it('keeps the content as it stands: line breaks, outer spaces, other scripts', () => {
    const content = ' प्रिय {#var#},\n"🎉"\r\nbye ';

    const { templates } = readTemplateCsv(
      lines('content,id,header', `"${content.replaceAll('"', '""')}",${A},HARKRA`, `second,${B},HARKRA`),
    );

    expect(templates.map((template) => template.content)).to.deep.equal([content, 'second']);
  });

  for (const sign of [';', '\t']) {
    it(`reads fields parted by ${JSON.stringify(sign)}`, () => {
      const { templates } = readTemplateCsv(
        [`id${sign}header${sign}content`, `${A}${sign}HARKRA${sign}Hi, {#var#}`].join('\n'),
      );

      expect(templates[0]?.content).to.equal('Hi, {#var#}');
    });
  }

  it('reads a file whose rows end in more than one way', () => {
    const { templates, problems } = readTemplateCsv(
      `id,header,content\r\n${A},HARKRA,"a\nb"\n${B},HARKRA,"c\r\nd"\r\nx,HARKRA,e`,
    );

    expect(templates.map((template) => template.content)).to.deep.equal(['a\nb', 'c\r\nd']);
    expect(problems.map(({ line }) => line)).to.deep.equal([6]);
  });

  it('joins the rows of one template, a header each', () => {
    const { templates, problems } = readTemplateCsv(
      lines('id,header,content', `${A},HARKRA,Hi`, `${B},HARKRA,Bye`, `${A},ACMEBK,Hi`),
    );

    expect(problems).to.deep.equal([]);
    expect(templates.map(({ dltId, senders }) => [dltId, senders])).to.deep.equal([
      [A, ['HARKRA', 'ACMEBK']],
      [B, ['HARKRA']],
    ]);
  });

  it('takes 100 headers of one template, and names the rows beyond', () => {
    const rows = Array.from({ length: 103 }, (_, i) => `${A},HDR${100 + i},Hi`);

    const { templates, problems } = readTemplateCsv(lines('id,header,content', ...rows, `${A},HDR100,Hi`));

    expect(templates.map(({ senders }) => senders.length)).to.deep.equal([100]);
    expect(problems.map(({ line }) => line)).to.deep.equal([102, 103, 104]);
    expect(problems[0]?.detail).to.match(/^header: .*more than 100 senders; leave out/);
  });

  it('reports every bad row by the line where it begins, and reads the others', () => {
    const { templates, problems } = readTemplateCsv(
      lines(
        'id,header,content,status',
        `${A},HARKRA,"Hi\r\n{#var#}",`,
        '1.10717E+18,HARKRA,Hi,',
        `${B},no sender at all,Hi {#Var#} {#,`,
        `${A},HARKRA,Another,`,
        '',
        ',,,',
        `${B},HARKRA,Hi,perhaps`,
        `${B}`,
        `${B},HARKRA,Hi,Active`,
      ),
    );

    expect(templates.map(({ dltId }) => dltId)).to.deep.equal([A, B]);
    expect(problems.map(({ line }) => line)).to.deep.equal([4, 5, 6, 9, 10]);
    expect(problems[0]?.detail).to.match(/^id: "1.10717E\+18" is not 10 to 20 digits. A spreadsheet has rounded it/);
    expect(problems[1]?.detail).to.match(/header: .*content: At character 4: .*content: At character 12: /);
    expect(problems[2]?.detail).to.match(/another content/);
    expect(problems[3]?.detail).to.match(/status: "perhaps" is not known/);
    expect(problems[4]?.detail).to.match(/header: It must name.*content: At character 1: It is empty/);
  });

  it('says which columns are missing', () => {
    expect(readTemplateCsv('id,text\n1,2').problems).to.deep.equal([
      { line: 1, detail: 'There is no column for header among "id", "text".' },
    ]);
    expect(readTemplateCsv('').problems).to.deep.equal([{ line: 1, detail: 'The file is empty.' }]);
  });

  it('says where a quote is never closed', () => {
    const { templates, problems } = readTemplateCsv(lines('id,header,content', `${A},HARKRA,"Hi`, 'x,y,z'));

    expect(templates).to.deep.equal([]);
    expect(problems).to.have.length(1);
    expect(problems[0]?.detail).to.match(/quote/i);
  });

  it('takes the routes that it is told', () => {
    const { templates } = readTemplateCsv(lines('id,header,content', `${A},HARKRA,Hi`), {
      routes: ['transactional', 'promotional'],
    });

    expect(templates[0]?.routes).to.deep.equal(['transactional', 'promotional']);
  });
});
