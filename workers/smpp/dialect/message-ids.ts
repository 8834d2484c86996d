import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';

/**
 * Carriers write an id padded with zeros, in upper or lower case, hexadecimal in the answer and decimal in the receipt,
 * or the reverse (SMPP 3.4 §5.2.23 leaves the form to them). The stored key is the answer's id without leading zeros. A
 * receipt's id is looked up unchanged, for carriers that `learn` also in the other base and without case, which may be
 * wrong (receipts/receipt-lookup.ts).
 */
const NOTATIONS = [
  'same',
  'lower_case',
  'upper_case',
  'decimal_to_hex',
  'decimal_to_upper_hex',
  'hex_to_decimal',
] as const;
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

/** The key in lower case if it has letters of both cases. Otherwise the notations with one case suffice. */
export function caselessKey(key: string): string | undefined {
  const [carrier = '', id = ''] = splitKey(key);
  return id === id.toLowerCase() || id === id.toUpperCase() ? undefined : `${carrier}:${id.toLowerCase()}`;
}

function splitKey(key: string): readonly [carrier: string, id: string] {
  const at = key.indexOf(':');
  return [key.slice(0, at), key.slice(at + 1)];
}

/** Undefined when the id cannot be read in this notation. */
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
  /** Names the receipt's id and its notation. After a hit, this form is tried first for the carrier's next receipts. */
  readonly form: string;
}

export function changesCase({ form }: CandidateKey): boolean {
  return form.startsWith('lower_case') || form.startsWith('upper_case');
}

/** The candidates' keys in the form of `caselessKey`. Empty when ids are looked up in no other case. */
export function caselessKeys(candidates: readonly CandidateKey[]): readonly string[] {
  const isTried = candidates.some(changesCase);
  return isTried
    ? [...new Set(candidates.filter(({ form }) => form.startsWith('same')).map(({ key }) => key.toLowerCase()))]
    : [];
}

/** The first of `candidateKeys`, which most carriers mean: the others need not be made. */
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
