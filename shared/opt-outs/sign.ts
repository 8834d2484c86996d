import type { Words } from './word-lists.ts';

/**
 * What a text says of the customer's wish. `near`: it has such a word among others (`STOP PLEASE`); nothing follows from it, and
 * the event says so.
 */
export interface OptOutSign {
  readonly kind: 'out' | 'in' | 'help' | 'near';
  /** Folded. */
  readonly word: string;
}

/** The longest words have two parts; nobody asks to be left alone in a longer text than this without being read by people. */
const NEAR_WORDS_MAX = 10;
const TEXT_MAX = 200;

/**
 * The whole text must be one of the words. Near misses are `near`: to act on them would cut off people who write `the end`, but the
 * FCC counts any reasonable wording (47 CFR 64.1200(a)(10)), so the account is told. Pure.
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
 * How texts and words are compared: small letters without accents of Latin letters, punctuation, symbols and invisible characters;
 * one blank between words. `«ＡＲＲÊＴ !»` is `arret`. Scripts that write vowels as marks (Devanagari) keep them.
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[\p{P}\p{S}\p{C}]/gu, '')
    .replaceAll(/ +/g, ' ')
    .trim();
}
