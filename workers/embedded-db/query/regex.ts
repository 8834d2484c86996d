import { createContext, Script } from 'node:vm';
import { notSupported, StoreError } from '../bson/errors.ts';

/** Says whether a text matches. Throws 51156 when that takes too long. */
export type TextTest = (text: string) => boolean;

/** Time limit for one text; mongod limits steps instead. */
const MATCH_MS = 100;

/** mongod runs PCRE2, this runs JavaScript's engine. Flags with the same meaning are accepted, `x` is refused. */
export function compileRegex(source: string, flags: string): TextTest {
  if (flags.includes('x')) throw notSupported('The regular expression flag x');
  if (/[^imsu]/.test(flags)) throw new StoreError(51108, `invalid flag in regex options: ${flags}`);
  if (source.includes('\0')) throw new StoreError(51091, 'Regular expression cannot contain an embedded null byte');
  const regex = compiled(source, flags);
  // Without a quantifier the work is at most the length of the text times that of the pattern.
  return /[*+?{]/.test(source) ? (text) => watched(regex, text) : (text) => regex.test(text);
}

function compiled(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, [...new Set(`${flags.replace('u', '')}u`)].join(''));
  } catch (error) {
    throw new StoreError(51091, `Regular expression is invalid: ${error instanceof Error ? error.message : ''}`);
  }
}

const sandbox: { regex: RegExp | undefined; text: string } = { regex: undefined, text: '' };
const context = createContext(sandbox);
const script = new Script('regex.test(text)');

/** A pattern like `(a+)+$` may take practically for ever. V8 is interrupted in it, which costs about 50 µs a text. */
function watched(regex: RegExp, text: string): boolean {
  sandbox.regex = regex;
  sandbox.text = text;
  try {
    return script.runInContext(context, { timeout: MATCH_MS }) === true;
  } catch (error) {
    throw new StoreError(
      51156,
      `Error occurred while executing regular expression: ${error instanceof Error ? error.message : ''}`,
    );
  } finally {
    sandbox.text = '';
  }
}
