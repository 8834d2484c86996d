import type { ReceiptProfile, WordMeaning } from '../../../../shared/carriers/receipt-profiles.ts';
import { PROFILES } from '../../../../shared/carriers/receipt-profiles.ts';
import { parseReceipt } from '../../../../workers/smpp/receipts/receipt.ts';
import { dialect } from '../../../support/dialect.ts';
import { receiptDeliver } from '../../../support/receipt-deliver.ts';

const profiles = Object.keys(PROFILES) as readonly ReceiptProfile[]; // the table's own keys
const STANDARD_WORDS = [
  ...['DELIVRD', 'DELIVERED', 'UNDELIV', 'FAILED', 'DELETED', 'EXPIRED', 'REJECTD', 'UNKNOWN', 'SKIPPED'],
  ...['ACCEPTD', 'ENROUTE', 'SCHEDULED', 'ACKED', 'BUFFRED'],
];
const WORDS = [
  ...new Set([...STANDARD_WORDS, ...Object.values(PROFILES).flatMap(({ words = {} }) => Object.keys(words))]),
];
/** Not states of SMPP 3.4 §5.2.28. */
const SILENT = [0, 9, 10, 48, 50, 99, 255];

describe('message_state and the word of the text', () => {
  for (const profile of profiles) {
    it(`${profile}: beside a number that SMPP 3.4 does not have, every word means what it means alone`, () => {
      const read = dialect({ receiptProfile: profile });
      for (const word of [...WORDS, 'BOOM']) {
        for (const state of SILENT) {
          expect(read.read(word, state), `${state} ${word}`).to.deep.equal(read.read(word, undefined));
        }
      }
    });
  }

  it('without a word, SMPP 5.0 says what 0 and 9 are, and nobody knows the others', () => {
    expect([0, 9, 10].map((state) => dialect().read('', state))).to.deep.equal([
      { meaning: 'intermediate', isKnown: true },
      { meaning: 'failed', isKnown: true },
      { meaning: 'ignore', isKnown: false },
    ]);
  });

  type Row = readonly [state: number, word: string, meaning: WordMeaning];
  const TABLE: readonly Row[] = [
    // A final state beats one that is not final.
    ...(['DELIVRD', 'UNDELIV', 'EXPIRED', 'REJECTD', 'DELETED'] as const).flatMap((word): Row[] =>
      [1, 6].map((state) => [state, word, dialect().read(word, undefined).meaning]),
    ),
    ...(['ENROUTE', 'ACCEPTD', 'BUFFRED', '1'] as const).flatMap((word): Row[] => [
      [2, word, 'delivered'],
      [3, word, 'expired'],
      [4, word, 'failed'],
      [5, word, 'failed'],
      [7, word, 'failed'],
      [8, word, 'rejected'],
    ]),
    [1, 'UNKNOWN', 'failed'],
    // Of two final states, the TLV.
    [2, 'UNDELIV', 'delivered'],
    [5, 'DELIVRD', 'failed'],
    [3, 'UNDELIV', 'expired'],
    [8, 'EXPIRED', 'rejected'],
    [2, 'UNKNOWN', 'delivered'],
    [2, 'DNDNUMB', 'delivered'],
    // UNKNOWN says least of all final states.
    [7, 'DELIVRD', 'delivered'],
    [7, 'REJECTD', 'rejected'],
    [7, 'EXPIRED', 'expired'],
    [7, 'NULL', 'failed'],
    // The end is unknown: more than being on its way, less than an end.
    [1, 'NULL', 'hold'],
    [2, 'NULL', 'delivered'],
    // Neither is final.
    [1, 'ACCEPTD', 'intermediate'],
    // The word is in no table.
    [2, 'BOOM', 'delivered'],
    [1, 'BOOM', 'intermediate'],
  ];
  for (const [state, word, meaning] of TABLE) {
    it(`${state} beside ${word}: ${meaning}`, () => {
      expect(dialect().read(word, state)).to.deep.equal({ meaning, isKnown: true });
    });
  }

  it('a profile’s own meaning of a word takes part', () => {
    expect(dialect({ receiptProfile: 'bandwidth' }).read('ACCEPTD', 6).meaning).to.equal('delivered');
    const own = dialect({ receiptWord: [{ word: 'UNDELIV', meaning: 'ignore' }] });
    expect(own.read('UNDELIV', 2).meaning).to.equal('delivered');
    expect(own.read('UNDELIV', 0).meaning).to.equal('ignore');
  });

  it('what was overruled is no error code, and the code of `err:` counts', () => {
    const parse = (text: string, messageState: number) =>
      parseReceipt(receiptDeliver(text, { messageState }), { receiptOffsetMinutes: 0 }, dialect(), new Date());

    expect(parse('id:a stat:UNDELIV err:000', 0)).to.include({ meaning: 'failed', word: 'UNDELIV' });
    expect(parse('id:a stat:UNDELIV err:051', 6)).to.include({ meaning: 'failed', error: '051' });
    expect(parse('id:a stat:DELIVRD err:051', 5)).to.include({ meaning: 'failed', word: '5', error: '051' });
    expect(parse('id:a DELIVRD err:000', 0)).to.include({ meaning: 'delivered', word: 'DELIVRD' });
    expect(parse('id:a err:051', 0)).to.include({ meaning: 'intermediate', error: '051' });
  });
});
