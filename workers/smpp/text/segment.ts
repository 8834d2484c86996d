import { type Encoding, planSegments, type TextForm, USUAL, withoutMark } from '../../../shared/messages/sms-plan.ts';
import { writeSeptets } from './septets.ts';

export interface SegmentedText {
  readonly encoding: Encoding;
  readonly units: number;
  /** The user data of each segment, without its header: unpacked GSM octets, octets of the carrier's alphabet, or UTF-16BE. */
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
