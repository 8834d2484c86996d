import { types } from 'node:util';
import { createContext, Script } from 'node:vm';
import { spend } from '../bson/effort.ts';
import { notSupported, StoreError } from '../bson/errors.ts';

/** Says whether a text matches. Throws 51156 when that takes too long. */
export type TextTest = (text: string) => boolean;

/** mongod's limit since 7.0, for what a pattern takes in memory too. */
const PATTERN_MAX = 16_384;
/** Milliseconds of CPU time for one text, and for all texts of one command that took long; mongod limits steps instead. */
const TEXT_MS = 100;
const COMMAND_MS = 500;
/** A text that took less does not count. */
const LONG_MS = 1;
/** Patterns of one command that are watched: each may take some hundred kilobytes. */
const WATCHED_BYTES = 64 * 1024;
/** Effort (bson/effort.ts) of a watched test: it takes about 50 µs. */
const WATCHED_TEST_BYTES = 20_000;
/** Effort of each millisecond that a text takes, if it takes long. */
const LONG_MS_BYTES = 200_000;

/** What the patterns of one command may still take, in all turns of the command together. */
interface Allowance {
  ms: number;
  patternBytes: number;
}

let allowance: Allowance = { ms: COMMAND_MS, patternBytes: WATCHED_BYTES };

/** The patterns compiled from now on belong to another command. */
export function beginPatterns(): void {
  if (allowance.patternBytes === WATCHED_BYTES) return; // the command before had no patterns
  allowance = { ms: COMMAND_MS, patternBytes: WATCHED_BYTES };
}

/** mongod runs PCRE2, this runs JavaScript's engine. Flags with the same meaning are accepted, `x` is refused. */
export function compileRegex(source: string, flags: string): TextTest {
  if (flags.includes('x')) throw notSupported('The regular expression flag x');
  if (/[^imsu]/.test(flags)) throw new StoreError(51108, `invalid flag in regex options: ${flags}`);
  if (source.includes('\0')) throw new StoreError(51091, 'Regular expression cannot contain an embedded null byte');
  if (source.length > PATTERN_MAX) throw new StoreError(51091, 'Regular expression is too long');
  const mine = allowance;
  mine.patternBytes -= source.length + 1;
  if (mine.patternBytes < 0) {
    throw new StoreError(51091, `Regular expressions of more than ${WATCHED_BYTES} bytes in one command`);
  }
  const regex = compiled(source, flags);
  if (/[*+?{|]/.test(source)) return (text) => watched(regex, text, mine);
  // Without a quantifier or a choice the work is at most the length of the text times that of the pattern.
  return (text) => {
    spend(text.length * (1 + source.length / 64));
    return run(() => regex.test(text));
  };
}

function compiled(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, [...new Set(`${flags.replace('u', '')}u`)].join(''));
  } catch (error) {
    throw new StoreError(51091, `Regular expression is invalid: ${error instanceof Error ? error.message : ''}`);
  }
}

const { isNativeError } = types;

const sandbox: { regex: RegExp | undefined; text: string } = { regex: undefined, text: '' };
const context = createContext(sandbox);
const script = new Script('regex.test(text)');

/** A pattern like `(a+)+$` may take practically for ever. V8 is interrupted in it, which costs about 50 µs a text. */
function watched(regex: RegExp, text: string, left: Allowance): boolean {
  sandbox.regex = regex;
  sandbox.text = text;
  for (;;) {
    spend(WATCHED_TEST_BYTES);
    const before = process.cpuUsage();
    const found = run(testOnce);
    const { user, system } = process.cpuUsage(before);
    const took = (user + system) / 1000;
    if (took > LONG_MS) {
      left.ms -= took;
      spend(took * LONG_MS_BYTES); // so that others get a turn soon
    }
    if (left.ms < 0) throw tooLong('the texts of this command take too long');
    if (found !== undefined) return found;
    // The clock ran out: of a process that had the CPU, or of one that waited for it.
    if (took > TEXT_MS / 2) throw tooLong(`a text took more than ${TEXT_MS} ms`);
  }
}

/** Undefined when the time was over. */
function testOnce(): boolean | undefined {
  try {
    return script.runInContext(context, { timeout: TEXT_MS }) === true;
  } catch (error) {
    // An error of the other context, so no `instanceof`.
    if (isNativeError(error) && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

/** Some patterns turn out to be too large only when they are first used. */
function run<Result>(test: () => Result): Result {
  try {
    return test();
  } catch (error) {
    throw tooLong(isNativeError(error) ? error.message : '');
  }
}

function tooLong(why: string): StoreError {
  return new StoreError(51156, `Error occurred while executing regular expression: ${why}`);
}
