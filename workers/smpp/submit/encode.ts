import type { CarrierDlt } from '../../../shared/carriers/carrier.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { type Encoding, segmentText } from '../../../shared/sms/segment.ts';
import type { SubmitFields } from '../session/pdu.ts';
import { dltTlvs } from './dlt.ts';

/**
 * A message as submit_sm, one per segment. Everything is explicit: alphabet, octets, header, addresses; nothing is left to
 * the codec's guesses, and nothing that the standard does not allow in a field gets in (a NUL in an address would shift the
 * fields behind it).
 */

/** SMPP 3.4 §5.2.19: SMSC default alphabet, UCS2. */
const DATA_CODING = { GSM7: 0, UCS2: 8 } as const satisfies Record<Encoding, number>;
/** The short message begins with a user data header (SMPP 3.4 §5.2.12). */
const ESM_CLASS_UDHI = 0x40;
/** A receipt for success and for failure (SMPP 3.4 §5.2.17). */
const RECEIPTS_WANTED = 1;
/** 3GPP TS 23.040 §9.2.3.24.1 numbers segments in one octet. */
const MAX_SEGMENTS = 255;

interface Address {
  readonly ton: number;
  readonly npi: number;
  readonly digits: string;
}

export type Encoded =
  | { readonly kind: 'encoded'; readonly segments: readonly SubmitFields[] }
  /** No carrier could take it as it is. */
  | { readonly kind: 'unfit'; readonly code: string; readonly reason: string };

/** `reference` joins the segments of one message at the handset; it matters only when there are several. DLT ids go on each. */
export function encodeMessage(
  message: MessageDocument,
  reference: number,
  now: Date,
  dlt: CarrierDlt | 'off' = 'off',
): Encoded {
  const source = sourceAddress(message.sender);
  if (source === undefined) {
    return { kind: 'unfit', code: 'sender_unfit', reason: 'The sender has characters that a carrier does not take' };
  }
  if (!/^\d{1,20}$/.test(message.to)) {
    return { kind: 'unfit', code: 'recipient_unfit', reason: 'The recipient is not a number' };
  }
  const { encoding, segments } = segmentText(message.text);
  if (segments.length > MAX_SEGMENTS) {
    return { kind: 'unfit', code: 'too_long', reason: 'The text is longer than 255 segments' };
  }
  const tlvs = dlt === 'off' ? [] : dltTlvs(message, dlt);
  const fields = {
    ...(tlvs.length === 0 ? {} : { tlvs }),
    source_addr_ton: source.ton,
    source_addr_npi: source.npi,
    source_addr: source.digits,
    dest_addr_ton: TON.international,
    dest_addr_npi: NPI.isdn,
    destination_addr: message.to,
    validity_period: validityPeriod(message.validUntil, now),
    registered_delivery: RECEIPTS_WANTED,
    data_coding: DATA_CODING[encoding],
  };
  const [only] = segments;
  if (segments.length === 1 && only !== undefined) {
    return { kind: 'encoded', segments: [{ ...fields, esm_class: 0, short_message: only }] };
  }
  return {
    kind: 'encoded',
    segments: segments.map((text, i) => ({
      ...fields,
      esm_class: ESM_CLASS_UDHI,
      short_message: Buffer.concat([joinHeader(reference, segments.length, i + 1), text]),
    })),
  };
}

/** SMPP 3.4 §5.2.5, §5.2.6. */
const TON = { international: 1, networkSpecific: 3, alphanumeric: 5 } as const;
const NPI = { unknown: 0, isdn: 1 } as const;
/** A number of at most so many digits is a short code; the network numbers these itself. */
const SHORT_CODE_DIGITS = 8;
/** An alphanumeric sender has at most 11 characters (3GPP TS 23.040 §9.1.2.5), a C-string field 20. */
const ALPHANUMERIC = /^[\x20-\x7e]{1,11}$/;

function sourceAddress(sender: string): Address | undefined {
  if (/^\d{1,20}$/.test(sender)) {
    return sender.length <= SHORT_CODE_DIGITS
      ? { ton: TON.networkSpecific, npi: NPI.unknown, digits: sender }
      : { ton: TON.international, npi: NPI.isdn, digits: sender };
  }
  return ALPHANUMERIC.test(sender) ? { ton: TON.alphanumeric, npi: NPI.unknown, digits: sender } : undefined;
}

/** 3GPP TS 23.040 §9.2.3.24.1: length 5, element 0, its length 3, reference, total, number. */
function joinHeader(reference: number, total: number, number: number): Buffer {
  return Buffer.from([5, 0, 3, reference & 0xff, total, number]);
}

const MINUTE_MS = 60_000;
/** The day field has two digits; validity is capped far below. */
const LONGEST_VALIDITY_MS = 30 * 86_400_000;

/** What is left of the validity, `YYMMDDhhmmss000R` (SMPP 3.4 §7.1.1.2): relative, so that no time zone can be wrong. */
function validityPeriod(validUntil: Date, now: Date): string {
  const leftMs = Math.min(Math.max(validUntil.getTime() - now.getTime(), MINUTE_MS), LONGEST_VALIDITY_MS);
  const minutes = Math.floor(leftMs / MINUTE_MS);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `0000${two(Math.floor(minutes / 1_440))}${two(Math.floor(minutes / 60) % 24)}${two(minutes % 60)}00000R`;
}

/** Counters that are remembered at most. */
const MAX_REFERENCES = 50_000;

/**
 * References for joined segments: a counter per destination, so that two messages to one handset get the same one only 256
 * messages apart. One per carrier.
 */
export class References {
  readonly #next = new Map<string, number>();
  /** Where a destination that is not remembered begins: not always the same. */
  #start: number;

  constructor(start: number) {
    this.#start = start;
  }

  next(destination: string): number {
    const reference = this.#next.get(destination) ?? this.#start++ & 0xff;
    this.#next.delete(destination); // Behind the others: the one used longest ago is forgotten first.
    this.#next.set(destination, (reference + 1) & 0xff);
    if (this.#next.size > MAX_REFERENCES) {
      const [oldest] = this.#next.keys();
      if (oldest !== undefined) this.#next.delete(oldest);
    }
    return reference;
  }
}
