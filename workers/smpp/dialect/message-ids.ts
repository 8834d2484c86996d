import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';

/**
 * Carriers write one message id in several notations: padded with zeros, in another case, hexadecimal in the answer and decimal in
 * the receipt or the other way round (SMPP 3.4 §5.2.23 leaves the form to the carrier). The stored key is the answer's id as it is
 * written, without leading zeros. A receipt's id is looked up as it is and, for carriers that `learn`, in the other case and the
 * other base too. Case may mean something: some carriers have ids that differ in nothing else (receipts/receipt-lookup.ts).
 */
const NOTATIONS = [
  'same',
  'lower_case',
  'upper_case',
  'decimal_to_hex',
  'decimal_to_upper_hex',
  'hex_to_decimal',
] as const;
/** How a receipt's id becomes the answer's. */
type Notation = (typeof NOTATIONS)[number];

/** Longest message_id of SMPP 3.4 (§5.2.23). */
const MAX_ID_LENGTH = 65;

/** `<carrier>:<id without leading zeros>`; undefined for an empty id. */
export function messageKey(carrier: string, id: string): string | undefined {
  const normal = id
    .trim()
    .slice(0, MAX_ID_LENGTH)
    .replace(/^0+(?=.)/, '');
  return normal === '' ? undefined : `${carrier}:${normal}`;
}

/** The key of a receipt's id read in one notation; undefined when the id cannot be read so. */
function keyInNotation(carrier: string, id: string, notation: Notation): string | undefined {
  const trimmed = id.trim().slice(0, MAX_ID_LENGTH);
  switch (notation) {
    case 'same':
      return messageKey(carrier, trimmed);
    case 'lower_case':
      return messageKey(carrier, trimmed.toLowerCase());
    case 'upper_case':
      return messageKey(carrier, trimmed.toUpperCase());
    // BigInt: ids of 17 and more digits are common and a double would change their last ones.
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
  /** Which id, read in which notation: what a hit teaches for the carrier's next receipts. */
  readonly form: string;
}

/** Whether it is the id in another case than the receipt has it. */
export function changesCase({ form }: CandidateKey): boolean {
  return form.startsWith('lower_case') || form.startsWith('upper_case');
}

/** Every key that a receipt with these ids may mean at a carrier, the likelier first, without doubles. */
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
