import { hash } from 'node:crypto';
import { SEALED_TEXT } from '../../platform/runtime/secret-box.ts';

const MARK_CHARACTERS = 8;

/**
 * A document as the audit shows it. Sealed secrets and bytes (the hash of a key) are replaced by a fingerprint of what is stored.
 * The fingerprint shows that a secret changed and reveals nothing of it, because every sealing starts with a new random number. What is still to be announced is no part of a setting.
 */
export function auditView(document: object): Readonly<Record<string, unknown>> {
  const { unannounced, ...lasting } = document as Readonly<Record<string, unknown>>; // every object is one
  return Object.fromEntries(Object.entries(lasting).map(([name, value]) => [name, shown(value)]));
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return SEALED_TEXT.test(value) ? mark(value) : value;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(shown);
  if (value instanceof Uint8Array) return mark(value);
  // The driver's Binary.
  if ('buffer' in value && value.buffer instanceof Uint8Array) return mark(value.buffer);
  return auditView(value);
}

function mark(stored: string | Uint8Array): string {
  return `hidden (${hash('sha256', stored, 'hex').slice(0, MARK_CHARACTERS)})`;
}
