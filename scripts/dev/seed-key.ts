import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { parseKey, secretMatches } from '../../shared/people/keys/key-secret.ts';
import { createKey, findKey, isOver } from '../../shared/people/keys/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';

const NAME = 'npm start';
const FILE = 'npm-start.key';
const KEY_DAYS = 365;
const DAY_MS = 24 * 3_600_000;

/** The key that `npm start` prints. The next start prints the same one, because somebody has pasted it somewhere. */
export async function seedKey(db: Db, clock: Clock, account: AccountId, dataDir: string): Promise<string> {
  const file = join(dataDir, FILE);
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (await works(db, clock, account, kept)) return kept;
  const { key } = await createKey(db, clock, {
    account,
    name: NAME,
    scopes: ['send', 'read', 'otp'],
    expiresAt: new Date(clock.now().getTime() + KEY_DAYS * DAY_MS),
  });
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  return key;
}

/** The file may be of another store, and somebody may have revoked the key. */
async function works(db: Db, clock: Clock, account: AccountId, text: string): Promise<boolean> {
  const parsed = parseKey(text);
  const found = parsed && (await findKey(db, parsed.id));
  return (
    found?.account === account &&
    secretMatches(parsed?.secret ?? '', found.secretHash.buffer) &&
    !isOver(found, clock.now())
  );
}
