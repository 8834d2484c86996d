import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { ADDRESSES, type AddressSettings } from '../../../shared/carriers/settings/addresses.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { type StaticTlv, SUBMITS, type SubmitSettings } from '../../../shared/carriers/settings/submits.ts';
import { TEXTS, type TextSettings } from '../../../shared/carriers/settings/texts.ts';
import type { Tlv } from '../../../shared/carriers/smpp/submit-sm.ts';

/** How one carrier wants its submit_sm, with all defaults filled in. Made once and used for every message. */
export interface CarrierForm {
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

/** Encodes a value as in SMPP 3.4 §3.1: integers are big-endian, and a C-octet string ends with a NUL. */
function octetsOf(type: StaticTlv['type'], value: string): Buffer {
  const octets = INTEGER_OCTETS[type];
  if (octets !== undefined) {
    const integer = Buffer.alloc(octets);
    integer.writeUIntBE(Number(value), 0, octets);
    return integer;
  }
  return type === 'hex' ? Buffer.from(value, 'hex') : Buffer.from(type === 'cstring' ? `${value}\0` : value, 'latin1');
}
