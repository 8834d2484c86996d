import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import {
  PROFILES,
  type Profile,
  type ReceiptParts,
  type WordMeaning,
} from '../../../shared/carriers/receipt-profiles.ts';
import { scrubRule } from '../../../shared/carriers/scrub-rules.ts';
import { RECEIPTS } from '../../../shared/carriers/settings/receipts.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { SUBMITS } from '../../../shared/carriers/settings/submits.ts';

export interface Reading {
  readonly meaning: WordMeaning;
  readonly isKnown: boolean;
}

const GENERIC = PROFILES.generic;

/** The words that all profiles know: those of each, without numbers, because each vendor numbers in its own way. */
const COMMON = common();

function common(): Required<Pick<Profile, 'words' | 'reasons'>> {
  const shared = Object.values(PROFILES).filter(({ alone }) => alone !== true);
  const words = shared.flatMap((one) => Object.entries(one.words ?? {}).filter(([word]) => !/^\d+$/.test(word)));
  return { words: Object.fromEntries(words), reasons: Object.assign({}, ...shared.map(({ reasons }) => reasons)) };
}

const STATES: Readonly<Record<string, string>> = {
  failed: 'Not delivered',
  expired: 'Not delivered within its validity',
  rejected: 'Rejected by the network',
};

/** How to read the receipts of one carrier: its profile, with the parts that its own settings override. */
export class ReceiptDialect {
  readonly parts: ReceiptParts;
  /** Whether texts with esm_class 0 may be receipts. */
  readonly plain: boolean;
  readonly #otherWord: WordMeaning;
  readonly #words: ReadonlyMap<string, WordMeaning>;
  readonly #reasons: ReadonlyMap<string, string>;
  readonly #errors: ReadonlyMap<string, string>;
  readonly #hexErrors: boolean;

  constructor(carrier: Pick<CarrierDocument, 'receipts' | 'submits'>) {
    const { receiptProfile, receiptWord, receiptParts, plainReceipts } = withDefaults(RECEIPTS, carrier.receipts);
    const { receiptsFor } = withDefaults(SUBMITS, carrier.submits);
    // The profile is unknown if a later version of the program set it before this older version was started again.
    const profile: Profile = PROFILES[receiptProfile] ?? GENERIC;
    // If only some segments ask for receipts, no receipts come for the others.
    const standard = receiptsFor === 'first' || receiptsFor === 'last' ? receiptsFor : (profile.parts ?? 'perPart');
    this.parts = receiptParts === 'profile' ? standard : receiptParts;
    this.#otherWord = profile.otherWord ?? 'ignore';
    this.plain = plainReceipts;
    this.#words = new Map([
      ...Object.entries({ ...GENERIC.words, ...COMMON.words, ...profile.words }),
      ...receiptWord.map(({ word, meaning }) => [normalWord(word), meaning] as const),
    ]);
    this.#reasons = new Map(Object.entries({ ...COMMON.reasons, ...profile.reasons }));
    this.#errors = new Map(Object.entries(profile.errors ?? {}));
    this.#hexErrors = profile.hexErrors === true;
  }

  /**
   * Reads the word of the text and the TLV message_state. If they contradict each other, the one that says more counts,
   * of equals the TLV (docs/decisions/0012 has the table). A number that is no state of SMPP 3.4 counts only without a
   * word. If no table knows either, the profile decides.
   */
  read(word: string, messageState: number | undefined): Reading {
    const ofText = this.meaningOf(word);
    if (messageState === undefined || (word !== '' && !isStateOf34(messageState))) return this.#reading(ofText);
    const ofTlv = stateOfCode(messageState);
    if (ofTlv === undefined || ofText === undefined) return this.#reading(ofTlv ?? ofText);
    const tlvSays = messageState === UNKNOWN_STATE ? SAYS.hold : SAYS[ofTlv];
    return this.#reading(SAYS[ofText] > tlvSays ? ofText : ofTlv);
  }

  #reading(known: WordMeaning | undefined): Reading {
    return { meaning: known ?? this.#otherWord, isKnown: known !== undefined };
  }

  meaningOf(word: string): WordMeaning | undefined {
    const normal = normalWord(word);
    return this.#words.get(normal) ?? standardMeaning(normal);
  }

  /** Explains the error to people, or, if it is unknown, the word or the state. */
  reasonOf(state: string, error: string | undefined, word: string): string | undefined {
    return this.#errorReason(error) ?? this.#reasons.get(normalWord(word)) ?? STATES[state];
  }

  #errorReason(error: string | undefined): string | undefined {
    if (error === undefined) return undefined;
    return this.#errors.get(this.#decimal(normalWord(error))) ?? scrubRule(error)?.reason;
  }

  #decimal(code: string): string {
    return this.#hexErrors && /^[0-9A-F]{1,8}$/.test(code) ? String(Number.parseInt(code, 16)) : code;
  }
}

/** The meaning of a word of Appendix B, even if the carrier has shortened it. */
export function standardMeaning(word: string): WordMeaning | undefined {
  return BEGINNINGS.find(([beginning]) => beginning.test(word))?.[1];
}

/** SMPP 3.4 §5.2.28. We bind as 3.4: a carrier that writes SCHEDULED (0) or SKIPPED (9) of 5.0 did not mean us. */
function isStateOf34(code: number): boolean {
  return code >= 1 && code <= 8;
}

const UNKNOWN_STATE = 7;

/** A final state says more than one that is not. UNKNOWN is final, but does not say the end: as little as `hold`. */
const SAYS: Readonly<Record<WordMeaning, number>> = {
  ...{ ignore: 0, intermediate: 1, hold: 2 },
  ...{ delivered: 3, failed: 3, expired: 3, rejected: 3 },
};

/** The standard's numbers (SMPP 3.4 §5.2.28; 0 and 9 are from 5.0), whatever words the carrier writes in its texts. */
function stateOfCode(code: number): WordMeaning | undefined {
  return GENERIC.words?.[String(code)];
}

/**
 * The beginnings of the standard's words; the first row that matches counts. They are short because carriers shorten
 * and misspell the words. A word of several pieces (DELIVERED-TO-CARRIER, DELIVERY_FAILED) may mean the opposite of its
 * beginning, so it means `delivered` only if a profile lists it.
 */
const BEGINNINGS: readonly (readonly [beginning: RegExp, meaning: WordMeaning, source: string])[] = [
  [/^DELIV(?!ERY)[A-Z]*$/, 'delivered', 'Appendix B: DELIVRD'],
  [/^UNDELI/, 'failed', 'Appendix B: UNDELIV'],
  [/^FAIL/, 'failed', 'fixture 18-failed'],
  [/^DELETE/, 'failed', 'Appendix B'],
  [/^EXPIRE/, 'expired', 'Appendix B'],
  [/^REJECT/, 'rejected', 'Appendix B: REJECTD'],
  // The carrier does not know the end. A later `delivered` may still replace this (shared/messages/document/status.ts).
  [/^UNKNOW/, 'failed', 'Appendix B'],
  [/^SKIPPE/, 'failed', 'SMPP 5.0 §4.7.15'],
  [/^ACCEPT/, 'intermediate', 'Appendix B: ACCEPTD'],
  [/^ENROUT/, 'intermediate', 'SMPP 3.4 §5.2.28; fixture 19-enroute'],
  [/^SCHEDULE/, 'intermediate', 'SMPP 5.0 §4.7.15'],
  [/^ACKED/, 'intermediate', 'mblox: opentelecoms-org/jsmpp issue 9'],
  [/^BUFF/, 'intermediate', 'mblox: opentelecoms-org/jsmpp issue 9 (BUFFRED)'],
];

/** The form of words and codes in the tables: capitals, no leading zeros, no dots or quotes around. */
function normalWord(text: string): string {
  return text
    .slice(0, MAX_WORD)
    .toUpperCase()
    .replace(/^[^A-Z0-9]+/, '')
    .replace(/[^A-Z0-9]+$/, '')
    .replace(/^0+(?=[0-9A-F]+$)/, '');
}

const MAX_WORD = 40;
