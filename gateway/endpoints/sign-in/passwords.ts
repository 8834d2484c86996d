import { hash } from '@node-rs/argon2';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { invalid } from '../../api/endpoint.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { Fault, type Reading, required, string } from '../../http/fields/field.ts';
import type { Refused } from '../../http/idempotency/action.ts';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes. One takes 15 ms of a core. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** The hash of a random password. Unknown names are compared with it, so that they take as long as others. */
const NOBODY = '$argon2id$v=19$m=19456,t=2,p=1$2gZNanulROqgbPJbU9nNhg$RZ0EvafhTH8/Wd7t+sqw5mg3YPFPqok7nxPbCs7Wy8w';

/**
 * Hashes in turn. Users of the same name in several accounts share a salt: one hash tells whose password it is, in the
 * same time for several, one or none (docs/decisions/0026).
 */
export class Passwords {
  readonly #queue: HashQueue;

  constructor(queue: HashQueue) {
    this.#queue = queue;
  }

  /** `like`: a stored password of the same name, whose salt is reused. Undefined when too many wait. */
  hash(lane: Lane, password: string, like: string | undefined): Promise<string | undefined> {
    const salt = like === undefined ? {} : { salt: readPhc(like).salt };
    return this.#queue.run(lane, () => hash(normal(password), { ...PARAMETERS, ...salt }));
  }

  /** Which of the stored passwords it is. Undefined when too many wait. */
  matching(lane: Lane, password: string, stored: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const settings = new Map((stored.length === 0 ? [NOBODY] : stored).map((phc) => [settingsOf(phc), readPhc(phc)]));
    return this.#queue.run(lane, async () => {
      const computed = new Set<string>();
      for (const options of settings.values()) computed.add(await hash(normal(password), options));
      return new Set(stored.filter((phc) => computed.has(phc)));
    });
  }
}

function settingsOf(phc: string): string {
  return phc.slice(0, phc.lastIndexOf('$'));
}

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

/** Judged by length alone, not by kinds of characters (NIST SP 800-63B §3.1.1.2). */
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

/** What somebody who knows the product would try first. */
const PRODUCT = ['harkara', 'gateway', 'dashboard'];

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

/** 18,000 stolen passwords of sufficient length. Read when the first password is set, because it takes 50 ms. */
let list: Promise<ReadonlySet<string>> | undefined;

async function readList(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common'].filter(({ length }) => length >= MIN));
}

/**
 * Hashes of one key wait for each other; keys take turns. The key is the account of a returning user (`known`),
 * otherwise the network.
 */
export interface Lane {
  readonly key: string;
  readonly known: boolean;
}

interface Waiting {
  readonly sinceMs: number;
  readonly go: () => void;
  readonly refuse: () => void;
}

/** A hash takes 19 MB and a core for 15 ms. More at once would slow down all other requests. */
const RUNNING_MAX = 2;
/** Of these, from unknown networks: they never take the place of somebody who was here before. */
const UNKNOWN_RUNNING_MAX = 1;
/** An office that signs in at the same moment. */
const LANE_MAX = 32;
/** This many wait at most four seconds on an idle machine. */
const WAITING_MAX = 256;
/** After this time people have pressed the button again. */
const WAIT_MAX_MS = 10_000;

/** Runs password hashes one after the other, fair to all who wait (docs/decisions/0026). */
export class HashQueue {
  readonly #clock: Clock;
  readonly #known = new Turns();
  readonly #unknown = new Turns();
  #running = 0;
  #unknownRunning = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined when too many wait or it waited too long; then nothing was done. */
  async run<T>(lane: Lane, work: () => Promise<T>): Promise<T | undefined> {
    if (!(await this.#turn(lane))) return undefined;
    try {
      return await work();
    } finally {
      this.#running--;
      if (!lane.known) this.#unknownRunning--;
      this.#next();
    }
  }

  #turn({ key, known }: Lane): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting = { sinceMs: this.#clock.monotonicMs(), go: () => resolve(true), refuse: () => resolve(false) };
      if ((known ? this.#known : this.#unknown).add(key, waiting)) this.#next();
      else resolve(false);
    });
  }

  #next(): void {
    while (this.#running < RUNNING_MAX) {
      const isUnknown = this.#unknownRunning < UNKNOWN_RUNNING_MAX && this.#unknown.size > 0;
      const waiting = (isUnknown ? this.#unknown : this.#known).take();
      if (waiting === undefined) return;
      if (this.#clock.monotonicMs() - waiting.sinceMs > WAIT_MAX_MS) {
        waiting.refuse();
        continue;
      }
      this.#running++;
      if (isUnknown) this.#unknownRunning++;
      waiting.go();
    }
  }
}

/** Waiting attempts by key; the keys take turns. */
class Turns {
  size = 0;
  readonly #byKey = new Map<string, Waiting[]>();

  /** False when there is no room. In a full queue the longest lane makes room for shorter ones. */
  add(key: string, waiting: Waiting): boolean {
    const own = this.#byKey.get(key) ?? [];
    if (own.length >= LANE_MAX) return false;
    if (this.size >= WAITING_MAX && !this.#shorten(own.length + 1)) return false;
    own.push(waiting);
    this.#byKey.set(key, own);
    this.size++;
    return true;
  }

  take(): Waiting | undefined {
    for (const [key, lane] of this.#byKey) {
      const waiting = lane.shift();
      this.#byKey.delete(key);
      if (lane.length > 0) this.#byKey.set(key, lane);
      this.size--;
      return waiting;
    }
    return undefined;
  }

  /** Refuses the newest of the longest lane, if that has more than `length`. */
  #shorten(length: number): boolean {
    const [longest] = [...this.#byKey.values()].sort((a, b) => b.length - a.length);
    if (longest === undefined || longest.length <= length) return false;
    longest.pop()?.refuse();
    this.size--;
    return true;
  }
}
