import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '../../platform/runtime/ids.ts';

/**
 * The text of an API key: `hk_live_<id>_<secret>`, or `hk_test_…`. The id (26 characters) names the key document and is no secret;
 * the secret is 256 random bits in hexadecimal, so that a double click selects the whole key.
 */
export interface KeyText {
  readonly id: string;
  readonly secret: string;
}

const SECRET_BYTES = 32;
const KEY_FORM = /^hk_(live|test)_([0-9a-z]{26})_([0-9a-f]{64})$/;

export function newKeyText(nowMs: number): KeyText {
  return { id: newId('key', nowMs).slice('key_'.length), secret: randomBytes(SECRET_BYTES).toString('hex') };
}

/** What the texts of a key begin with. */
export function keyPrefix(id: string, test = false): string {
  return `hk_${test ? 'test' : 'live'}_${id}`;
}

export function formatKey({ id, secret }: KeyText, test?: boolean): string {
  return `${keyPrefix(id, test)}_${secret}`;
}

/** Undefined when the text cannot be one of our keys. */
export function parseKey(text: string): (KeyText & { readonly test: boolean }) | undefined {
  const [, mode, id, secret] = KEY_FORM.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret, test: mode === 'test' };
}

/** SHA-256, without salt or stretching: 256 random bits cannot be guessed, and this runs on every request. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Whether the secret has this hash. Takes the same time for every wrong secret. */
export function secretMatches(secret: string, secretHash: Uint8Array): boolean {
  const given = hashSecret(secret);
  return given.length === secretHash.length && timingSafeEqual(given, secretHash);
}
