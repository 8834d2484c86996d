import { hash, verify } from '@node-rs/argon2';
import type { Db } from 'mongodb';
import type { UserDocument } from '../../shared/users/user.ts';
import { putHash } from './own-store.ts';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes. One takes 15 ms of a core. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const PHC_START = '$argon2id$v=19$m=19456,t=2,p=1$';
/** Each takes 19 MB and a thread; more at once would delay all other requests. */
const RUNNING_MAX = 4;
/** The hash of a random password. Unknown users are compared with it, so that they take as long as known ones. */
const NOBODY = '$argon2id$v=19$m=19456,t=2,p=1$2gZNanulROqgbPJbU9nNhg$RZ0EvafhTH8/Wd7t+sqw5mg3YPFPqok7nxPbCs7Wy8w';

let running = 0;

/** Undefined when too many are running. */
export function hashPassword(password: string): Promise<string | undefined> {
  return limited(() => hash(normal(password), PARAMETERS));
}

/** Whether the password has this hash; without a hash, false after the same time. Undefined when too many are running. */
export async function passwordMatches(password: string, stored: string | undefined): Promise<boolean | undefined> {
  const matches = await limited(() => verify(stored ?? NOBODY, normal(password)));
  return matches && stored !== undefined;
}

/** Hashes the password of a user anew if that was done with other parameters than those of today. */
export async function renewHash(db: Db, user: UserDocument, password: string): Promise<void> {
  if (user.password?.startsWith(PHC_START) !== false) return;
  const renewed = await hashPassword(password);
  if (renewed !== undefined) await putHash(db, user, renewed);
}

/** NIST SP 800-63B §3.1.1.2: the same characters, however the keyboard composes them. */
function normal(password: string): string {
  return password.normalize('NFC');
}

async function limited<T>(work: () => Promise<T>): Promise<T | undefined> {
  if (running >= RUNNING_MAX) return undefined;
  running++;
  try {
    return await work();
  } finally {
    running--;
  }
}
