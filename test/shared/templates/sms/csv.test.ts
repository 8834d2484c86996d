import { readFileSync } from 'node:fs';
import { type CsvOptions, readTemplateCsv } from '../../../../shared/templates/sms/csv.ts';

const A = '1107160000000000001';
const B = '1107160000000000002';
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

describe('templates/csv', () => {
  it('reads id, header and content, whose beginning is the name', () => {
    const { templates, problems } = read(
      lines('id,header,content', `${A},HARKRA,Hi {#var#}`, `${B},456789,Sale {#var#}`, ''),
    );

    expect(problems).to.deep.equal([]);
    expect(templates).to.deep.equal([
      {
        dltId: A,
        name: 'Hi {#var#}',
        senders: ['HARKRA'],
        routes: ['transactional'],
        content: 'Hi {#var#}',
        status: 'approved',
      },
      {
        dltId: B,
        name: 'Sale {#var#}',
        senders: ['456789'],
        routes: ['promotional'],
        content: 'Sale {#var#}',
        status: 'approved',
      },
    ]);
  });

  it("takes a portal's own columns, in any order, among others, behind a byte order mark", () => {
    const { templates, problems } = read(
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

    const { templates } = read(
      lines('content,id,header', `"${content.replaceAll('"', '""')}",${A},HARKRA`, `second,${B},HARKRA`),
    );

    expect(templates.map((template) => template.content)).to.deep.equal([content, 'second']);
  });

  for (const sign of [';', '\t']) {
    it(`reads fields parted by ${JSON.stringify(sign)}`, () => {
      const { templates } = read([`id${sign}header${sign}content`, `${A}${sign}HARKRA${sign}Hi, {#var#}`].join('\n'));

      expect(templates[0]?.content).to.equal('Hi, {#var#}');
    });
  }

  it('reads a file whose rows end in more than one way', () => {
    const { templates, problems } = read(`id,header,content\r\n${A},HARKRA,"a\nb"\n${B},HARKRA,"c\r\nd"\r\nx,HARKRA,e`);

    expect(templates.map((template) => template.content)).to.deep.equal(['a\nb', 'c\r\nd']);
    expect(problems.map(({ line }) => line)).to.deep.equal([6]);
  });

  it('joins the rows of one template, a header each', () => {
    const { templates, problems } = read(
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

    const { templates, problems } = read(lines('id,header,content', ...rows, `${A},HDR100,Hi`));

    expect(templates.map(({ senders }) => senders.length)).to.deep.equal([100]);
    expect(problems.map(({ line }) => line)).to.deep.equal([102, 103, 104]);
    expect(problems[0]?.detail).to.match(/^header: .*more than 100 senders; leave out/);
  });

  it('reports every bad row by the line where it begins, and reads the others', () => {
    const { templates, problems } = read(
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

  it('refuses a row whose text goes on behind a separator, instead of registering half of it', () => {
    const { templates, problems } = read(
      lines('id,header,content,', `${A},HARKRA,Hi {#var#}, bye,`, `${B},HARKRA,"Hi {#var#}, bye",,`),
    );

    expect(templates.map(({ dltId, content }) => [dltId, content])).to.deep.equal([[B, 'Hi {#var#}, bye']]);
    expect(problems).to.deep.equal([
      {
        line: 2,
        detail: 'It has more fields than the file has columns: a text with a separator in it must stand in quotes.',
      },
    ]);
  });

  it('takes ids that are protected against rounding, in each of the usual ways', () => {
    for (const id of [`'${A}`, `="${A}"`, `"=""${A}"""`]) {
      const { templates } = read(lines('id,header,content', `${id},HARKRA,"a=""1"""`));

      expect(templates.map(({ dltId, content }) => [dltId, content])).to.deep.equal([[A, 'a="1"']]);
    }
  });

  it('says which columns are missing, how they may be called, and which there are', () => {
    const { detail } = fault('id,text\n1,2');

    expect(detail).to.equal(
      'There is no column for header (as "Header", "HEADER ID" or "Sender ID"). The file has "id", "text".',
    );
    expect(fault('').detail).to.equal('The file is empty.');
    expect(fault('a,b\n1,2').detail).to.match(/^There is no column for id \(.*, header \(.*, content \(/);
  });

  it('says where a quote is never closed', () => {
    expect(fault(lines('id,header,content', `${A},HARKRA,"Hi`, 'x,y,z')).detail).to.match(
      /^The quotation mark in line 2 hides/,
    );
  });

  describe("takes the columns of the operators' exports", () => {
    const HEADS: readonly string[] = [
      'TEMPLATE ID,TEMPLATE NAME,TEMPLATE TYPE,HEADER ID,TEMPLATE MESSAGE,STATUS',
      'Template ID,Template Name,Content Type,Header,Content Template,Approval Status',
      'DLT Template-Id,Template Name,Communication Type,Header Name,Template Content,Template Status',
      'TEMPLATE_ID,TEMPLATE_NAME,CATEGORY,SENDER_ID,TEMPLATE_CONTENT,STATUS',
      'Content Template ID,Name,Type,Registered Headers,Template Text,Current Status',
      ' dlt te id , title , route , Sender ID(s) , Message Content , status ',
    ];
    for (const head of HEADS) {
      it(head, () => {
        const { templates, problems } = read(
          lines(head, `${A},Sale,Service Explicit,HARKRA,Hi {#var#},REGISTERED VIA AIRTEL`),
        );

        expect(problems).to.deep.equal([]);
        expect(templates).to.deep.equal([
          {
            dltId: A,
            name: 'Sale',
            senders: ['HARKRA'],
            routes: ['promotional'],
            content: 'Hi {#var#}',
            status: 'approved',
          },
        ]);
      });
    }

    it('below a title and an empty line', () => {
      const { templates } = read(
        lines(
          'Content Template Report',
          'As on 22-11-2026 10:00',
          '',
          'Template ID;Header;Content',
          `${A};HARKRA;Hi, you`,
        ),
      );

      expect(templates.map(({ content }) => content)).to.deep.equal(['Hi, you']);
    });

    it('and the route from whichever column names one', () => {
      const { templates } = read(
        lines(
          'Template Type,Communication Type,Content Type,Category,id,header,content',
          `TEXT,SMS,Service Explicit,Banking & Services,${A},HARKRA,Hi`,
          `UNICODE,SMS,TEXT,Food and Services,${B},456789,Hi`,
        ),
      );

      expect(templates.map(({ routes }) => routes)).to.deep.equal([['promotional'], ['promotional']]);
    });
  });

  it('counts the rows of each header, the bad ones left out', () => {
    const { rowsBySender } = read(
      lines('id,header,content', `${A},"HARKRA,ACMEBK",Hi`, `${B},HARKRA,Bye`, 'x,OTHERS,Hi'),
    );

    expect(rowsBySender).to.deep.equal([
      ['HARKRA', 2],
      ['ACMEBK', 1],
    ]);
  });

  it('takes the routes that it is told', () => {
    const { templates } = read(lines('id,header,content', `${A},HARKRA,Hi`), {
      routes: ['transactional', 'promotional'],
    });

    expect(templates[0]?.routes).to.deep.equal(['transactional', 'promotional']);
  });
});

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
