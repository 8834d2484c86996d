import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * A long number or short code that handsets write to, and the account that gets the messages. An entry with a `keyword` gets the
 * messages that begin with it. An entry with an empty keyword gets all messages that fit no other entry of the number.
 */
export interface NumberDocument {
  /** `<number>:<keyword>`. Each such pair belongs to one account. */
  readonly _id: NumberKey;
  /** Digits only: a long number with its country code, or a short code. */
  readonly number: string;
  /** Written as `keywordOf` returns it. */
  readonly keyword: string;
  readonly account: AccountId;
  /** The country of senders in national notation, in two letters (ISO 3166-1). */
  readonly country?: string;
  /** A long number without its country code, because some carriers write it so. */
  readonly national?: string;
  readonly createdAt: Date;
}

export type NumberKey = `${string}:${string}`;

export function numberKey(number: string, keyword: string): NumberKey {
  return `${number}:${keyword}`;
}

/** A keyword may be of any script. */
export function isNumberKey(text: string): text is NumberKey {
  return /^\d{3,15}:\S{0,60}$/u.test(text);
}

/** The longest keyword. A text whose first word is longer has no keyword. */
export const KEYWORD_MAX = 30;

/**
 * The first word of a text, in the form in which keywords are compared. Letters are folded (`ＪＯＩＮ`, `Join` and `join` are equal,
 * and so are the letters i of Turkish: `BİLGİ`, `bilgi`, `BILGI`). Punctuation, symbols and invisible characters are removed. Empty
 * when nothing is left.
 */
export function keywordOf(text: string): string {
  // Only the beginning is searched, because a text may have 64 KiB.
  for (const word of text.slice(0, 500).normalize('NFKC').toLowerCase().split(/\s+/u)) {
    const letters = word.replaceAll(/[\p{P}\p{S}\p{C}\p{DI}]/gu, '').replaceAll(/i\u0307|ı/gu, 'i');
    if (letters !== '') return letters.length > KEYWORD_MAX ? '' : letters;
  }
  return '';
}

/** The entry that gets a text, out of the entries of one number. Undefined when none does. */
export function entryFor(entries: readonly NumberDocument[], text: string): NumberDocument | undefined {
  const keyword = keywordOf(text);
  const exact = keyword === '' ? undefined : entries.find((entry) => entry.keyword === keyword);
  return exact ?? entries.find((entry) => entry.keyword === '');
}
