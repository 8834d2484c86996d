import { invalid } from '../../api/endpoint.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { Fault, type Reading, required, string } from '../../http/fields/field.ts';
import type { Refused } from '../../http/idempotency/action.ts';

const MIN = 8;
const MAX = 128;

/** A new password, by its length alone. There are no rules about kinds of characters (NIST SP 800-63B §3.1.1.2). */
export const newPassword = required(
  string(
    {
      description: 'The new password. Any characters, blanks too. Common passwords are refused, and your own name.',
      minLength: MIN,
      maxLength: MAX,
    },
    (text: string, _reading: Reading) => {
      const { length } = [...text];
      if (length < MIN) return new Fault('too_short', `It must have at least ${MIN} characters.`);
      return length > MAX ? new Fault('too_long', `It may have at most ${MAX} characters.`) : text;
    },
  ),
);

/** What somebody who knows the user or the product would try first. */
const PRODUCT = ['harkara', 'gateway', 'dashboard'];

/** The refusal of a password that is too easy to guess. */
export async function refuseCommon(
  password: string,
  own: readonly (string | undefined)[],
): Promise<Refused | undefined> {
  if (!(await isCommon(password, own))) return undefined;
  const problems = new FieldProblems();
  problems.add('password', 'invalid_value', 'Others guess it easily. Take several words that do not belong together.');
  return invalid(problems);
}

async function isCommon(password: string, own: readonly (string | undefined)[]): Promise<boolean> {
  const text = password.normalize('NFC').toLowerCase();
  list ??= readList();
  const common = await list;
  if (common.has(text) || new Set(text).size < 4) return true;
  // `Harkara2026!` is the word with what everybody appends.
  const [stem = ''] = /^.*?(?=[\d\W_]*$)/s.exec(text) ?? [];
  const words = [...PRODUCT, ...own.flatMap((name) => name?.toLowerCase().split('@') ?? [])];
  return words.some((word) => word.length > 0 && (text === word || stem === word));
}

/** 18,000 passwords of stolen lists that are long enough. Read when the first password is set: it takes 50 ms. */
let list: Promise<ReadonlySet<string>> | undefined;

async function readList(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common'].filter(({ length }) => length >= MIN));
}
