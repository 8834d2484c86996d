import { ascii, listOf, oneOf, type Shape, setting, type Values, whole } from './setting.ts';

/** Put on every submit_sm without change. */
export interface StaticTlv {
  readonly tag: number;
  readonly type: 'int1' | 'int2' | 'int4' | 'string' | 'cstring' | 'hex';
  readonly value: string;
}

const TLV_VALUES: Readonly<Record<StaticTlv['type'], RegExp>> = {
  int1: /^\d{1,3}$/,
  int2: /^\d{1,5}$/,
  int4: /^\d{1,10}$/,
  string: /^[\x20-\x2b\x2d-\x7e]{1,254}$/,
  cstring: /^[\x20-\x2b\x2d-\x7e]{0,253}$/,
  hex: /^([0-9a-f]{2}){1,254}$/i,
};
const TLV_MOST: Readonly<Record<string, number>> = { int1: 0xff, int2: 0xffff, int4: 0xffff_ffff };
/** Set by our own code: sar_* and message_payload (SMPP 3.4 §5.3.2). */
const OWN_TAGS: ReadonlySet<number> = new Set([0x020c, 0x020e, 0x020f, 0x0424]);

const staticTlv: Shape<StaticTlv> = {
  value: 'TAG:TYPE:VALUE',
  form: `like 0x1403:string:40410, of the types ${Object.keys(TLV_VALUES).join(', ')}; not those of long texts (sar_*, message_payload)`,
  parse: (text) => {
    const [, digits, word, value = ''] = /^0x([0-9a-f]{4}):([a-z0-9]+):(.*)$/i.exec(text) ?? [];
    const [type, pattern] = Object.entries(TLV_VALUES).find(([name]) => name === word) ?? [];
    if (digits === undefined || type === undefined || pattern === undefined) return undefined;
    const tag = Number.parseInt(digits, 16);
    if (OWN_TAGS.has(tag) || !pattern.test(value) || Number(value) > (TLV_MOST[type] ?? Infinity)) return undefined;
    return { tag, type: type as StaticTlv['type'], value }; // a key of the table
  },
  show: ({ tag, type, value }) => `0x${tag.toString(16).padStart(4, '0')}:${type}:${value}`,
};

const MAX_TLVS = 20;
/** From otp to promotional within its hours (shared/messages/document/message.ts). */
const LANES = 5;

const priorities: Shape<readonly number[]> = {
  value: 'N,N,N,N,N',
  form: `${LANES} numbers from 0 to 9 with commas: otp, transactional, low, promotional, promotional under DLT`,
  parse: (text) => (/^\d(,\d){4}$/.test(text) ? text.split(',').map(Number) : undefined),
  show: (values) => values.join(','),
};

/** The other fields of submit_sm, and the version of SMPP, which decides which fields exist. */
export const SUBMITS = {
  interfaceVersion: setting(
    oneOf(['3.3', '3.4', '5.0']),
    '3.4',
    'interface_version of the bind; with 3.3 no TLV is sent',
  ),
  serviceType: setting(ascii('TYPE', 0, 5), '', 'service_type'),
  validity: setting(
    oneOf(['relative', 'absolute', 'none']),
    'relative',
    'form of validity_period; with none the carrier’s own validity counts',
  ),
  receiptsFor: setting(
    oneOf(['all', 'first', 'last', 'none']),
    'all',
    'the segments of a message that ask for a receipt',
  ),
  registeredDelivery: setting(whole('N', 0, 63), 1, 'registered_delivery of those: 1 all ends, 2 failures, +16 steps'),
  priorities: setting(priorities, [0, 0, 0, 0, 0], 'the priority_flag of each priority'),
  messagingMode: setting(whole('N', 0, 3), 0, 'mode bits of esm_class: 0 the carrier’s own, 3 store and forward'),
  tlvs: setting(listOf(staticTlv, MAX_TLVS), [], 'TLVs that go on every submit_sm'),
};

export type SubmitSettings = Values<typeof SUBMITS>;
