import type { ReceiptProfile } from '../../../../shared/carriers/receipt-profiles.ts';
import { PROFILES } from '../../../../shared/carriers/receipt-profiles.ts';
import { ReceiptDialect, standardMeaning } from '../../../../workers/smpp/dialect/receipt-dialect.ts';
import { dialect } from '../../../support/dialect.ts';

const NAMES = Object.keys(PROFILES) as readonly ReceiptProfile[]; // the table's own keys
const VOCABULARIES = NAMES.map((name) => ({ name, ...PROFILES[name] }));

describe('receipt profiles', () => {
  it('each has a source, and its words and codes in their normal form', () => {
    for (const { name, sources, words = {}, errors = {}, hexErrors } of VOCABULARIES) {
      const own = dialect({ receiptProfile: name });
      expect(sources, name).not.to.deep.equal([]);
      for (const [word, meaning] of Object.entries(words))
        expect(own.read(word, undefined).meaning, word).to.equal(meaning);
      for (const [code, reason] of Object.entries(errors)) {
        const written = hexErrors === true ? Number(code).toString(16) : code;
        expect(own.reasonOf('failed', written, ''), code).to.equal(reason);
      }
    }
  });

  it('a word that all profiles know means the same at every vendor, as far as it is no number', () => {
    const meanings = new Map<string, Set<string>>();
    for (const { words = {}, alone } of VOCABULARIES) {
      if (alone === true) continue;
      for (const [word, meaning] of Object.entries(words)) {
        if (/^\d+$/.test(word)) continue;
        meanings.set(word, (meanings.get(word) ?? new Set()).add(meaning));
      }
    }

    expect([...meanings].filter(([, all]) => all.size > 1)).to.deep.equal([]);
  });

  it('generic knows the words of all, numbers and words that mean something else elsewhere aside', () => {
    for (const { words = {}, alone } of VOCABULARIES) {
      for (const [word, meaning] of alone === true ? [] : Object.entries(words)) {
        if (!/^\d+$/.test(word))
          expect(dialect().read(word, undefined), word).to.deep.equal({ meaning, isKnown: true });
      }
    }
    expect(dialect().read('delivrd.', undefined)).to.deep.equal({ meaning: 'delivered', isKnown: true });
    expect(dialect().read('02', undefined)).to.deep.equal({ meaning: 'delivered', isKnown: true });
  });

  const WRITTEN: readonly (readonly [string, string])[] = [
    ['2', 'delivered'],
    ['02', 'delivered'],
    ['delivrd.', 'delivered'],
    ['DELIVERED_TO_OPERATOR', 'intermediate'],
    ['ABSENT-SUB', 'failed'],
    ['DND', 'rejected'],
    ['NULL', 'hold'],
  ];
  for (const [word, meaning] of WRITTEN) {
    it(`generic: ${word} is ${meaning}, however it is written`, () => {
      expect(dialect().read(word, undefined)).to.deep.equal({ meaning, isKnown: true });
    });
  }

  for (const word of ['BOOM', 'DELIVERY_FAILED', 'DELIVERYFAILED', 'DELIVERED-TO-NOBODY', '', '42']) {
    it(`generic: nobody knows "${word}", and it changes nothing`, () => {
      expect(dialect().read(word, undefined)).to.deep.equal({ meaning: 'ignore', isKnown: false });
    });
  }

  it('numbers are each vendor’s own', () => {
    const zero = (receiptProfile: ReceiptProfile): string => dialect({ receiptProfile }).read('0', undefined).meaning;

    expect([zero('generic'), zero('yo'), zero('syniverse')]).to.deep.equal(['intermediate', 'delivered', 'delivered']);
    expect(dialect({ receiptProfile: 'syniverse' }).read('008', undefined).meaning).to.equal('expired');
    // The TLV has the standard's numbers, whatever those in the text mean.
    expect(dialect({ receiptProfile: 'yo' }).read('', 0).meaning).to.equal('intermediate');
  });

  it('what a carrier sets itself comes first', () => {
    const own = dialect({ receiptProfile: 'kaleyra', receiptWord: [{ word: 'spam', meaning: 'delivered' }] });

    expect(own.read('SPAM', undefined).meaning).to.equal('delivered');
    expect(own.read('BOOM', undefined)).to.deep.equal({ meaning: 'failed', isKnown: false });
    expect(dialect({ receiptProfile: 'telesign' }).parts).to.equal('first');
    expect(dialect({ receiptProfile: 'telesign', receiptParts: 'last' }).parts).to.equal('last');
  });

  it('where only one segment asks for a receipt, it decides about all, unless somebody says otherwise', () => {
    const submits = { receiptsFor: 'last' } as const;

    expect(new ReceiptDialect({ submits }).parts).to.equal('last');
    expect(new ReceiptDialect({ submits, receipts: { receiptParts: 'any' } }).parts).to.equal('any');
    expect(new ReceiptDialect({ submits: { receiptsFor: 'none' } }).parts).to.equal('perPart');
  });

  it('bandwidth: ACCEPTD is the last word; elsewhere it is not', () => {
    expect(dialect({ receiptProfile: 'bandwidth' }).read('ACCEPTD', undefined).meaning).to.equal('delivered');
    expect(standardMeaning('ACCEPTD')).to.equal('intermediate');
    expect(dialect({ receiptProfile: 'syniverse' }).read('ACCEPTD', undefined).meaning).to.equal('intermediate');
  });

  it('where the code says nothing, the word does', () => {
    expect(dialect().reasonOf('rejected', '999', 'DNDNUMB')).to.equal('The recipient takes no such messages (DND)');
    expect(dialect({ receiptProfile: 'kaleyra' }).reasonOf('failed', '005', 'MOB-OFF')).to.match(/barred/);
    expect(dialect().reasonOf('rejected', undefined, 'REJECTD')).to.equal('Rejected by the network');
    for (const { name, words = {}, reasons = {} } of VOCABULARIES) {
      expect(Object.keys(words), name).to.include.members(Object.keys(reasons));
    }
  });

  const REASONS: readonly (readonly [ReceiptProfile, string, string])[] = [
    ['generic', '001', 'Not delivered'],
    ['generic', '633', 'DLT: the text does not match the template'],
    ['vonage', '001', 'Not delivered, without a reason'],
    ['kaleyra', '633', 'DLT: the text does not match the template'],
    ['tyntec', '1b', 'The phone cannot be reached'],
    ['telesign', '4a6', 'Blocked by the carrier'],
  ];
  for (const [receiptProfile, code, reason] of REASONS) {
    it(`${receiptProfile}: err ${code}`, () => {
      expect(dialect({ receiptProfile }).reasonOf('failed', code, 'UNDELIV')).to.equal(reason);
    });
  }
});
