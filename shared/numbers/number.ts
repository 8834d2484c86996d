import type { AccountId } from '../runtime/ids.ts';

/**
 * A long number or short code that handsets write to, and whose it is: of the messages that begin with `keyword`, or, with an
 * empty one, of all that no other keyword of the number fits.
 */
export interface NumberDocument {
  /** `<number>:<keyword>`: each of them belongs to one account. */
  readonly _id: NumberKey;
  /** Digits: a long number with its country code, or a short code. */
  readonly number: string;
  /** As `keywordOf` reads it. */
  readonly keyword: string;
  readonly account: AccountId;
  /** Two letters (ISO 3166-1): where senders in national notation are. */
  readonly country?: string;
  /** A long number without its country code: some carriers write it so. */
  readonly national?: string;
  readonly createdAt: Date;
}

export type NumberKey = `${string}:${string}`;

export function numberKey(number: string, keyword: string): NumberKey {
  return `${number}:${keyword}`;
}

/** Longest keyword; a longer first word is none. */
export const KEYWORD_MAX = 30;

/**
 * The first word of a text as keywords are compared: folded (`ＪＯＩＮ`, `Join` and `join` are one), without punctuation, symbols and
 * invisible characters. Empty when there is none.
 */
export function keywordOf(text: string): string {
  // A keyword is near the beginning; a text may have 64 KiB.
  for (const word of text.slice(0, 500).normalize('NFKC').toLowerCase().split(/\s+/u)) {
    const letters = word.replaceAll(/[\p{P}\p{S}\p{C}]/gu, '');
    if (letters !== '') return letters.length > KEYWORD_MAX ? '' : letters;
  }
  return '';
}

/** Of the entries of one number: the one that a text is for. Undefined when it is for nobody. */
export function entryFor(entries: readonly NumberDocument[], text: string): NumberDocument | undefined {
  const keyword = keywordOf(text);
  const exact = keyword === '' ? undefined : entries.find((entry) => entry.keyword === keyword);
  return exact ?? entries.find((entry) => entry.keyword === '');
}
