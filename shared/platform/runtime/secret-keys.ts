import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { StartError } from './lifecycle.ts';
import { makeOwnDirectory, readOwnFile, syncDirectory } from './own-file.ts';

/**
 * The installation's keys, as they are now. The first one seals. The others only open: what was sealed before the key was changed,
 * until `ops secrets reseal` has sealed it anew (docs/operating.md).
 */
export type SecretKeys = () => Keys;
type Keys = readonly [Buffer, ...Buffer[]];

const KEY_BYTES = 32;
const KEY_ID_CHARACTERS = 8;

/** Names a key without telling anything of it: it is random, so its hash cannot be guessed. */
export function keyId(key: Buffer): string {
  return createHash('sha256').update('harkara secret key').update(key).digest('hex').slice(0, KEY_ID_CHARACTERS);
}

export function secretKeyFile(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/**
 * The keys from `setting` (each 64 hex digits, with commas between), else from the lines of `<dataDir>/secret.key`, which is read
 * again when it has changed. A missing file is created; one with a wider mode is set to 0600. Throws `StartError` when a key is
 * malformed, the file belongs to another user, or the directory cannot be written to.
 */
export function loadSecretKeys(setting: string, dataDir: string): SecretKeys {
  if (setting !== '') {
    const keys = parseKeys(setting.split(','), 'HARKARA_SECRET_KEY');
    return () => keys;
  }
  const file = secretKeyFile(dataDir);
  if (!existsSync(file)) makeKeyFile(file, dataDir);
  let mark = markOf(file);
  let keys = readKeys(file);
  return () => {
    const now = markOf(file);
    // A file that was taken away while we run: what it held still opens everything.
    if (now === mark || now === undefined) return keys;
    keys = readKeys(file);
    mark = now;
    return keys;
  };
}

function makeKeyFile(file: string, dataDir: string): void {
  makeOwnDirectory(dataDir);
  // Written completely, then linked into place: when several processes start at the same moment, one creates the key and the
  // others read it.
  const draft = writeDraft(file, [randomBytes(KEY_BYTES)]);
  try {
    linkSync(draft, file);
    syncDirectory(dataDir); // Must be durable before the first secret is sealed with it.
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
}

/** Puts a new key before the one of the file: from now on it seals, in every process. With several keys it is there already. */
export function addKey(dataDir: string): void {
  const file = secretKeyFile(dataDir);
  const keys = readKeys(file);
  if (keys.length > 1) return;
  // Of two who do this at the same moment, and of one who does it again after a crash, both find the same new key.
  const next = nextFile(file);
  // A crash left it behind the key that the last change brought: this change needs another one.
  if (existsSync(next) && readKeys(next)[0].equals(keys[0])) rmSync(next, { force: true });
  if (!existsSync(next)) makeKeyFile(next, dataDir);
  replaceKeys(file, dataDir, [readKeys(next)[0], ...keys]);
  rmSync(next, { force: true });
}

/** Only the first key stays: nothing is sealed with the others any more. */
export function dropOldKeys(dataDir: string): void {
  const file = secretKeyFile(dataDir);
  const [key] = readKeys(file);
  replaceKeys(file, dataDir, [key]);
  rmSync(nextFile(file), { force: true });
  // What crashes left half done has the old keys too.
  for (const name of readdirSync(dataDir)) if (DRAFT.test(name)) rmSync(join(dataDir, name), { force: true });
}

/** The key that comes next, between its making and its first place in the file. */
function nextFile(file: string): string {
  return `${file}.next`;
}

function replaceKeys(file: string, dataDir: string, keys: Keys): void {
  renameSync(writeDraft(file, keys), file);
  syncDirectory(dataDir);
}

/** As `writeDraft` names them. */
const DRAFT = /^secret\.key(\.next)?\.\d+$/;

function writeDraft(file: string, keys: Keys): string {
  const draft = `${file}.${process.pid}`;
  const text = keys.map((key) => `${key.toString('hex')}\n`).join('');
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  return draft;
}

/** Changes whenever the file is replaced or written. */
function markOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

function readKeys(file: string): Keys {
  const { mode, uid } = statSync(file);
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(file, mode & 0o700); // Copying a file can lose its mode.
  return parseKeys(readOwnFile(file).trim().split('\n'), file);
}

function parseKeys(texts: readonly string[], where: string): Keys {
  const [first, ...others] = texts.map((text) => parseKey(text.trim(), where));
  if (first === undefined) throw new Error('a text has at least one part');
  return [first, ...others];
}

function parseKey(text: string, where: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(text))
    throw new StartError(
      `${where} must hold 64 hexadecimal digits (32 bytes): enter the whole key from your copy, or a first one by \`openssl rand -hex 32\`.`,
    );
  return Buffer.from(text, 'hex');
}
