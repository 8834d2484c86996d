import fc from 'fast-check';
import type { ReceiptSettings } from '../../../../shared/carriers/settings/receipts.ts';
import { type ParsedReceipt, parseReceipt } from '../../../../workers/smpp/receipts/receipt.ts';
import { shapeOf } from '../../../../workers/smpp/receipts/receipt-fields.ts';
import { dialect } from '../../../support/dialect.ts';
import { receiptDeliver } from '../../../support/receipt-deliver.ts';

/** When this file's receipts come. */
const AT = new Date('2026-11-21T10:06:00Z');
const DONE = '2026-11-21T10:05:00.000Z';

function parse(text: string, set: Partial<ReceiptSettings> = {}, at = AT): ParsedReceipt | undefined {
  return parseReceipt(receiptDeliver(text), { receiptOffsetMinutes: 0 }, dialect(set), at);
}

describe('parseReceipt: forms of the text', () => {
  const SAME: readonly string[] = [
    'id:4f1c sub:001 dlvrd:000 submit date:2611211004 done date:2611211005 stat:UNDELIV err:004 text:hello',
    'id:4f1c,sub:001,dlvrd:000,submit date:2611211004,done date:2611211005,stat:UNDELIV,err:004,text:hello',
    'id:4f1c;sub:001;dlvrd:000;submit date:2611211004;done date:2611211005;stat:UNDELIV;err:004;text:hello',
    'id:4f1c|stat:UNDELIV|err:004|done date:2611211005|text:hello',
    'id:"4f1c" stat:"UNDELIV" err:"004" done date:"2611211005" text:"hello"',
    '{"id":"4f1c","stat":"UNDELIV","err":"004","done date":"2611211005","text":"hello"}',
    'id=4f1c stat=UNDELIV err=004 done_date=2611211005 text=hello',
    'id:4f1csub:001dlvrd:000submit date:2611211004done date:2611211005stat:UNDELIVerr:004text:hello',
    'stat:UNDELIVid:4f1cerr:004done date:2611211005text:hello',
    'ID:4f1c\r\nSTAT:UNDELIV\r\nERR:004\r\nDONE DATE:2611211005\r\nTEXT:hello',
    'err:004 stat:UNDELIV done date:2611211005 submit date:2611211004 id:4f1c',
    'id : 4f1c stat : UNDELIV err : 004 done date : 2611211005',
    'id:4f1c status:UNDELIV error:004 donedate:2611211005 text:hello',
    'id:4f1c stat:UNDELIV err:004 done date:2026-11-21 10:05:00 text:hello',
    'id:4f1c stat:UNDELIV err:004 done date:2026-11-21T15:35:00+05:30 text:hello',
    'id:4f1c stat:UNDELIV err:004 done date:1795255500 text:hello',
    'id:4f1c stat:UNDELIV err:004 done date:1795255500000 text:hello',
    'id:4f1c stat:UNDELIV err:004 done date:202611211005 text:hello',
    'id:4f1c stat:UNDELIV err:004 done date:2611211535+0530 text:hello',
  ];
  for (const text of SAME) {
    it(JSON.stringify(text.slice(0, 90)), () => {
      const receipt = parse(text);

      expect(receipt).to.deep.include({ ids: ['4f1c'], meaning: 'failed', error: '004' });
      expect(receipt?.doneAt?.toISOString()).to.equal(DONE);
      expect(receipt?.excerpt).not.to.match(/hello/);
    });
  }

  it('keys of the customer’s words count in none of the forms', () => {
    const echo = 'id:666 stat:DELIVRD err:000 done date:2611211006';
    for (const label of ['text:', ' text:', ',Text:', ';TEXT=', '|text :', '"text":"', '\ntext:\n']) {
      expect(parse(`stat:UNDELIV err:004${label}${echo}`), label).to.equal(undefined);
      expect(parse(`id:7 err:004${label}${echo}`), label).to.deep.include({ ids: ['7'], isKnown: false });
    }
  });

  it('the end of another key is no id', () => {
    expect(parse('msgid:5 paid:7 stat:DELIVRD')).to.equal(undefined);
    expect(parse('userid:5 id:9 stat:DELIVRD')?.ids).to.deep.equal(['9']);
  });

  it('a code may have a colon inside, but an empty value is not the next key', () => {
    expect(parse('id:a stat:MK:0004 err:')?.word).to.equal('MK:0004');
    expect(parse('id:a err: MSC:12 stat:UNDELIV')).to.deep.include({ meaning: 'failed', word: 'UNDELIV' });
    expect(parse('id:a err: MSC:12 stat:UNDELIV')?.error).to.equal(undefined);
  });

  it('an id in Base64 keeps its end', () => {
    for (const text of ['id:aGk= stat:DELIVRD', 'id=aGk=,stat=DELIVRD', 'id:aGk=stat:DELIVRD']) {
      expect(parse(text), text).to.deep.include({ ids: ['aGk='], meaning: 'delivered' });
    }
  });

  it('ten zeros are no date, and ten digits are the date nearest to the receipt', () => {
    expect(parse('id:a stat:DELIVRD done date:0000000000')?.doneAt).to.equal(undefined);
    const spring = 'id:a stat:DELIVRD done date:1804021530';
    const read = (at: string): string | undefined => parse(spring, {}, new Date(at))?.doneAt?.toISOString();

    expect(read('2018-04-02T16:00:00Z')).to.equal('2018-04-02T15:30:00.000Z');
    expect(read('2027-03-04T16:00:00Z')).to.equal(new Date(1_804_021_530_000).toISOString());
  });

  it('order, case and separators change nothing', () => {
    const separators = [' ', ', ', ',', ';', '; ', '|', '\n', '\t', '\r\n', ' , '];
    const fields = fc.shuffledSubarray(['sub:001', 'dlvrd:000', 'submit date:2611211004', 'extra:', 'lac:12']);
    fc.assert(
      fc.property(
        fields,
        fc.constantFrom(...separators),
        fc.constantFrom(':', '='),
        fc.nat(),
        fc.boolean(),
        (others, by, sign, seed, isUpper) => {
          const needed = ['id:4F1C', 'stat:UNDELIV', 'err:004', 'done date:2611211005'];
          const all = [...others, ...needed];
          const turned = [...all.slice(seed % all.length), ...all.slice(0, seed % all.length)];
          const plain = turned.join(by).replaceAll(':', sign);
          const text = `${isUpper ? plain.toUpperCase() : plain}${by}text${sign}id:9 stat:DELIVRD`;

          const receipt = parse(text);

          expect(receipt, text).to.deep.include({ ids: ['4F1C'], meaning: 'failed', error: '004' });
          expect(receipt?.doneAt?.toISOString(), text).to.equal(DONE);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('64 KiB with ten thousand keys cost no more than their length', () => {
    const hostile = [
      'id:'.repeat(21_000),
      'stat:err:'.repeat(7_000),
      `id${' '.repeat(65_000)}:`,
      'submit date'.repeat(6_000),
      '"'.repeat(65_000),
      'done date:2026-11-21'.repeat(3_200),
      Array.from({ length: 10_000 }, (_, i) => `k${i}:v`).join(' '),
    ];
    // With quadratic cost the test would exceed its time limit.
    for (const text of hostile) {
      for (let i = 0; i < 20; i++) expect(shapeOf(parse(text)?.excerpt ?? text).length).to.be.below(400);
    }
  });

  it('the shape for the log has neither text nor numbers', () => {
    expect(shapeOf('id:4f1c sub:001 stat:BOOM err:12 Dear Asha, your code is 1234')).to.equal(
      'id:9a9a sub:9 stat:a err:9 a a, a a a 9',
    );
  });
});
