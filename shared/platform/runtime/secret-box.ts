import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { StartError } from './lifecycle.ts';
import { keyId, type SecretKeys } from './secret-keys.ts';

/**
 * What is sealed, by collection: the fields of its documents. `ops secrets reseal` seals these anew, and a value can be sealed for
 * no other field.
 */
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

/** Where a sealed value belongs: collection, id of the document, field. */
export type SealedPlace = {
  [Name in keyof typeof SEALED_FIELDS]: readonly [Name, string, (typeof SEALED_FIELDS)[Name][number]];
}[keyof typeof SEALED_FIELDS];

/**
 * Secrets at rest (carrier passwords, webhook secrets, provider tokens): AES-256-GCM, stored as one string
 * `v2.<key id>.<nonce>.<tag>.<ciphertext>`, the last three base64url. A stolen database alone opens none of them. The place is
 * authenticated with the value: copied into another document or field, it opens there no more.
 */
export interface SecretBox {
  seal(secret: string, place: SealedPlace): string;
  /** Throws `SecretUnreadable` when the text was sealed with a key that we do not have or for another place, or was altered. */
  open(sealed: string, place: SealedPlace): string;
  /** A keyed hash of what is short enough to be guessed, like a code: a stolen database alone tells nothing of it. `of`: whose it is. */
  hash(secret: string, of: string): string;
  /** In constant time. False too for a hash that was made with a key that we have no more. */
  matches(secret: string, hashed: string, of: string): boolean;
}

/** A stored secret cannot be read. The message says to the operator what to do. */
export class SecretUnreadable extends StartError {}

/** A sealed text, with the id of its key. */
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

/** By a key of its own: what seals is used for nothing else. */
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
