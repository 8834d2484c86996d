import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';

/**
 * Carriers write one message id in several notations: padded with zeros, in upper or lower case, or hexadecimal in the answer and
 * decimal in the receipt, or the reverse (SMPP 3.4 §5.2.23 leaves the form to the carrier). The stored key is the answer's id
 * without leading zeros. A receipt's id is looked up unchanged. For carriers that `learn`, it is also looked up in the other base and
 * without case. Some carriers have ids that differ only in case, so a match in another case may be wrong
 * (receipts/receipt-lookup.ts).
 */
const NOTATIONS = [
  'same',
  'lower_case',
  'upper_case',
  'decimal_to_hex',
  'decimal_to_upper_hex',
  'hex_to_decimal',
] as const;
/** How to get the answer's id from a receipt's id. */
type Notation = (typeof NOTATIONS)[number];

/** The longest message_id of SMPP 3.4 (§5.2.23). */
const MAX_ID_LENGTH = 65;

/** The key `<carrier>:<id without leading zeros>`. Undefined for an empty id. */
export function messageKey(carrier: string, id: string): string | undefined {
  const normal = id
    .trim()
    .slice(0, MAX_ID_LENGTH)
    .replace(/^0+(?=.)/, '');
  return normal === '' ? undefined : `${carrier}:${normal}`;
}

/**
 * The key in small letters, if it has letters of both cases: no notation leads from a receipt's id to such a key when the carrier writes
 * it in another case there. Undefined otherwise, because the two notations with one case lead to the key.
 */
export function caselessKey(key: string): string | undefined {
  const [carrier = '', id = ''] = splitKey(key);
  return id === id.toLowerCase() || id === id.toUpperCase() ? undefined : `${carrier}:${id.toLowerCase()}`;
}

function splitKey(key: string): readonly [carrier: string, id: string] {
  const at = key.indexOf(':');
  return [key.slice(0, at), key.slice(at + 1)];
}

/** The key of a receipt's id, read in one notation. Undefined when the id cannot be read in it. */
function keyInNotation(carrier: string, id: string, notation: Notation): string | undefined {
  const trimmed = id.trim().slice(0, MAX_ID_LENGTH);
  switch (notation) {
    case 'same':
      return messageKey(carrier, trimmed);
    case 'lower_case':
      return messageKey(carrier, trimmed.toLowerCase());
    case 'upper_case':
      return messageKey(carrier, trimmed.toUpperCase());
    // BigInt, because ids often have 17 digits or more, and a double would change the last ones.
    case 'decimal_to_hex':
      return /^\d+$/.test(trimmed) ? messageKey(carrier, BigInt(trimmed).toString(16)) : undefined;
    case 'decimal_to_upper_hex':
      return /^\d+$/.test(trimmed) ? messageKey(carrier, BigInt(trimmed).toString(16).toUpperCase()) : undefined;
    case 'hex_to_decimal':
      return /^[0-9a-f]+$/i.test(trimmed) ? messageKey(carrier, BigInt(`0x${trimmed}`).toString(10)) : undefined;
  }
}

export interface CandidateKey {
  readonly key: string;
  /**
   * Which of the receipt's ids this is, and in which notation it was read. If it leads to a message, the next receipts of the
   * carrier are read in this form first.
   */
  readonly form: string;
}

/** Whether the key has the id in another case than the receipt. */
export function changesCase({ form }: CandidateKey): boolean {
  return form.startsWith('lower_case') || form.startsWith('upper_case');
}

/** The keys of these candidates in small letters, as `caselessKey` writes them. Empty when ids are looked up in no other case. */
export function caselessKeys(candidates: readonly CandidateKey[]): readonly string[] {
  const isTried = candidates.some(changesCase);
  return isTried
    ? [...new Set(candidates.filter(({ form }) => form.startsWith('same')).map(({ key }) => key.toLowerCase()))]
    : [];
}

/** The first of `candidateKeys`: what most carriers mean, so that the others need not be made. */
export function firstKey(carrier: string, ids: readonly string[]): CandidateKey | undefined {
  for (const [index, id] of ids.entries()) {
    const key = messageKey(carrier, id);
    if (key !== undefined) return { key, form: `same ${index}` };
  }
  return undefined;
}

/** Every key that a receipt with these ids may mean at a carrier, each once, the most likely first. */
export function candidateKeys(
  carrier: Pick<CarrierDocument, '_id' | 'idForm'>,
  ids: readonly string[],
): CandidateKey[] {
  const notations = carrier.idForm === 'learn' ? NOTATIONS : (['same'] as const);
  const candidates = new Map<string, CandidateKey>();
  for (const notation of notations) {
    for (const [index, id] of ids.entries()) {
      const key = keyInNotation(carrier._id, id, notation);
      if (key !== undefined && !candidates.has(key)) candidates.set(key, { key, form: `${notation} ${index}` });
    }
  }
  return [...candidates.values()];
}
