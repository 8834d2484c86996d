import { hash } from '@node-rs/argon2';
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
