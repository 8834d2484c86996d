import type { WordMeaning } from '../../../../shared/carriers/settings/receipts.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What every profile knows, behind its own words. */
export const STANDARD: Vocabulary = {
  about: 'SMPP 3.4 Appendix B, and the words on which all vendors here agree',
  sources: ['SMPP 3.4 §5.2.28 and Appendix B', 'SMPP 5.0 §4.7.15'],
  words: {
    // Values of message_state (§5.2.28); 0 and 9 are of SMPP 5.0. Also what Textlocal and others write as `stat:`.
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
 * The standard's words by what they begin with; the first row that fits counts. Carriers cut and misspell them, so the beginnings are
 * short. A word in several pieces (DELIVERED-TO-CARRIER, DELIVERY_FAILED) may say the opposite of its beginning: of those, only what
 * a vocabulary lists is delivered.
 */
export const BEGINNINGS: readonly (readonly [beginning: RegExp, meaning: WordMeaning, source: string])[] = [
  [/^DELIV(?!ERY)[A-Z]*$/, 'delivered', 'Appendix B: DELIVRD'],
  [/^UNDELIV/, 'failed', 'Appendix B: UNDELIV'],
  [/^FAIL/, 'failed', 'fixture 18-failed'],
  [/^DELETED/, 'failed', 'Appendix B'],
  [/^EXPIRED/, 'expired', 'Appendix B'],
  [/^REJECT/, 'rejected', 'Appendix B: REJECTD'],
  // Not seen again by carriers that say so; `delivered` may still replace it (shared/messages/status.ts).
  [/^UNKNOWN/, 'failed', 'Appendix B'],
  [/^SKIPPED/, 'failed', 'SMPP 5.0 §4.7.15'],
  [/^ACCEPT/, 'intermediate', 'Appendix B: ACCEPTD'],
  [/^ENROUTE/, 'intermediate', 'SMPP 3.4 §5.2.28; fixture 19-enroute'],
  [/^SCHEDULED/, 'intermediate', 'SMPP 5.0 §4.7.15'],
  [/^ACKED/, 'intermediate', 'mblox: opentelecoms-org/jsmpp issue 9'],
  [/^BUFF/, 'intermediate', 'mblox: opentelecoms-org/jsmpp issue 9 (BUFFRED)'],
];
