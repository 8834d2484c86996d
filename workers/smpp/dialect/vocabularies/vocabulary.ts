import type { WordMeaning } from '../../../../shared/carriers/settings/receipts.ts';

/** What one family of carriers writes in its receipts, beside the standard's words (standard.ts). */
export interface Vocabulary {
  /** For `ops carrier receipt-profiles`. */
  readonly about: string;
  /** Where it is published: pages, or receipts that were seen. */
  readonly sources: readonly string[];
  /** In capitals. A number as `stat:` is a word like any other, without leading zeros. */
  readonly words?: Readonly<Record<string, WordMeaning>>;
  /** What some of the words mean for people, where `err:` says nothing. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** Its words say something else elsewhere: they are not common ones (../profiles.ts). */
  readonly alone?: true;
  /** Codes of `err:`, in capitals and without leading zeros, with their meaning for people. */
  readonly errors?: Readonly<Record<string, string>>;
  /** The table's codes are decimal, the carrier writes them in hexadecimal. */
  readonly hexErrors?: true;
}

/** A word or a code as the tables have it: capitals, without leading zeros and without the dots and quotes around it. */
export function normalWord(text: string): string {
  return text
    .slice(0, MAX_WORD)
    .toUpperCase()
    .replace(/^[^A-Z0-9]+/, '')
    .replace(/[^A-Z0-9]+$/, '')
    .replace(/^0+(?=[0-9A-F]+$)/, '');
}

const MAX_WORD = 40;
