import { TAG } from '../smpp/pdu.ts';
import { encodeGsm7, encodeUcs2, fitsGsm7 } from '../smpp/text.ts';
import type { MobileOriginated } from './mailboxes.ts';

/** Encodings of a phone's text, each with a data_coding (SMPP 3.4 §5.2.19). `packed`: GSM septets as on air. */
const CODINGS = ['gsm', 'packed', 'latin1', 'ascii', 'ucs2', 'binary'] as const;
export type Coding = (typeof CODINGS)[number];

/**
 * Forms of a long text. `udh8`, `udh16`: parts with an 8-bit or 16-bit reference in their header. `sar`: parts with
 * sar_ parameters. `payload`: one message_payload.
 */
const SPLITS = ['udh8', 'udh16', 'sar', 'payload'] as const;
export type Split = (typeof SPLITS)[number];

export interface PhoneText {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** Default: GSM if it has all characters of the text, otherwise UCS-2. */
  readonly coding?: Coding | undefined;
  readonly split?: Split | undefined;
  /** The parts' common reference. Default: random. */
  readonly reference?: number | undefined;
  /** Information elements before the one with the reference, such as ports. */
  readonly elements?: Buffer | undefined;
  readonly systemId?: string | undefined;
}

const DATA_CODING: Readonly<Record<Coding, number>> = { gsm: 0, packed: 0, latin1: 3, ascii: 1, ucs2: 8, binary: 4 };
/** Octets of user data in one SMS, or as many septets as fit in them (3GPP TS 23.040 §9.2.3.24). */
const USER_DATA_OCTETS = 140;
const UDH_INDICATOR = 0x40;

/** The deliver_sm of a text in order. A long text is cut where a part is full, even inside a character. */
export function phoneParts(message: PhoneText): MobileOriginated[] {
  const { from, to, text, split = 'udh8', reference = Math.floor(Math.random() * 256), elements, systemId } = message;
  const coding = message.coding ?? (fitsGsm7(text) ? 'gsm' : 'ucs2');
  const base = { from, to, dataCoding: DATA_CODING[coding], ...(systemId === undefined ? {} : { systemId }) };
  const units = encode(text, coding);
  const isSeptets = coding === 'gsm' || coding === 'packed';
  const most = (headerOctets: number): number =>
    isSeptets ? Math.floor(((USER_DATA_OCTETS - headerOctets) * 8) / 7) : USER_DATA_OCTETS - headerOctets;
  const written = (part: Buffer, headerOctets: number): Buffer =>
    coding === 'packed' ? pack(part, headerOctets) : part;
  if (split === 'payload' || units.length <= most(0)) return [{ ...base, userData: written(units, 0) }];
  if (split === 'sar') {
    const parts = cut(units, most(0));
    return parts.map((part, i) => ({ ...base, userData: written(part, 0), tlvs: sar(reference, parts.length, i + 1) }));
  }
  const headerOctets = header(split, reference, 1, 1, elements).length;
  const parts = cut(units, most(headerOctets));
  return parts.map((part, i) => ({
    ...base,
    esmClass: UDH_INDICATOR,
    userData: Buffer.concat([header(split, reference, parts.length, i + 1, elements), written(part, headerOctets)]),
  }));
}

function encode(text: string, coding: Coding): Buffer {
  switch (coding) {
    case 'gsm':
    case 'packed':
      return encodeGsm7(text);
    case 'ucs2':
      return encodeUcs2(text);
    case 'binary':
      return Buffer.from(text, 'hex');
    default:
      return Buffer.from(text, 'latin1');
  }
}

function cut(units: Buffer, most: number): Buffer[] {
  return Array.from({ length: Math.ceil(units.length / most) }, (_, i) => units.subarray(i * most, (i + 1) * most));
}

function header(
  split: 'udh8' | 'udh16',
  reference: number,
  total: number,
  part: number,
  before: Buffer = Buffer.alloc(0),
): Buffer {
  const own =
    split === 'udh8'
      ? Buffer.from([0x00, 3, reference & 0xff, total, part])
      : Buffer.from([0x08, 4, (reference >> 8) & 0xff, reference & 0xff, total, part]);
  return Buffer.concat([Buffer.from([before.length + own.length]), before, own]);
}

function sar(reference: number, total: number, part: number): ReadonlyMap<number, Buffer> {
  return new Map([
    [TAG.sarReference, Buffer.from([(reference >> 8) & 0xff, reference & 0xff])],
    [TAG.sarTotal, Buffer.from([total])],
    [TAG.sarSequence, Buffer.from([part])],
  ]);
}

/** Packs septets, lowest bits first (3GPP TS 23.038 §6.1.2.1). After a header, fill bits come first. */
function pack(septets: Buffer, headerOctets: number): Buffer {
  const fill = (7 - ((headerOctets * 8) % 7)) % 7;
  const packed = Buffer.alloc(Math.ceil((fill + septets.length * 7) / 8));
  septets.forEach((septet, i) => {
    for (let bit = 0; bit < 7; bit++) {
      const at = fill + i * 7 + bit;
      if ((septet >> bit) & 1) packed[at >> 3] = (packed[at >> 3] ?? 0) | (1 << (at & 7));
    }
  });
  return packed;
}

/** `POST /smsc/says?from=…&to=…`: a phone sends the body's text to one of our numbers, `repeat` times. */
export function phoneSays(smsc: { sendMo(message: MobileOriginated): void }, url: URL, text: string): object {
  const { searchParams } = url;
  const from = searchParams.get('from') ?? '';
  const to = searchParams.get('to') ?? '';
  const coding = CODINGS.find((one) => one === searchParams.get('coding'));
  const split = SPLITS.find((one) => one === searchParams.get('split'));
  const repeat = Number(searchParams.get('repeat') ?? 1);
  if (from === '' || to === '') throw new RangeError('say ?from=<phone>&to=<your number>');
  if (coding === undefined && searchParams.has('coding'))
    throw new RangeError(`coding is one of ${CODINGS.join(', ')}`);
  if (split === undefined && searchParams.has('split')) throw new RangeError(`split is one of ${SPLITS.join(', ')}`);
  if (!(repeat >= 1 && repeat <= 100_000)) throw new RangeError('repeat is 1 to 100000');
  let sent = 0;
  for (let i = 0; i < repeat; i++) {
    const parts = phoneParts({ from, to, text, coding, split });
    for (const part of parts) smsc.sendMo(part);
    sent += parts.length;
  }
  return { deliver_sm: sent };
}
