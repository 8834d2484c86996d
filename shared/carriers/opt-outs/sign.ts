import type { Words } from './word-lists.ts';

/**
 * What a text says about the customer's wish. `near`: it has such a word, but also others (`STOP PLEASE`). Then nothing changes,
 * and the event tells the account.
 */
export interface OptOutSign {
  readonly kind: 'out' | 'in' | 'help' | 'near';
  /** The word in its folded form. */
  readonly word: string;
}

/**
 * The most words of a text that can be `near`. Anybody who asks for no more messages in a longer text needs a person to read it.
 */
const NEAR_WORDS_MAX = 10;
const TEXT_MAX = 200;

/**
 * Finds the customer's wish in a text. The whole text must be one of the words. A text with other words is only `near`. Acting on
 * it would cut off people who write `the end`. But the FCC counts any reasonable wording (47 CFR 64.1200(a)(10)), so the account
 * is told. Pure.
 */
export function optOutOf(text: string, words: Words): OptOutSign | undefined {
  if (text.length > TEXT_MAX) return undefined;
  const folded = foldText(text);
  if (folded === '') return undefined;
  for (const kind of ['out', 'in', 'help'] as const) {
    if (words[kind].includes(folded)) return { kind, word: folded };
  }
  const parts = folded.split(' ');
  if (parts.length > NEAR_WORDS_MAX) return undefined;
  const near = words.out.find((word) => ` ${folded} `.includes(` ${word} `));
  return near === undefined ? undefined : { kind: 'near', word: near };
}

/**
 * The form in which texts and words are compared: small letters, Latin letters without accents, no punctuation, symbols or
 * invisible characters, and one blank between words. `«ＡＲＲÊＴ !»` becomes `arret`. Scripts that write vowels as marks (Devanagari)
 * keep their marks. Turkish writes ÇIK and çık, so `ı` and `i` are one letter. \p{DI} has what phones add to emoji (U+FE0F).
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/gu, '')
    .replaceAll('ı', 'i')
    .normalize('NFC')
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[\p{P}\p{S}\p{C}\p{DI}]/gu, '')
    .replaceAll(/ +/g, ' ')
    .trim();
}
