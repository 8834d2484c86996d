import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { scrubRule } from '../../../shared/carriers/scrub-rules.ts';
import {
  GENERIC_PROFILE,
  RECEIPTS,
  type ReceiptParts,
  type WordMeaning,
} from '../../../shared/carriers/settings/receipts.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { SUBMITS } from '../../../shared/carriers/settings/submits.ts';
import { COMMON, PROFILES } from './profiles.ts';
import { BEGINNINGS, STANDARD } from './vocabularies/standard.ts';
import { normalWord } from './vocabularies/vocabulary.ts';

/** The meaning of a carrier's word, and whether a table knew the word. */
export interface Reading {
  readonly meaning: WordMeaning;
  readonly isKnown: boolean;
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
    // The profile is unknown if a later version of the program set it, before this older version was started again.
    const { vocabulary, ...profile } = PROFILES[receiptProfile] ?? PROFILES[GENERIC_PROFILE];
    // If only some segments ask for receipts, no receipts come for the others.
    const standard = receiptsFor === 'first' || receiptsFor === 'last' ? receiptsFor : profile.parts;
    this.parts = receiptParts === 'profile' ? standard : receiptParts;
    this.#otherWord = profile.otherWord;
    this.plain = plainReceipts;
    this.#words = new Map([
      ...Object.entries({ ...STANDARD.words, ...COMMON.words, ...vocabulary.words }),
      ...receiptWord.map(({ word, meaning }) => [normalWord(word), meaning] as const),
    ]);
    this.#reasons = new Map(Object.entries({ ...COMMON.reasons, ...vocabulary.reasons }));
    this.#errors = new Map(Object.entries(vocabulary.errors ?? {}));
    this.#hexErrors = vocabulary.hexErrors === true;
  }

  /**
   * Reads the word of the text and the TLV message_state. If they contradict each other, the one that says more counts, of equals
   * the TLV (docs/decisions/0012 has the table). A number that is no state of SMPP 3.4 says nothing beside a word. If nobody knows
   * what is there, the profile decides.
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

  /** The meaning of a word. Undefined when no table has it. */
  meaningOf(word: string): WordMeaning | undefined {
    const normal = normalWord(word);
    return this.#words.get(normal) ?? standardMeaning(normal);
  }

  /** Explains the error to people. If the error is unknown, explains the word or the state. */
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

/** The states of SMPP 3.4 §5.2.28. We bind as 3.4, so a carrier that writes SCHEDULED (0) or SKIPPED (9) of 5.0 did not mean us. */
function isStateOf34(code: number): boolean {
  return code >= 1 && code <= 8;
}

const UNKNOWN_STATE = 7;

/**
 * How much a meaning says. A final state beats one that is not final. UNKNOWN is final, but whoever writes it does not know the end, so
 * it counts as little as `hold`.
 */
const SAYS: Readonly<Record<WordMeaning, number>> = {
  ...{ ignore: 0, intermediate: 1, hold: 2 },
  ...{ delivered: 3, failed: 3, expired: 3, rejected: 3 },
};

/**
 * The meaning of the standard's numbers (SMPP 3.4 §5.2.28; 0 and 9 are from 5.0). It does not depend on the words that the carrier writes in its texts.
 */
function stateOfCode(code: number): WordMeaning | undefined {
  return STANDARD.words?.[String(code)];
}
