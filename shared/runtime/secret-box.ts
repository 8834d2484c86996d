import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './lifecycle.ts';
import { makeOwnDirectory, syncDirectory } from './own-directory.ts';
import { readOwnFile } from './own-file.ts';

/**
 * Secrets at rest (carrier passwords, webhook secrets, provider tokens): AES-256-GCM, stored as one string
 * `v1.<nonce>.<tag>.<ciphertext>`, each part base64url. A stolen database alone opens none of them.
 */
export interface SecretBox {
  seal(secret: string): string;
  /** Throws `SecretUnreadable` when the text was sealed with another key or altered. */
  open(sealed: string): string;
}

/** It says to the operator what to do. */
export class SecretUnreadable extends StartError {
  constructor(cause: unknown) {
    super(OTHER_KEY, { cause });
  }
}

const OTHER_KEY =
  'A stored secret was sealed with another key. Restore the key that it was sealed with (HARKARA_SECRET_KEY, or secret.key in the data directory).';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;

export function createSecretBox(key: Buffer): SecretBox {
  return {
    seal(secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return ['v1', ...[nonce, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))].join('.');
    },
    open(sealed) {
      const [version, nonce, tag, text] = sealed.split('.');
      if (version !== 'v1' || nonce === undefined || tag === undefined || text === undefined) {
        throw new Error('a stored secret has an unknown form');
      }
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'));
      decipher.setAuthTag(Buffer.from(tag, 'base64url'));
      try {
        return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new SecretUnreadable(cause);
      }
    },
  };
}

export function secretKeyFile(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/**
 * The key from `setting` (64 hex digits), else from `<dataDir>/secret.key`. A missing file is created; a file with a wider mode
 * is set to 0600. Throws `StartError` when the key is malformed, the file belongs to another user, or the directory cannot be
 * written to.
 */
export function loadSecretKey(setting: string, dataDir: string): Buffer {
  if (setting !== '') return parseKey(setting, 'HARKARA_SECRET_KEY');
  const file = secretKeyFile(dataDir);
  if (!existsSync(file)) {
    makeOwnDirectory(dataDir);
    // Written completely, then linked into place: when several processes start at the same moment, one creates the key and the
    // others read it.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('hex')}\n`, { mode: 0o600, flush: true });
    try {
      linkSync(draft, file);
      syncDirectory(dataDir); // Must be durable before the first secret is sealed with it.
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      unlinkSync(draft);
    }
  }
  return parseKey(readKeyFile(file).trim(), file);
}

function readKeyFile(file: string): string {
  const { mode, uid } = statSync(file);
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(file, mode & 0o700); // Copying a file can lose its mode.
  return readOwnFile(file);
}

function parseKey(text: string, where: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(text))
    throw new StartError(
      `${where} must hold 64 hexadecimal digits (32 bytes): enter the whole key from your copy, or a first one by \`openssl rand -hex 32\`.`,
    );
  return Buffer.from(text, 'hex');
}
