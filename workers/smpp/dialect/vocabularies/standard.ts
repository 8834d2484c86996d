import type { WordMeaning } from '../../../../shared/carriers/settings/receipts.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The words that every profile knows. A profile's own words are looked up first. */
export const STANDARD: Vocabulary = {
  about: 'SMPP 3.4 Appendix B, and the words on which all vendors here agree',
  sources: ['SMPP 3.4 §5.2.28 and Appendix B', 'SMPP 5.0 §4.7.15'],
  words: {
    // Values of message_state (§5.2.28). 0 and 9 are from SMPP 5.0. Textlocal and others write these numbers as `stat:`.
    '0': 'intermediate', // SCHEDULED
    '1': 'intermediate', // ENROUTE
    '2': 'delivered', // DELIVERED
    '3': 'expired', // EXPIRED
    '4': 'failed', // DELETED
    '5': 'failed', // UNDELIVERABLE
    '6': 'intermediate', // ACCEPTED
    '7': 'failed', // UNKNOWN
    '8': 'rejected', // REJECTED
    '9': 'failed', // SKIPPED
  },
};

/**
 * The beginnings of the standard's words; the first row that matches counts. They are short because carriers shorten and misspell
 * the words. A word of several pieces (DELIVERED-TO-CARRIER, DELIVERY_FAILED) may mean the opposite of its beginning. Such a word
 * means `delivered` only if a vocabulary lists it.
 */
export const BEGINNINGS: readonly (readonly [beginning: RegExp, meaning: WordMeaning, source: string])[] = [
  [/^DELIV(?!ERY)[A-Z]*$/, 'delivered', 'Appendix B: DELIVRD'],
  [/^UNDELI/, 'failed', 'Appendix B: UNDELIV'],
  [/^FAIL/, 'failed', 'fixture 18-failed'],
  [/^DELETE/, 'failed', 'Appendix B'],
  [/^EXPIRE/, 'expired', 'Appendix B'],
  [/^REJECT/, 'rejected', 'Appendix B: REJECTD'],
  // The carrier does not know what became of the message. A later `delivered` may still replace this (shared/messages/document/status.ts).
  [/^UNKNOW/, 'failed', 'Appendix B'],
  [/^SKIPPE/, 'failed', 'SMPP 5.0 §4.7.15'],
  [/^ACCEPT/, 'intermediate', 'Appendix B: ACCEPTD'],
  [/^ENROUT/, 'intermediate', 'SMPP 3.4 §5.2.28; fixture 19-enroute'],
  [/^SCHEDULE/, 'intermediate', 'SMPP 5.0 §4.7.15'],
  [/^ACKED/, 'intermediate', 'mblox: opentelecoms-org/jsmpp issue 9'],
  [/^BUFF/, 'intermediate', 'mblox: opentelecoms-org/jsmpp issue 9 (BUFFRED)'],
];
