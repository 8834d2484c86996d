import type { WordMeaning } from '../../../../shared/carriers/settings/receipts.ts';

/** What one family of carriers writes in its receipts, in addition to the standard's words (standard.ts). */
export interface Vocabulary {
  /** Described in words, for `ops carrier receipt-profiles`. */
  readonly about: string;
  /** Where this is published: pages, or receipts that we have seen. */
  readonly sources: readonly string[];
  /** The words, in capitals. A number as `stat:` is a word too, without leading zeros. */
  readonly words?: Readonly<Record<string, WordMeaning>>;
  /** Explains some of the words to people, for receipts whose `err:` says nothing. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** True: other carriers use these words with another meaning. So they are not common words (../profiles.ts). */
  readonly alone?: true;
  /** The codes of `err:`, in capitals and without leading zeros, with their meaning for people. */
  readonly errors?: Readonly<Record<string, string>>;
  /** True: the table has the codes in decimal, but the carrier writes them in hexadecimal. */
  readonly hexErrors?: true;
}

/** Writes a word or code as the tables have it: in capitals, without leading zeros, and without dots and quotes around it. */
export function normalWord(text: string): string {
  return text
    .slice(0, MAX_WORD)
    .toUpperCase()
    .replace(/^[^A-Z0-9]+/, '')
    .replace(/[^A-Z0-9]+$/, '')
    .replace(/^0+(?=[0-9A-F]+$)/, '');
}

const MAX_WORD = 40;
