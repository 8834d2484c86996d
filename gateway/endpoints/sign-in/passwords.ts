import { hash } from '@node-rs/argon2';
import { invalid } from '../../api/endpoint.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { Fault, type Reading, required, string } from '../../http/fields/field.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import type { HashQueue, Lane } from './hash-queue.ts';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes. One takes 15 ms of a core. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const PHC_START = '$argon2id$v=19$m=19456,t=2,p=1$';
/** The hash of a random password. Names that nobody has are compared with it, so that they take as long as others. */
const NOBODY = '$argon2id$v=19$m=19456,t=2,p=1$2gZNanulROqgbPJbU9nNhg$RZ0EvafhTH8/Wd7t+sqw5mg3YPFPqok7nxPbCs7Wy8w';

/**
 * Hashes passwords, in turn. Users of several accounts who have the same name also have the same salt: one hash says of all of them
 * whose password it is, in the same time as of one or of none (docs/decisions/0026).
 */
export class Passwords {
  readonly #queue: HashQueue;

  constructor(queue: HashQueue) {
    this.#queue = queue;
  }

  /** `like`: the stored password of somebody of the same name, whose salt is taken. Undefined when too many wait. */
  hash(lane: Lane, password: string, like: string | undefined): Promise<string | undefined> {
    const salt = like === undefined ? {} : { salt: readPhc(like).salt };
    return this.#queue.run(lane, () => hash(normal(password), { ...PARAMETERS, ...salt }));
  }

  /** Which of the stored passwords this one is. Undefined when too many wait. */
  matching(lane: Lane, password: string, stored: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const settings = new Map((stored.length === 0 ? [NOBODY] : stored).map((phc) => [settingsOf(phc), readPhc(phc)]));
    return this.#queue.run(lane, async () => {
      const computed = new Set<string>();
      for (const options of settings.values()) computed.add(await hash(normal(password), options));
      return new Set(stored.filter((phc) => computed.has(phc)));
    });
  }
}

/** Whether it was hashed with other parameters than those of today. */
export function isOutdated(stored: string): boolean {
  return !stored.startsWith(PHC_START);
}

/** All but the hash itself: parameters and salt. */
function settingsOf(phc: string): string {
  return phc.slice(0, phc.lastIndexOf('$'));
}

/** The options that make the same hash of the same password. */
function readPhc(phc: string) {
  const [, memory, time, lanes, salt = '', made = ''] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(phc) ?? [];
  if (made === '') throw new Error('a stored password is no PHC string of argon2id');
  return {
    ...{ memoryCost: Number(memory), timeCost: Number(time), parallelism: Number(lanes) },
    ...{ salt: Buffer.from(salt, 'base64'), outputLen: Buffer.from(made, 'base64').length },
  };
}

/** NIST SP 800-63B §3.1.1.2: the same characters, however the keyboard composes them. */
function normal(password: string): string {
  return password.normalize('NFC');
}

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
