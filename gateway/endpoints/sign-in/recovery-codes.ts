import { hash, randomBytes } from 'node:crypto';

const CODES = 10;
/** 120 bits: enough that a plain hash protects the code (ASVS 5.0, 6.5.2). Without letters that look like digits. */
const CHARACTERS = 24;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export interface RecoveryCodes {
  /** Shown once. */
  readonly codes: readonly string[];
  readonly hashes: readonly string[];
}

export function newRecoveryCodes(): RecoveryCodes {
  const codes = Array.from({ length: CODES }, newCode);
  return { codes, hashes: codes.map(hashRecoveryCode) };
}

/** Upper case, blanks and hyphens make no difference. */
export function hashRecoveryCode(code: string): string {
  return hash('sha256', code.toLowerCase().replaceAll(/[\s-]/g, ''), 'hex');
}

/** `7v3k-…`, six groups of four. */
function newCode(): string {
  const text = [...randomBytes(CHARACTERS)].map((byte) => ALPHABET.charAt(byte & 31)).join('');
  return text.replaceAll(/(.{4})(?=.)/g, '$1-');
}
