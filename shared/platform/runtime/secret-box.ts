import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
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

/** By collection. `ops secrets reseal` seals them anew, and a value can be sealed for no other field. */
export const SEALED_FIELDS = {
  carriers: ['password', 'trust.tlsKey'],
  providers: ['token', 'appSecret', 'verifyToken'],
  endpoints: ['secrets.sealed', 'headers.sealed'],
  /** `setup` is handed to the user and comes back; it is stored nowhere. */
  users: ['totp.seed', 'setup', 'unannounced.sealed'],
  mails: ['sealed'],
  verifications: ['second.sealed'],
  /** `result` is made before the claim has its id, so it is bound to the account that the id begins with. */
  idempotency: ['result', 'answer.body'],
} as const;

/** Collection, id of the document, field. */
export type SealedPlace = {
  [Name in keyof typeof SEALED_FIELDS]: readonly [Name, string, (typeof SEALED_FIELDS)[Name][number]];
}[keyof typeof SEALED_FIELDS];

/**
 * Secrets at rest (carrier passwords, webhook secrets, provider tokens): AES-256-GCM, stored as `v2.<key
 * id>.<nonce>.<tag>.<ciphertext>`, the last three base64url. A stolen database alone opens none of them. The place is
 * authenticated with the value: copied into another document or field, it does not open.
 */
export interface SecretBox {
  seal(secret: string, place: SealedPlace): string;
  /** Throws `SecretUnreadable` when the text was sealed with a missing key or for another place, or was altered. */
  open(sealed: string, place: SealedPlace): string;
  /** A keyed hash, for guessable secrets like codes: a stolen database tells nothing. `of`: whose it is. */
  hash(secret: string, of: string): string;
  /** In constant time. False too for a hash that was made with a key that we have no more. */
  matches(secret: string, hashed: string, of: string): boolean;
}

/** The message says to the operator what to do. */
export class SecretUnreadable extends StartError {}

export const SEALED_TEXT = /^v2\.([0-9a-f]{8})\.([\w-]{16})\.([\w-]{22})\.([\w-]*)$/;
const NONCE_BYTES = 12;

export function createSecretBox(keys: SecretKeys): SecretBox {
  return {
    seal(secret, place) {
      const [key] = keys();
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(authenticated(place));
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      const parts = [nonce, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'));
      return ['v2', keyId(key), ...parts].join('.');
    },
    open(sealed, place) {
      const [, id, nonce = '', tag = '', text = ''] = SEALED_TEXT.exec(sealed) ?? [];
      if (id === undefined) throw new SecretUnreadable(`${where(place)} is no sealed text: enter the secret again.`);
      const key = keys().find((one) => keyId(one) === id);
      if (key === undefined) throw new SecretUnreadable(otherKey(id, keys().map(keyId)));
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'));
      decipher.setAAD(authenticated(place)).setAuthTag(Buffer.from(tag, 'base64url'));
      try {
        return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new SecretUnreadable(
          `${where(place)} was altered, or sealed for another document or field: enter the secret again.`,
          { cause },
        );
      }
    },
    hash(secret, of) {
      const [key] = keys();
      return `${keyId(key)}.${hashWith(key, secret, of).toString('base64url')}`;
    },
    matches(secret, hashed, of) {
      const [id, hash = ''] = hashed.split('.', 2);
      const key = keys().find((one) => keyId(one) === id);
      return key !== undefined && timingSafeEqual(hashWith(key, secret, of), Buffer.from(hash, 'base64url'));
    },
  };
}

/** By a derived key: the sealing key is used for nothing else. */
function hashWith(key: Buffer, secret: string, of: string): Buffer {
  const own = Buffer.from(hkdfSync('sha256', key, '', 'harkara hash', 32));
  return createHmac('sha256', own).update(`${of}\0${secret}`).digest();
}

function authenticated(place: SealedPlace): Buffer {
  return Buffer.from(place.join('\0'));
}

function where([collection, document, field]: SealedPlace): string {
  return `The stored secret ${field} of ${document} (${collection})`;
}

function otherKey(id: string, ours: readonly string[]): string {
  return `A stored secret was sealed with another key (id ${id}, ours: ${ours.join(', ')}). Restore the key that it was sealed with (HARKARA_SECRET_KEY, or secret.key in the data directory).`;
}

/**
 * The installation's keys, as they are now. The first one seals; the others only open what was sealed before a change
 * of the key, until `ops secrets reseal` has sealed it anew (docs/operating.md).
 */
export type SecretKeys = () => Keys;
type Keys = readonly [Buffer, ...Buffer[]];

const KEY_BYTES = 32;
const KEY_ID_CHARACTERS = 8;

/** Names a key without telling anything of it: the key is random, so its hash cannot be guessed. */
export function keyId(key: Buffer): string {
  return createHash('sha256').update('harkara secret key').update(key).digest('hex').slice(0, KEY_ID_CHARACTERS);
}

export function secretKeyFile(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/**
 * The keys from `setting` (each 64 hex digits, with commas between), else from the lines of `<dataDir>/secret.key`,
 * which is read again when it has changed. A missing file is created; a wider mode is set to 0600. Throws `StartError`
 * when a key is malformed, the file belongs to another user, or the directory cannot be written to.
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
  // Written completely, then linked into place: of several processes that start at the same moment, one creates the key
  // and the others read it.
  const draft = writeDraft(file, [randomBytes(KEY_BYTES)]);
  try {
    linkSync(draft, file);
    syncDirectory(dataDir); // must be durable before the first secret is sealed with it
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
}

/** Puts a new key before the file's: from now on it seals, in every process. With several keys it is there already. */
export function addKey(dataDir: string): void {
  const file = secretKeyFile(dataDir);
  const keys = readKeys(file);
  if (keys.length > 1) return;
  // Of two who do this at the same moment, and of one who repeats it after a crash, both find the same new key.
  const next = nextFile(file);
  // Left by a crash after the last change, whose key it is: this change needs another one.
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
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(file, mode & 0o700); // copying a file can lose its mode
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
