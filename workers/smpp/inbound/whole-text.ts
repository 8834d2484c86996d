import type { InboundContent } from '../../../shared/messages/document/chat-message.ts';
import { ESC } from '../../../shared/messages/sms-plan.ts';
import type { InboundId } from '../../../shared/platform/runtime/ids.ts';
import type { Arrival, PartSet } from './arrivals.ts';
import { type Shift, tablesOf } from './national-tables.ts';

export interface WholeText {
  /** The id of the first deliver_sm. The message's id derives from it. */
  readonly id: InboundId;
  readonly arrivals: readonly Arrival[];
  /** When the last part came, or when waiting for the other parts ended. */
  readonly at: Date;
  readonly content: InboundContent;
}

export function textOf(arrival: Arrival, alphabet: DefaultAlphabet): WholeText {
  const { _id: id, at } = arrival.document;
  return { id, arrivals: [arrival], at, content: contentOf([[arrival]], alphabet, {}) };
}

/** The text of the parts that came, in the order of their numbers. `missing_parts` lists parts that it lacks. */
export function joinedText({ id, parts, total }: PartSet, alphabet: DefaultAlphabet, at: Date): WholeText {
  const missing: number[] = [];
  const runs: Arrival[][] = [[]];
  for (let number = 1; number <= total; number++) {
    const part = parts.get(number);
    if (part !== undefined) runs.at(-1)?.push(part);
    else {
      missing.push(number);
      runs.push([]);
    }
  }
  const more = missing.length === 0 ? {} : { missing_parts: missing, total_parts: total };
  return { id, arrivals: [...parts.values()], at, content: contentOf(runs, alphabet, more) };
}

/** Octets that are not a readable text are given as base64, with the carrier's data_coding. */
function contentOf(
  runs: readonly (readonly Arrival[])[],
  alphabet: DefaultAlphabet,
  more: Readonly<Record<string, unknown>>,
): InboundContent {
  const arrivals = runs.flat();
  const written = { isWhole: runs.length === 1, isLittleEndian: arrivals.map(runOf).some(isLittleEndianMarked) };
  const decoded = runs.map((run) => decodeRun(run, written, alphabet));
  if (decoded.every((text) => text !== undefined)) {
    const body = decoded.join('');
    return { type: 'text', body, ...(Object.keys(more).length === 0 ? {} : { more }) };
  }
  const octets = Buffer.concat(arrivals.map((part) => runOf(part).octets));
  const codings = [...new Set(arrivals.map(({ document }) => document.dataCoding))];
  const dataCoding = codings.length === 1 ? codings[0] : codings;
  return { type: 'binary', body: octets.toString('base64'), more: { data_coding: dataCoding, ...more } };
}

/** Decodes parts of the same coding together, and all others separately. */
function decodeRun(
  run: readonly Arrival[],
  written: Omit<Written, 'dataCoding'>,
  alphabet: DefaultAlphabet,
): string | undefined {
  const [first] = run;
  if (first === undefined) return '';
  const { dataCoding } = first.document;
  if (run.every(({ document }) => document.dataCoding === dataCoding)) {
    return decodeText(run.map(runOf), { ...written, dataCoding }, alphabet);
  }
  const texts = run.map((part) =>
    decodeText([runOf(part)], { ...written, isWhole: false, dataCoding: part.document.dataCoding }, alphabet),
  );
  return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
}

function runOf({ document: { octets, shift } }: Arrival): SeptetRun {
  return { octets: Buffer.from(octets, 'base64'), shift };
}

/** The alphabets that carriers use for data_coding 0. `gsm-packed` has eight septets in seven octets. */
export type DefaultAlphabet = 'gsm' | 'gsm-packed' | 'latin1' | 'ascii';

/** `gsm`: unpacked GSM. `binary`: not a text. The others are names of the Encoding Standard. */
type Reading = 'gsm' | 'binary' | (typeof ENCODINGS)[number];

const ENCODINGS = [
  'ascii',
  'latin1',
  'utf-16be',
  'iso-2022-jp',
  'iso-8859-5',
  'iso-8859-8',
  'shift_jis',
  'euc-kr',
] as const;

/** Values of data_coding below 0x10 (SMPP 3.4 §5.2.19). 2 and 4 are octets. 13 (JIS X 0212) has no decoder here. */
const CODINGS: Readonly<Record<number, Reading>> = {
  1: 'ascii',
  3: 'latin1',
  5: 'iso-2022-jp',
  6: 'iso-8859-5',
  7: 'iso-8859-8',
  8: 'utf-16be',
  9: 'shift_jis',
  10: 'iso-2022-jp',
  14: 'euc-kr',
};

const CR = 0x0d;

interface Written {
  readonly dataCoding: number;
  readonly isWhole: boolean;
  /** A part of the text begins with the byte order mark FF FE. */
  readonly isLittleEndian: boolean;
}

/** The text of these parts, which have the same data_coding. Undefined when we cannot decode them as a text. */
function decodeText(
  parts: readonly SeptetRun[],
  { dataCoding, isWhole, isLittleEndian }: Written,
  alphabet: DefaultAlphabet,
): string | undefined {
  const told = readingOf(dataCoding, alphabet);
  // Language tables are for septets, whatever else the carrier writes with such a data_coding.
  const hasTables = parts.some(({ shift }) => shift !== undefined);
  const reading = hasTables && (told === 'latin1' || told === 'ascii') ? 'gsm' : told;
  if (reading === 'binary') return undefined;
  // GSM and ASCII do not have these octets, and no other text begins with them.
  if (reading === 'utf-16be' || parts.some(isMarked)) return decodeUtf16(parts, isWhole, isLittleEndian);
  if (reading === 'gsm') return readSeptets(parts);
  const octets = Buffer.concat(parts.map(({ octets }) => octets));
  // ASCII has no characters above 127. Carriers that use such octets mean Latin-1.
  if (reading === 'latin1' || reading === 'ascii') return octets.toString('latin1');
  const text = new TextDecoder(reading).decode(octets);
  return isWhole && text.includes(UNREADABLE) ? undefined : text;
}

/** Stands for octets or septets that are no character of their alphabet. */
const UNREADABLE = '\ufffd';

/**
 * Octets are joined first, because a character may be split between two parts. Undefined when a whole text is no
 * UTF-16, or has a noncharacter (U+FFFE is a byte order mark of the other order). But half a character at the end was
 * cut off, as handsets do with emoji: that is no reason to lose the text.
 */
function decodeUtf16(parts: readonly SeptetRun[], isWhole: boolean, isLittleEndian: boolean): string | undefined {
  const octets = Buffer.concat(parts.map((part) => part.octets.subarray(isMarked(part) ? 2 : 0)));
  if (isWhole && octets.length % 2 === 1) return undefined;
  const even = octets.subarray(0, octets.length & ~1);
  const text = (isLittleEndian ? even : Buffer.from(even).swap16()).toString('utf16le');
  const uncut = text.replace(/[\ud800-\udbff]$/, '');
  if (/\p{Noncharacter_Code_Point}/u.test(text) || (isWhole && /\p{Surrogate}/u.test(uncut))) return undefined;
  return text.replaceAll(/\p{Surrogate}/gu, UNREADABLE);
}

function isLittleEndianMarked({ octets }: SeptetRun): boolean {
  return octets[0] === 0xff && octets[1] === 0xfe;
}

function isMarked(part: SeptetRun): boolean {
  return isLittleEndianMarked(part) || (part.octets[0] === 0xfe && part.octets[1] === 0xff);
}

/**
 * One septet per octet if the carrier packs septets (3GPP TS 23.038 §6.1.2.1), else the octets unchanged. After a
 * header, the first septet begins at the next multiple of seven bits (TS 23.040 §9.2.3.24). `isEnd`: no part follows.
 */
export function unpacked(
  octets: Buffer,
  {
    headerOctets,
    isEnd,
    dataCoding,
  }: { readonly headerOctets: number; readonly isEnd: boolean; readonly dataCoding: number },
  alphabet: DefaultAlphabet,
): Buffer {
  if (alphabet !== 'gsm-packed' || readingOf(dataCoding, alphabet) !== 'gsm') return octets;
  const fillBits = (7 - ((headerOctets * 8) % 7)) % 7;
  const count = Math.max(Math.floor((octets.length * 8 - fillBits) / 7), 0);
  const septets = Buffer.alloc(count);
  for (let i = 0; i < count; i++) {
    const bit = fillBits + i * 7;
    const two = (octets[bit >> 3] ?? 0) | ((octets[(bit >> 3) + 1] ?? 0) << 8);
    septets[i] = (two >> (bit & 7)) & 0x7f;
  }
  // Seven bits left over at the end look like one more character: @, or the carriage return of TS 23.038 §6.1.2.3.1.
  const last = octets.length * 8 - fillBits === count * 7 ? septets[count - 1] : undefined;
  const isFilled = isEnd && (last === 0 || last === CR);
  return isFilled ? septets.subarray(0, -1) : septets;
}

function readingOf(dataCoding: number, alphabet: DefaultAlphabet): Reading {
  if (dataCoding === 0) return alphabet === 'gsm-packed' ? 'gsm' : alphabet;
  return CODINGS[dataCoding] ?? byGroup(dataCoding);
}

/** The coding groups of 3GPP TS 23.038 §4, for values that SMPP leaves to the network. */
function byGroup(dataCoding: number): Reading {
  if (dataCoding < 0x10) return 'binary';
  if (dataCoding >= 0xf0) return (dataCoding & 0x04) === 0 ? 'gsm' : 'binary';
  if (dataCoding >= 0xe0) return 'utf-16be';
  if (dataCoding >= 0xc0) return 'gsm';
  const isCompressed = (dataCoding & 0x20) !== 0;
  if (dataCoding >= 0x80 || isCompressed) return 'binary';
  const alphabets: readonly Reading[] = ['gsm', 'binary', 'utf-16be', 'binary'];
  return alphabets[(dataCoding >> 2) & 3] ?? 'binary';
}

interface SeptetRun {
  /** One septet in each octet. */
  readonly octets: Buffer;
  readonly shift?: Shift | undefined;
}

/**
 * Each part has the tables of its own header (3GPP TS 23.038 §6.2.1.2.3). An extension that the table lacks is read as
 * the alphabet's character with its code (§6.2.1.1). The character after an escape may be in the next part. Undefined
 * when a needed table is unknown, or an octet is no septet: then it is no text of this alphabet.
 */
export function readSeptets(parts: readonly SeptetRun[]): string | undefined {
  let text = '';
  let isEscaped = false;
  for (const { octets, shift = {} } of parts) {
    const tables = tablesOf(shift);
    if (tables === undefined) return undefined;
    for (const code of octets) {
      if (code > 0x7f) return undefined;
      if (code === ESC && !isEscaped) {
        isEscaped = true;
        continue;
      }
      if (isEscaped && tables.extension === undefined) return undefined;
      const extended = isEscaped ? tables.extension?.get(code) : undefined;
      text += extended ?? tables.alphabet.get(code) ?? (code === ESC ? ' ' : UNREADABLE);
      isEscaped = false;
    }
  }
  return isEscaped ? `${text} ` : text;
}
