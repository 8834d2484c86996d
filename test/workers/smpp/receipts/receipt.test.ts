import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { ReceiptSettings } from '../../../../shared/carriers/settings/receipts.ts';
import type { Deliver } from '../../../../shared/carriers/smpp/deliver-sm.ts';
import { type ParsedReceipt, parseReceipt } from '../../../../workers/smpp/receipts/receipt.ts';
import { receiptDate } from '../../../../workers/smpp/receipts/receipt-fields.ts';
import { dialect } from '../../../support/dialect.ts';
import { INTERMEDIATE, receiptDeliver } from '../../../support/receipt-deliver.ts';

const FOLDER = new URL('../../../fixtures/receipts/', import.meta.url);

/** A fixture's first line names its source, the rest is the receipt as sent. */
function fixture(name: string): string {
  const file = readFileSync(new URL(`${name}.txt`, FOLDER), 'latin1');
  return file.slice(file.indexOf('\n') + 1);
}

/** When this file's receipts come. */
const AT = new Date('2026-11-21T10:06:00Z');

function parse(text: string, more?: Partial<Deliver>, set?: Partial<ReceiptSettings>): ParsedReceipt | undefined {
  return parseReceipt(receiptDeliver(text, more), { receiptOffsetMinutes: 0 }, dialect(set), AT);
}

type Row = readonly [
  name: string,
  id: string,
  meaning: ParsedReceipt['meaning'],
  error: string | undefined,
  done: string | undefined,
];

const ROWS: readonly Row[] = [
  ['01-appendix-b', '0123456789', 'delivered', undefined, '2026-11-21T10:05:00.000Z'],
  ['02-hex-id', 'b756c4f97aa2e1e67377dffc5e2f7d9b', 'rejected', '1', '2006-10-19T12:11:00.000Z'],
  ['03-no-sub', '1526758174', 'delivered', undefined, '2017-01-24T09:04:00.000Z'],
  ['04-payload-nul', '0000436949', 'delivered', undefined, '2015-04-21T15:08:00.000Z'],
  ['06-long-dates', 'rdwjwxns18krxr9936ey96ymcw', 'failed', undefined, '2018-07-11T04:00:00.000Z'],
  ['07-no-stat-label', 'ce5bc5a9-4f7d-4282-9244-2e1022a9335c', 'delivered', undefined, '2018-09-03T12:08:16.000Z'],
  ['08-extra-keys', '40072910491419819', 'failed', '001', '2015-01-01T12:01:00.000Z'],
  ['10-eighteen-digits', '117062714244798261', 'delivered', undefined, '2017-06-27T16:24:00.000Z'],
  ['11-literal-report', 'D6AE74D1', 'delivered', undefined, '2025-06-09T12:37:07.000Z'],
  ['12-airtel-route', 'DA86D4610CE0C0D23B0165A278EC0C43', 'expired', '001', '2026-06-08T15:56:41.000Z'],
  ['13-minimal', '86', 'delivered', undefined, '2014-10-16T07:30:00.000Z'],
  ['15-clickatell', 'a29f68abbc0d4fc9a1a6d3d2a1ff2c9a', 'delivered', undefined, '2014-10-23T21:52:58.000Z'],
  ['16-unpadded', '123A456B', 'delivered', undefined, '2015-03-20T15:43:00.000Z'],
  ['18-failed', '0A1B2C3D', 'failed', '051', '2024-01-01T12:01:00.000Z'],
  ['19-enroute', '3f2504e0', 'intermediate', undefined, '2024-01-01T12:01:00.000Z'],
  ['21-cm-delivered', '0123456789abcdef0123456789abcdef', 'delivered', undefined, '2024-01-01T12:00:03.000Z'],
  ['22-link-zeros', '77001122', 'delivered', undefined, '2024-01-01T12:01:00.000Z'],
  ['28-decimal-id', '1442146493', 'delivered', undefined, '2015-09-13T12:14:00.000Z'],
  ['30-evil-echo', '0123456789', 'failed', '004', '2026-11-21T10:05:00.000Z'],
];

describe('parseReceipt', () => {
  for (const [name, id, meaning, error, done] of ROWS) {
    it(`reads ${name}`, () => {
      const receipt = parse(fixture(name));

      expect(receipt?.ids).to.deep.equal([id]);
      expect(receipt?.meaning).to.equal(meaning);
      expect(receipt?.error).to.equal(error);
      expect(receipt?.doneAt?.toISOString()).to.equal(done);
    });
  }

  for (const name of ['26-csv', '31-evil-no-echo']) {
    it(`makes nothing of ${name}`, () => {
      expect(parse(fixture(name))).to.equal(undefined);
    });
  }

  it('has a row for every fixture', () => {
    const names = readdirSync(FOLDER).map((file) => file.replace('.txt', ''));

    expect([...ROWS.map(([name]) => name), '26-csv', '31-evil-no-echo']).to.have.members(names);
  });

  it('takes the id and the state of the TLVs first, and keeps the id of the text where it differs', () => {
    const receipt = parse(fixture('04-payload-nul'), { receiptedMessageId: '6aad5', messageState: 5 });

    expect(receipt).to.deep.include({ ids: ['6aad5', '0000436949'], meaning: 'failed' });
  });

  it('a word that the TLV overrules is no error code', () => {
    const tlvs = { receiptedMessageId: 'a', messageState: 5 };

    expect(parse('id:a stat:DELIVRD err:000', tlvs)).to.include({ meaning: 'failed', word: '5' });
    expect(parse('id:a stat:UNDELIV err:000', tlvs)).to.include({ meaning: 'failed', word: 'UNDELIV' });
    expect(parse('id:a stat:ODDWORD err:000', tlvs)).to.include({ meaning: 'failed', word: 'ODDWORD' });
  });

  it('reads a receipt that has TLVs only', () => {
    const receipt = parse('', {
      receiptedMessageId: 'AB12',
      messageState: 8,
      networkErrorCode: Buffer.from([3, 0, 52]),
    });

    expect(receipt).to.deep.include({ ids: ['AB12'], meaning: 'rejected', error: '52' });
  });

  const CODES = [
    'intermediate',
    'intermediate',
    'delivered',
    'expired',
    'failed',
    'failed',
    'intermediate',
    'failed',
    'rejected',
    'failed',
  ];
  for (const [code, state] of CODES.entries()) {
    it(`message_state ${code} is ${state}`, () => {
      expect(parse('', { receiptedMessageId: 'x', messageState: code })?.meaning).to.equal(state);
    });
  }

  const WORDS: readonly (readonly [string, string])[] = [
    ['DELIVRD', 'delivered'],
    ['DELIVERD', 'delivered'],
    ['DELIVERED', 'delivered'],
    ['delivrd', 'delivered'],
    ['UNDELIV', 'failed'],
    ['FAILED', 'failed'],
    ['DELETED', 'failed'],
    ['EXPIRED', 'expired'],
    ['REJECTD', 'rejected'],
    ['REJECTED', 'rejected'],
    ['UNKNOWN', 'failed'],
    ['SKIPPED', 'failed'],
    ['ACCEPTD', 'intermediate'],
    ['ACCEPTED', 'intermediate'],
    ['ENROUTE', 'intermediate'],
    ['SCHEDULED', 'intermediate'],
    ['ACKED', 'intermediate'],
    ['BUFFRED', 'intermediate'],
    ['BUFFERD', 'intermediate'],
  ];
  for (const [word, state] of WORDS) {
    it(`stat:${word} is ${state}`, () => {
      expect(parse(`id:1 stat:${word} err:000`)?.meaning).to.equal(state);
    });
  }

  it('an intermediate notification is never final, whatever it says', () => {
    expect(parse('id:1 stat:DELIVRD', { esmClass: INTERMEDIATE })?.meaning).to.equal('intermediate');
  });

  it('quotes the text only up to the words of the customer', () => {
    expect(parse(fixture('30-evil-echo'))?.excerpt).not.to.match(/666|text/);
  });

  it('an empty value does not swallow the next key', () => {
    expect(parse('id:7 err: stat:DELIVRD')).to.deep.include({ ids: ['7'], meaning: 'delivered' });
  });

  it('survives any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 700 }),
          fc.stringMatching(/^(id:|stat:|text:|err:| |[A-Z]{7}|\d+){0,60}$/),
        ),
        (text) => {
          const receipt = parse(text);
          if (receipt !== undefined) expect(receipt.ids.length).to.be.greaterThan(0);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('receiptDate', () => {
  it('reads a local time with the offset of the carrier', () => {
    expect(receiptDate('260608155641', 330, AT)?.toISOString()).to.equal('2026-06-08T10:26:41.000Z');
  });

  it('reads the absolute form of SMPP with its own offset', () => {
    expect(receiptDate('180711070000012+', 330, AT)?.toISOString()).to.equal('2018-07-11T04:00:00.000Z');
    expect(receiptDate('180711070000022-', 0, AT)?.toISOString()).to.equal('2018-07-11T12:30:00.000Z');
  });

  for (const text of [
    '',
    '0000000000',
    '261321100',
    '2613211004',
    '2611322004',
    '2611212504',
    '2611211060',
    'yesterday',
  ]) {
    it(`makes nothing of "${text}"`, () => {
      expect(receiptDate(text, 0, AT)).to.equal(undefined);
    });
  }
});
