import { spend } from '../bson/effort.ts';
import { notSupported, StoreError } from '../bson/errors.ts';

/** mongod's limit since 7.0. */
const PATTERN_MAX = 16_384;

/**
 * Says whether a text has a pattern of characters, classes and anchors. One that repeats or chooses may take practically for ever, and
 * nothing of the product sends it. The flags are those that mean the same in JavaScript.
 */
export function compileRegex(source: string, flags: string): (text: string) => boolean {
  if (/[^imsu]/.test(flags)) throw notSupported(`The regular expression flags ${flags}`);
  if (source.length > PATTERN_MAX) throw new StoreError(51091, 'Regular expression is too long');
  if (source.includes('\0')) throw new StoreError(51091, 'Regular expression cannot contain an embedded null byte');
  if (/[*+?{|(]/.test(source.replace(/\\./gs, ''))) throw notSupported('A regular expression that repeats or chooses');
  try {
    const regex = new RegExp(source, [...new Set(`${flags}u`)].join(''));
    return (text) => {
      spend(text.length * (1 + source.length / 64)); // the work is at most the length of the text times that of the pattern
      return regex.test(text);
    };
  } catch (error) {
    throw new StoreError(51091, `Regular expression is invalid: ${error instanceof Error ? error.message : ''}`);
  }
}
