/** What the words and codes of receipts mean for a message. `intermediate`: it is still under way. */
export type ReceiptState = 'delivered' | 'failed' | 'expired' | 'rejected' | 'intermediate';

/**
 * Words of `stat:` by what they begin with; the first row that fits counts. Carriers cut and misspell them, so the beginnings are short.
 * Sources: SMPP 3.4 Appendix B (its table of message states), and receipts that carriers sent (test/fixtures/receipts, each with
 * its origin). To add a carrier's word, add a row with its source and a receipt to the fixtures.
 */
const WORDS: readonly (readonly [beginning: string, state: ReceiptState, source: string])[] = [
  ['DELIV', 'delivered', 'Appendix B: DELIVRD'],
  ['UNDELIV', 'failed', 'Appendix B: UNDELIV'],
  ['FAIL', 'failed', 'fixture 18-failed'],
  ['DELETED', 'failed', 'Appendix B'],
  ['EXPIRED', 'expired', 'Appendix B'],
  ['REJECT', 'rejected', 'Appendix B: REJECTD'],
  // Not seen again by carriers that say so; `delivered` may still replace it (shared/messages/status.ts).
  ['UNKNOWN', 'failed', 'Appendix B'],
  ['SKIPPED', 'failed', 'SMPP 5.0 §4.7.15'],
  ['ACCEPT', 'intermediate', 'Appendix B: ACCEPTD'],
  ['ENROUTE', 'intermediate', 'SMPP 3.4 §5.2.28; fixture 19-enroute'],
  ['SCHEDULED', 'intermediate', 'SMPP 5.0 §4.7.15'],
  ['ACKED', 'intermediate', 'seen at carriers'],
  ['BUFF', 'intermediate', 'seen at carriers: BUFFRED, BUFFERD'],
];

/** Values of the TLV message_state (SMPP 3.4 §5.2.28; 0 and 9 are of SMPP 5.0 §4.7.15). */
const CODES: ReadonlyMap<number, ReceiptState> = new Map([
  [0, 'intermediate'], // SCHEDULED
  [1, 'intermediate'], // ENROUTE
  [2, 'delivered'], // DELIVERED
  [3, 'expired'], // EXPIRED
  [4, 'failed'], // DELETED
  [5, 'failed'], // UNDELIVERABLE
  [6, 'intermediate'], // ACCEPTED
  [7, 'failed'], // UNKNOWN
  [8, 'rejected'], // REJECTED
  [9, 'failed'], // SKIPPED
]);

export function stateOfWord(word: string): ReceiptState | undefined {
  const upper = word.toUpperCase();
  return WORDS.find(([beginning]) => upper.startsWith(beginning))?.[1];
}

export function stateOfCode(code: number): ReceiptState | undefined {
  return CODES.get(code);
}
