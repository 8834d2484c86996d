import { septetsOf, writeSeptets } from './gsm7.ts';

/** GSM7: the GSM 03.38 default alphabet and its extension table, one octet each; UCS2: UTF-16BE. 3GPP TS 23.038. */
export type Encoding = 'GSM7' | 'UCS2';

/**
 * What one short message holds, in units (septets, or UTF-16 code units): alone, and as one of several, where the
 * concatenation header with an 8-bit reference takes 6 of the 140 octets (3GPP TS 23.040 §9.2.3.24.1).
 */
const CAPACITY = {
  GSM7: { alone: 160, joined: 153 },
  UCS2: { alone: 70, joined: 67 },
} as const satisfies Record<Encoding, { alone: number; joined: number }>;

export interface TextPlan {
  readonly encoding: Encoding;
  /** Septets (an extension character counts two) or UTF-16 code units. */
  readonly units: number;
  readonly segments: number;
}

export interface SegmentedText {
  readonly encoding: Encoding;
  readonly units: number;
  /** User data of each segment without its header: unpacked GSM octets or UTF-16BE. */
  readonly segments: readonly Buffer[];
}

/**
 * How a text will be sent, without encoding it: what the gateway needs to accept a message. An empty text is one segment.
 * Segments are filled greedily with whole characters. ESC + character and surrogate pairs are never split, so the end of a
 * segment may stay unused.
 */
export function planText(text: string): TextPlan {
  const septets = countSeptets(text);
  if (septets === undefined) {
    return { encoding: 'UCS2', units: text.length, segments: countSegments(text, 'UCS2', text.length) };
  }
  return { encoding: 'GSM7', units: septets, segments: countSegments(text, 'GSM7', septets) };
}

/** The octets of a text, segment by segment; the same rules and counts as `planText`. */
export function segmentText(text: string): SegmentedText {
  const { encoding, units } = planText(text);
  const ends = segmentEnds(text, encoding, units);
  const segments: Buffer[] = [];
  let start = 0;
  for (const end of ends) {
    segments.push(encoding === 'GSM7' ? gsmOctets(text, start, end) : ucs2Octets(text, start, end));
    start = end;
  }
  return { encoding, units, segments };
}

/** Undefined when a character is not in the alphabet. */
function countSeptets(text: string): number | undefined {
  let total = 0;
  for (let i = 0; i < text.length; i++) {
    const septets = septetsOf(text.charCodeAt(i));
    if (septets === 0) return undefined;
    total += septets;
  }
  return total;
}

function countSegments(text: string, encoding: Encoding, units: number): number {
  if (units <= CAPACITY[encoding].alone) return 1;
  let segments = 0;
  for (let start = 0; start < text.length; segments++) start = endOfSegment(text, encoding, start);
  return segments;
}

/** Index after each segment's last code unit. */
function segmentEnds(text: string, encoding: Encoding, units: number): number[] {
  if (units <= CAPACITY[encoding].alone) return [text.length];
  const ends: number[] = [];
  for (let start = 0; start < text.length; ) {
    start = endOfSegment(text, encoding, start);
    ends.push(start);
  }
  return ends;
}

function endOfSegment(text: string, encoding: Encoding, start: number): number {
  const capacity = CAPACITY[encoding].joined;
  if (encoding === 'UCS2') {
    const end = start + capacity;
    if (end >= text.length) return text.length;
    return isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end;
  }
  let used = 0;
  let end = start;
  for (; end < text.length; end++) {
    used += septetsOf(text.charCodeAt(end));
    if (used > capacity) break;
  }
  return end;
}

function isHighSurrogate(codeUnit: number): boolean {
  return (codeUnit & 0xfc00) === 0xd800;
}

function isLowSurrogate(codeUnit: number): boolean {
  return (codeUnit & 0xfc00) === 0xdc00;
}

function gsmOctets(text: string, start: number, end: number): Buffer {
  const octets = Buffer.allocUnsafe(2 * (end - start));
  let length = 0;
  for (let i = start; i < end; i++) length = writeSeptets(text.charCodeAt(i), octets, length);
  return octets.subarray(0, length);
}

function ucs2Octets(text: string, start: number, end: number): Buffer {
  return Buffer.from(text.slice(start, end), 'utf16le').swap16();
}
