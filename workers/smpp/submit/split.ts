import type { TextSettings } from '../../../shared/carriers/settings/texts.ts';
import type { SubmitFields, Tlv } from '../../../shared/carriers/smpp/submit-sm.ts';
import {
  type Encoding,
  ESC,
  EXTENDED,
  gsmCode,
  planSegments,
  planText,
  type TextForm,
  USUAL,
  withoutMark,
} from '../../../shared/messages/sms-plan.ts';

/** The fields of a submit_sm that hold its text and join it to the other segments. */
type SegmentFields = Pick<SubmitFields, 'esm_class' | 'data_coding' | 'short_message' | 'tlvs'>;

/** Says that the short message begins with a user data header (SMPP 3.4 §5.2.12). */
const ESM_CLASS_UDHI = 0x40;
/** The tags are defined in SMPP 3.4 §5.3.2.22 to §5.3.2.24 and §5.3.2.32. */
const TAG = { sarReference: 0x020c, sarTotal: 0x020e, sarNumber: 0x020f, messagePayload: 0x0424 } as const;
/** With `sar` the carrier makes the header, with an 8-bit reference. Jasmin counts its octets in the same way. */
const HEADER_OCTETS = { udh8: 6, udh16: 7, sar: 6, payload: 'none' } as const satisfies Record<
  TextSettings['longText'],
  6 | 7 | 'none'
>;

export function textForm({ alphabet, longText }: TextSettings): TextForm {
  return { header: HEADER_OCTETS[longText], alphabet: alphabet === 'gsm-packed' ? 'gsm' : alphabet };
}

/**
 * Encodes a text in the carrier's alphabet, or else in UCS-2, then splits and joins it in the carrier's way.
 * `reference` is called only if there are several segments. A text that needs UCS-2 here and was counted with GSM may
 * have more segments than were counted.
 */
export function splitText(
  text: string,
  settings: TextSettings,
  reference: () => number,
): { readonly encoding: Encoding; readonly segments: readonly SegmentFields[] } {
  const { alphabet, longText } = settings;
  const packed = alphabet === 'gsm-packed';
  const { encoding, units, segments } = segmentText(text, textForm(settings));
  const data_coding = encoding === 'GSM7' ? settings.textCoding : settings.unicodeCoding;
  const octets = (segment: Buffer, header = 0): Buffer =>
    packed && encoding === 'GSM7' ? packSeptets(segment, header) : segment;
  const [only] = segments;
  if (only !== undefined && segments.length === 1) {
    return { encoding, segments: [{ data_coding, ...alone(octets(only), units > RADIO_UNITS[encoding]) }] };
  }
  const joint = reference();
  return {
    encoding,
    segments: segments.map((segment, i) => {
      const place = { reference: joint, total: segments.length, number: i + 1 };
      if (longText === 'sar') {
        return { data_coding, esm_class: 0, short_message: octets(segment), tlvs: sarTlvs(place) };
      }
      const header = longText === 'udh16' ? header16(place) : header8(place);
      const short_message = Buffer.concat([header, octets(segment, header.length)]);
      return { data_coding, esm_class: ESM_CLASS_UDHI, short_message };
    }),
  };
}

/** Here only a text for message_payload is longer than one radio message (3GPP TS 23.040 §9.2.3.16). */
const RADIO_UNITS = { GSM7: 160, UCS2: 70 } as const satisfies Record<Encoding, number>;

function alone(octets: Buffer, isLong: boolean): Omit<SegmentFields, 'data_coding'> {
  if (!isLong) return { esm_class: 0, short_message: octets };
  return { esm_class: 0, short_message: Buffer.alloc(0), tlvs: [{ tag: TAG.messagePayload, value: octets }] };
}

interface Place {
  readonly reference: number;
  readonly total: number;
  readonly number: number;
}

/** 3GPP TS 23.040 §9.2.3.24.1: header length 5, element 0, its length 3, 8-bit reference, total, number. */
function header8({ reference, total, number }: Place): Buffer {
  return Buffer.of(5, 0, 3, reference & 0xff, total, number);
}

/** 3GPP TS 23.040 §9.2.3.24.8: header length 6, element 8, its length 4, 16-bit reference, total, number. */
function header16({ reference, total, number }: Place): Buffer {
  return Buffer.of(6, 8, 4, reference >> 8, reference & 0xff, total, number);
}

function sarTlvs({ reference, total, number }: Place): readonly Tlv[] {
  return [
    { tag: TAG.sarReference, value: Buffer.of(reference >> 8, reference & 0xff) },
    { tag: TAG.sarTotal, value: Buffer.of(total) },
    { tag: TAG.sarNumber, value: Buffer.of(number) },
  ];
}

const CR = 0x0d;
/** The user data of a radio message, with its header (3GPP TS 23.040 §9.2.3.16). */
const MAX_OCTETS = 140;

/**
 * Packs septets, given one per octet, eight into seven octets (3GPP TS 23.038 §6.1.2.1). After a header of
 * `headerOctets` octets, fill bits come first, so that the text begins at a septet boundary (3GPP TS 23.040 §9.2.3.24).
 * If seven bits are left over at the end, a phone would show one more character, @: a carriage return fills them
 * instead, and shows nothing (§6.1.2.3.1). A carriage return of the text in the last bits of an octet is doubled, so
 * that it is not taken for filling; not in a full message, which has none.
 */
export function packSeptets(septets: Buffer, headerOctets: number): Buffer {
  const fillBits = (7 - ((headerOctets * 8) % 7)) % 7;
  const bits = fillBits + 7 * septets.length;
  const isFull = headerOctets + bits / 8 === MAX_OCTETS;
  const ends = bits % 8 === 1 || (bits % 8 === 0 && septets.at(-1) === CR && !isFull);
  const padded = ends && septets.length > 0 ? Buffer.concat([septets, Buffer.of(CR)]) : septets;
  const packed = Buffer.alloc(Math.ceil((fillBits + 7 * padded.length) / 8));
  for (const [i, septet] of padded.entries()) {
    const bit = fillBits + 7 * i;
    const shifted = septet << (bit % 8);
    packed[bit >> 3] = (packed[bit >> 3] ?? 0) | (shifted & 0xff);
    if (shifted > 0xff) packed[(bit >> 3) + 1] = shifted >> 8;
  }
  return packed;
}

interface SegmentedText {
  readonly encoding: Encoding;
  readonly units: number;
  /** Without its header: unpacked GSM octets, octets of the carrier's alphabet, or UTF-16BE. */
  readonly segments: readonly Buffer[];
}

/** The octets of a text, segment by segment. With the usual form, the same rules and counts as `planText`. */
export function segmentText(text: string, form: TextForm = USUAL): SegmentedText {
  const whole = withoutMark(text);
  const { encoding, units, ends } = planSegments(whole, form);
  const segments: Buffer[] = [];
  let start = 0;
  for (const end of ends) {
    segments.push(octetsOf(whole, start, end, encoding === 'UCS2' ? 'ucs2' : form.alphabet));
    start = end;
  }
  return { encoding, units, segments };
}

function octetsOf(text: string, start: number, end: number, alphabet: TextForm['alphabet'] | 'ucs2'): Buffer {
  if (alphabet === 'gsm') return gsmOctets(text, start, end);
  const piece = text.slice(start, end);
  return alphabet === 'ucs2' ? Buffer.from(piece, 'utf16le').swap16() : Buffer.from(piece, 'latin1');
}

function gsmOctets(text: string, start: number, end: number): Buffer {
  const octets = Buffer.allocUnsafe(2 * (end - start));
  let length = 0;
  for (let i = start; i < end; i++) length = writeSeptets(text.charCodeAt(i), octets, length);
  return octets.subarray(0, length);
}

/** Writes a code unit of the alphabet at `offset`; returns the offset after it. Check `septetsOf` first. */
function writeSeptets(codeUnit: number, into: Buffer, offset: number): number {
  const code = gsmCode(codeUnit);
  if (code < EXTENDED) {
    into[offset] = code;
    return offset + 1;
  }
  into[offset] = ESC;
  into[offset + 1] = code & 0x7f;
  return offset + 2;
}

/**
 * Characters that writing programs insert, with similar ones of the GSM alphabet, as in Twilio's Smart Encoding
 * (https://www.twilio.com/docs/messaging/services/smart-encoding-char-list). Without ZWJ and ZWNJ, because Indic
 * scripts and emoji need them.
 */
const SUBSTITUTES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "'": '‘’‚‛′`´',
    '"': '“”„‟″«»',
    '-': '–—‐‑‒―−•·',
    ' ': '\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\t',
    '...': '…',
    TM: '™',
    '(R)': '®',
    '(C)': '©',
    Rs: '₹',
    c: 'ç',
    a: 'áâã',
    e: 'êë',
    i: 'íîï',
    o: 'óôõ',
    u: 'úû',
    y: 'ýÿ',
    '': '\ufeff\u00ad\u200b',
  }).flatMap(([similar, characters]) => [...characters].map((character) => [character, similar] as const)),
);

/** If that avoids UCS-2 in the carrier's form. All or nothing: one character left over makes the text UCS-2 anyway. */
export function substituted(text: string, form: TextForm): string {
  if (planText(text).encoding === 'GSM7') return text;
  const similar = Array.from(text, (character) => SUBSTITUTES.get(character) ?? character).join('');
  // A text of zero-width characters only would become empty, and carriers refuse an empty text.
  return similar !== '' && segmentText(similar, form).encoding === 'GSM7' ? similar : text;
}
