import fc from 'fast-check';
import type { CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import { encodeSubmit, type SubmitFields } from '../../../../shared/carriers/smpp/submit-sm.ts';
import { type MessageDocument, queuedMessage } from '../../../../shared/messages/document/message.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import {
  carrierForm,
  countSubmits,
  type Encoded,
  encodeMessage,
  References,
} from '../../../../workers/smpp/submit/encode.ts';
import { makeDraft } from '../../../support/make.ts';

const NOW = new Date('2026-11-21T10:00:00Z');

function message(overrides: Partial<MessageDocument>): MessageDocument {
  const draft = makeDraft({ validUntil: new Date(NOW.getTime() + 3_600_000) });
  return { ...queuedMessage(newId('acc'), newId('grp'), draft), ...overrides };
}

function encoded(overrides: Partial<MessageDocument>, reference = 7): Encoded {
  return encodeMessage(message(overrides), { form: carrierForm({}), now: NOW, reference: () => reference });
}

function encode(overrides: Partial<MessageDocument>, reference = 7): readonly SubmitFields[] {
  const made = encoded(overrides, reference);
  if (made.kind === 'unfit') throw new Error(made.code);
  return made.segments;
}

describe('encodeMessage', () => {
  it('sets everything explicitly and leaves nothing to be guessed', () => {
    const [submit] = encode({ text: 'hi €', to: '919876543210', sender: 'HARKRA' });

    expect(submit).to.deep.equal({
      source_addr_ton: 5,
      source_addr_npi: 0,
      source_addr: 'HARKRA',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '919876543210',
      esm_class: 0,
      validity_period: '000000010000000R',
      registered_delivery: 1,
      data_coding: 0,
      short_message: Buffer.from('6869201b65', 'hex'),
    });
  });

  it('a text outside the GSM alphabet goes as UTF-16 with data_coding 8', () => {
    const [submit] = encode({ text: 'नमस्ते' });

    expect(submit?.data_coding).to.equal(8);
    expect(submit?.short_message.toString('hex')).to.equal('0928092e0938094d09240947');
  });

  it('a long text has a header with reference, total and number on every segment', () => {
    const submits = encode({ text: 'a'.repeat(400) }, 200);

    expect(submits.map((submit) => submit.esm_class)).to.deep.equal([0x40, 0x40, 0x40]);
    expect(submits.map((submit) => submit.short_message.subarray(0, 6).toString('hex'))).to.deep.equal([
      '050003c80301',
      '050003c80302',
      '050003c80303',
    ]);
    expect(submits.map((submit) => submit.short_message.length)).to.deep.equal([159, 159, 100]);
  });

  const SOURCES: readonly (readonly [string, number, number])[] = [
    ['HARKRA', 5, 0],
    ['A1', 5, 0],
    ['My Shop-24', 5, 0],
    ['56161', 3, 0],
    ['12345678', 3, 0],
    ['123456789', 1, 1],
    ['919876543210', 1, 1],
  ];
  for (const [sender, ton, npi] of SOURCES) {
    it(`sender ${sender} has type ${ton} and plan ${npi}`, () => {
      const [submit] = encode({ sender });

      expect([submit?.source_addr_ton, submit?.source_addr_npi, submit?.source_addr]).to.deep.equal([ton, npi, sender]);
    });
  }

  for (const sender of ['', 'ABC\u0000\u0001', 'ÄRGER', 'TWELVELETTRS', 'A\tB', '₹']) {
    it(`refuses the sender ${JSON.stringify(sender)}, which would shift or change other fields`, () => {
      expect(encoded({ sender })).to.include({ kind: 'unfit', code: 'sender_unfit' });
    });
  }

  for (const to of ['', '+919876543210', '91 98', '91\u0000']) {
    it(`refuses the recipient ${JSON.stringify(to)}`, () => {
      expect(encoded({ to })).to.include({ kind: 'unfit', code: 'recipient_unfit' });
    });
  }

  it('refuses a text of more than 255 segments', () => {
    expect(encoded({ text: 'a'.repeat(153 * 256) })).to.include({ code: 'too_long' });
  });

  const VALIDITIES: readonly (readonly [number, string])[] = [
    [-1, '000000000100000R'],
    [59_000, '000000000100000R'],
    [90_000, '000000000100000R'],
    [48 * 3_600_000, '000002000000000R'],
    [7 * 86_400_000 + 3_661_000, '000007010100000R'],
    [400 * 86_400_000, '000030000000000R'],
  ];
  for (const [leftMs, validity] of VALIDITIES) {
    it(`a validity of ${leftMs} ms is ${validity}`, () => {
      const [submit] = encode({ validUntil: new Date(NOW.getTime() + leftMs) });

      expect(submit?.validity_period).to.equal(validity);
    });
  }

  it('whatever it gives, the codec takes: no text, sender or validity throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.string({ maxLength: 14 }),
        fc.date({ min: new Date('2020-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }),
        (text, sender, validUntil) => {
          const made = encoded({ text, sender, validUntil });
          if (made.kind === 'unfit') return;
          for (const fields of made.segments) {
            const frame = encodeSubmit(fields);
            expect(frame.readUInt32BE(0)).to.equal(frame.length);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('countSubmits', () => {
  const cases: readonly (readonly [string, NonNullable<CarrierDocument['texts']>, Partial<MessageDocument>, number])[] =
    [
      ['as one submit_sm', { longText: 'payload' }, { text: 'a'.repeat(400) }, 1],
      ['with the longer header', { longText: 'udh16' }, { text: 'a'.repeat(459) }, 4],
      ['in UCS-2, which the carrier needs for it', { alphabet: 'ascii' }, { text: `é${'a'.repeat(100)}` }, 2],
      ['with substitutes', { substitute: true }, { text: `’${'a'.repeat(100)}` }, 1],
      ['without, since it matched a template', { substitute: true }, { text: `’${'a'.repeat(100)}`, template: '1' }, 2],
    ];
  for (const [what, texts, draft, count] of cases) {
    it(`a text that leaves ${what}`, () => {
      const form = carrierForm({ texts });
      const made = encodeMessage(message(draft), { form, now: NOW, reference: () => 7 });

      expect(countSubmits(message(draft), form.texts)).to.equal(count);
      expect(made.kind === 'encoded' && made.segments.length).to.equal(count);
    });
  }
});

describe('References', () => {
  it('counts for each destination by itself, from 0 to 255 and round', () => {
    const references = new References(254, 256);

    const a = Array.from({ length: 3 }, () => references.next('a'));
    const b = references.next('b');

    expect(a).to.deep.equal([254, 255, 0]);
    expect(b).to.equal(255);
  });

  it('the same destination gets each number once in 256 messages', () => {
    const references = new References(17, 256);

    expect(new Set(Array.from({ length: 256 }, () => references.next('x'))).size).to.equal(256);
  });
});
