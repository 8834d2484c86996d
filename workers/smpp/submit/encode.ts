import { createHash } from 'node:crypto';
import type { CarrierDlt, CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { ADDRESSES, type AddressSettings } from '../../../shared/carriers/settings/addresses.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { type StaticTlv, SUBMITS, type SubmitSettings } from '../../../shared/carriers/settings/submits.ts';
import { TEXTS, type TextSettings } from '../../../shared/carriers/settings/texts.ts';
import type { SubmitFields, Tlv } from '../../../shared/carriers/smpp/submit-sm.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { type Encoding, planSegments, withoutMark } from '../../../shared/messages/sms-plan.ts';
import { destinationAddress, sourceAddress } from './address-forms.ts';
import { splitText, substituted, textForm } from './split.ts';

/**
 * Turns a message into submit_sm, one for each segment. Alphabet, octets, header and addresses are all set here;
 * shared/carriers/smpp/submit-sm.ts only writes them. No value gets in that the standard does not allow: a NUL in an
 * address, for example, would shift all fields after it.
 */

/** The number of a segment is one octet (3GPP TS 23.040 §9.2.3.24.1). */
const MAX_SEGMENTS = 255;

export type Encoded =
  | {
      readonly kind: 'encoded';
      /** UCS2 if the carrier's alphabet lacks a character, even if the gateway counted with GSM. */
      readonly encoding: Encoding;
      readonly segments: readonly SubmitFields[];
    }
  | { readonly kind: 'unfit'; readonly code: string; readonly reason: string };

interface EncodingOptions {
  readonly form: CarrierForm;
  readonly now: Date;
  /** Gives the reference by which the handset joins the segments. Called only for messages of several segments. */
  reference(): number;
  readonly dlt?: CarrierDlt | 'off';
}

type Submittable = Pick<MessageDocument, 'sender' | 'to' | 'text' | 'lane' | 'validUntil' | 'template' | 'entityId'>;

export function encodeMessage(message: Submittable, { form, now, reference, dlt = 'off' }: EncodingOptions): Encoded {
  const { addresses, texts, submits } = form;
  const source = sourceAddress(message.sender, addresses);
  if (source === undefined) return { kind: 'unfit', ...SENDER_UNFIT };
  const destination = destinationAddress(message.to, addresses);
  if (destination === undefined) return { kind: 'unfit', ...RECIPIENT_UNFIT };
  const { encoding, segments } = splitText(textFor(message, texts), texts, reference);
  if (segments.length > MAX_SEGMENTS) {
    return { kind: 'unfit', code: 'too_long', reason: 'The text is longer than 255 segments' };
  }
  const common = [...form.tlvs, ...(dlt === 'off' ? [] : dltTlvs(message, dlt))];
  const fields = {
    ...unusualFields(submits, message.lane),
    source_addr_ton: source.ton,
    source_addr_npi: source.npi,
    source_addr: source.digits,
    dest_addr_ton: destination.ton,
    dest_addr_npi: destination.npi,
    destination_addr: destination.digits,
    validity_period: validityPeriod(submits.validity, message.validUntil, now),
  };
  return {
    kind: 'encoded',
    encoding,
    segments: segments.map(({ tlvs: own = [], ...text }, i) => ({
      ...(own.length + common.length === 0 ? {} : { tlvs: [...own, ...common] }),
      ...fields,
      ...text,
      esm_class: text.esm_class | submits.messagingMode,
      registered_delivery: wantsReceipt(submits, i, segments.length) ? submits.registeredDelivery : 0,
    })),
  };
}

export const SENDER_UNFIT = {
  code: 'sender_unfit',
  reason: 'The sender has characters that a carrier does not take',
} as const;
export const RECIPIENT_UNFIT = { code: 'recipient_unfit', reason: 'The recipient is not a number' } as const;

/** How many submit_sm the message is at a carrier with these settings; its `segments` may differ. */
export function countSubmits(message: Pick<Submittable, 'text' | 'template'>, texts: TextSettings): number {
  return planSegments(withoutMark(textFor(message, texts)), textForm(texts)).ends.length;
}

/** A text that matched a template must arrive exactly as it matched, so nothing is substituted in it. */
export function textFor({ text, template }: Pick<Submittable, 'text' | 'template'>, texts: TextSettings): string {
  return texts.substitute && template === undefined ? substituted(text, textForm(texts)) : text;
}

/** Fields that most carriers leave null or 0. */
function unusualFields(
  { serviceType, priorities }: SubmitSettings,
  lane: number,
): Pick<SubmitFields, 'service_type' | 'priority_flag'> {
  const priority = priorities[lane] ?? 0;
  return {
    ...(serviceType === '' ? {} : { service_type: serviceType }),
    ...(priority === 0 ? {} : { priority_flag: priority }),
  };
}

function wantsReceipt({ receiptsFor }: SubmitSettings, index: number, total: number): boolean {
  switch (receiptsFor) {
    case 'all':
      return true;
    case 'first':
      return index === 0;
    case 'last':
      return index === total - 1;
    case 'none':
      return false;
  }
}

/** The TLVs for India's DLT that the carrier wants: entity, template and hash, as far as the message has them. */
export function dltTlvs(
  { entityId, template }: Pick<MessageDocument, 'entityId' | 'template'>,
  { entityTag, templateTag, hashTag, chain, form }: CarrierDlt,
): readonly Tlv[] {
  const end = form === 'cstring' ? '\0' : '';
  const tlv = (tag: number, text: string): Tlv => ({ tag, value: Buffer.from(`${text}${end}`, 'latin1') });
  const tlvs: Tlv[] = [];
  if (entityId !== undefined) tlvs.push(tlv(entityTag, entityId));
  if (template !== undefined) tlvs.push(tlv(templateTag, template));
  if (entityId !== undefined && hashTag !== undefined && chain !== undefined) {
    tlvs.push(tlv(hashTag, chainHash([entityId, ...chain])));
  }
  return tlvs;
}

/**
 * The PE-TM chain hash that the last telemarketer before the operator sends with a message: SHA-256 over the ids from
 * the principal entity to the delivering telemarketer, joined by commas without spaces, as 64 lower-case hexadecimal
 * digits (BSNL, "PE TM Mapping Chain Hash Logic"; enforced since December 2024).
 */
function chainHash(ids: readonly string[]): string {
  return createHash('sha256').update(ids.join(',')).digest('hex');
}

const MINUTE_MS = 60_000;
/** The relative form has two digits for days. The allowed validity is far shorter than this. */
const LONGEST_VALIDITY_MS = 30 * 86_400_000;

/**
 * The remaining validity (SMPP 3.4 §7.1.1), at least one minute. `relative`: `YYMMDDhhmmss000R`, which no time zone can
 * make wrong. `absolute`: `YYMMDDhhmmss000+`, in UTC. `none`: empty, and the carrier uses its own validity.
 */
export function validityPeriod(form: SubmitSettings['validity'], validUntil: Date, now: Date): string {
  if (form === 'none') return '';
  const leftMs = Math.min(Math.max(validUntil.getTime() - now.getTime(), MINUTE_MS), LONGEST_VALIDITY_MS);
  if (form === 'absolute') {
    const end = new Date(now.getTime() + leftMs);
    return `${end.toISOString().replaceAll(/\D/g, '').slice(2, 14)}000+`;
  }
  const minutes = Math.floor(leftMs / MINUTE_MS);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `0000${two(Math.floor(minutes / 1_440))}${two(Math.floor(minutes / 60) % 24)}${two(minutes % 60)}00000R`;
}

/** How one carrier wants its submit_sm, with all defaults filled in. Made once and used for every message. */
interface CarrierForm {
  readonly addresses: AddressSettings;
  readonly texts: TextSettings;
  readonly submits: SubmitSettings;
  readonly tlvs: readonly Tlv[];
}

export function carrierForm({
  addresses,
  texts,
  submits,
}: Pick<CarrierDocument, 'addresses' | 'texts' | 'submits'>): CarrierForm {
  const all = withDefaults(SUBMITS, submits);
  return {
    addresses: withDefaults(ADDRESSES, addresses),
    texts: withDefaults(TEXTS, texts),
    submits: all,
    tlvs: all.tlvs.map(({ tag, type, value }) => ({ tag, value: octetsOf(type, value) })),
  };
}

const INTEGER_OCTETS: Readonly<Record<string, number>> = { int1: 1, int2: 2, int4: 4 };

/** As in SMPP 3.4 §3.1: integers are big-endian, and a C-octet string ends with a NUL. */
function octetsOf(type: StaticTlv['type'], value: string): Buffer {
  const octets = INTEGER_OCTETS[type];
  if (octets !== undefined) {
    const integer = Buffer.alloc(octets);
    integer.writeUIntBE(Number(value), 0, octets);
    return integer;
  }
  return type === 'hex' ? Buffer.from(value, 'hex') : Buffer.from(type === 'cstring' ? `${value}\0` : value, 'latin1');
}

const MAX_REFERENCES = 50_000;

/** Each destination has its own counter: a handset gets a reference again only after `count` messages. */
export class References {
  readonly #next = new Map<string, number>();
  readonly #count: number;
  /** The first reference of a new destination. It changes each time. */
  #start: number;

  /** `count` is 256 for references of 8 bits and 65,536 for references of 16 bits. */
  constructor(start: number, count: number) {
    this.#start = start;
    this.#count = count;
  }

  next(destination: string): number {
    const reference = this.#next.get(destination) ?? this.#start++ % this.#count;
    this.#next.delete(destination); // Moves to the end: the counter that was used longest ago is forgotten first.
    this.#next.set(destination, (reference + 1) % this.#count);
    if (this.#next.size > MAX_REFERENCES) {
      const [oldest] = this.#next.keys();
      if (oldest !== undefined) this.#next.delete(oldest);
    }
    return reference;
  }
}
