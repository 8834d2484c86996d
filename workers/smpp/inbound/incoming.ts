import { createHash } from 'node:crypto';
import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import type { InboundDocument, InboundPart } from '../../../shared/messages/inbound.ts';
import { type InboundId, newId } from '../../../shared/platform/runtime/ids.ts';
import type { Shift } from './national-tables.ts';
import { type DefaultAlphabet, unpacked } from './whole-text.ts';

export interface Incoming extends UserData {
  readonly deliver: Deliver;
  readonly fingerprint: string;
  /** Equal for all parts of a message; absent for a whole one. Two handsets may use the same reference. */
  readonly partsKey?: string;
}

export function readIncoming(deliver: Deliver): Incoming {
  const data = readUserData(deliver);
  const { from, to, esmClass, dataCoding, body, sar } = deliver;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([from, to, esmClass, dataCoding, sar]))
    .update(body)
    .digest('base64url')
    .slice(0, 22);
  const { concatenation } = data;
  if (concatenation === undefined) return { ...data, deliver, fingerprint };
  const { kind, reference, total } = concatenation;
  return { ...data, deliver, fingerprint, partsKey: JSON.stringify([from, to, kind, reference, total]) };
}

interface Stamp {
  readonly carrier: string;
  readonly at: Date;
  readonly alphabet: DefaultAlphabet;
  readonly partsMs: number;
  /** The message that a part belongs to. Undefined for its first part. */
  readonly set: InboundId | undefined;
}

export function documentOf(incoming: Incoming, { carrier, at, alphabet, partsMs, set }: Stamp): InboundDocument {
  const { deliver, headerOctets, octets, shift, fingerprint } = incoming;
  const { from, fromTon = 0, to, dataCoding } = deliver;
  const _id = newId('inb', at.getTime());
  const part = partOf(incoming, set ?? _id);
  const isEnd = part === undefined || part.number === part.total;
  return {
    ...{ _id, carrier, at, from, fromTon, to, dataCoding },
    octets: unpacked(octets, { headerOctets, isEnd, dataCoding }, alphabet).toString('base64'),
    ...(shift === undefined ? {} : { shift }),
    ...(part === undefined ? {} : { part }),
    fingerprint,
    due: part === undefined ? at : new Date(at.getTime() + partsMs),
  };
}

function partOf({ concatenation, partsKey: key }: Incoming, set: InboundId): InboundPart | undefined {
  if (concatenation === undefined || key === undefined) return undefined;
  return { set, key, number: concatenation.number, total: concatenation.total };
}

/** `kind` separates references of 8 and 16 bits, which may have the same value. */
interface Concatenation {
  readonly kind: 'udh8' | 'udh16' | 'sar';
  readonly reference: number;
  readonly total: number;
  /** 1 for the first part. */
  readonly number: number;
}

interface UserData {
  /** Octets of the header, its length octet included. 0 if there is no header. */
  readonly headerOctets: number;
  readonly octets: Buffer;
  readonly concatenation?: Concatenation;
  readonly shift?: Shift;
}

/** The bit of esm_class that announces a user data header (SMPP 3.4 §5.2.12). */
const UDH_INDICATOR = 0x40;
/** The information elements for parts, with references of 8 and 16 bits (3GPP TS 23.040 §9.2.3.24.1 and .8). */
const CONCATENATED_8 = 0x00;
const CONCATENATED_16 = 0x08;
/** The information elements that name national language tables (§9.2.3.24.15 and .16). */
const SINGLE_SHIFT = 0x24;
const LOCKING_SHIFT = 0x25;

/**
 * Removes the user data header. Finds which part of a message this is, by the header or the sar_ parameters, and its
 * language tables. Other elements (ports) may come first. A header that does not fit is treated as text. Pure.
 */
function readUserData({ esmClass, body, sar }: Pick<Deliver, 'esmClass' | 'body' | 'sar'>): UserData {
  const headerOctets = (esmClass & UDH_INDICATOR) === 0 ? 0 : 1 + (body[0] ?? body.length);
  const ofSar = sar === undefined ? undefined : valid({ kind: 'sar', ...sar });
  if (headerOctets === 0 || headerOctets > body.length) {
    return { headerOctets: 0, octets: body, ...(ofSar === undefined ? {} : { concatenation: ofSar }) };
  }
  const { concatenation = ofSar, ...more } = readHeader(body.subarray(1, headerOctets));
  const octets = body.subarray(headerOctets);
  return { headerOctets, octets, ...(concatenation === undefined ? {} : { concatenation }), ...more };
}

/** An element is identifier, length and data (3GPP TS 23.040 §9.2.3.24). The last one of a kind counts. */
function readHeader(header: Buffer): Pick<UserData, 'concatenation' | 'shift'> {
  let concatenation: Concatenation | undefined;
  let shift: Shift | undefined;
  for (let at = 0; at + 1 < header.length; ) {
    const [identifier, length = 0] = header.subarray(at, at + 2);
    const data = header.subarray(at + 2, at + 2 + length);
    concatenation = concatenationIn(identifier, data) ?? concatenation;
    const [language] = data;
    if (language !== undefined && data.length === 1) {
      if (identifier === SINGLE_SHIFT) shift = { ...shift, single: language };
      if (identifier === LOCKING_SHIFT) shift = { ...shift, locking: language };
    }
    at += 2 + length;
  }
  return { ...(concatenation === undefined ? {} : { concatenation }), ...(shift === undefined ? {} : { shift }) };
}

function concatenationIn(identifier: number | undefined, data: Buffer): Concatenation | undefined {
  if (identifier === CONCATENATED_8 && data.length === 3) {
    return valid({ kind: 'udh8', reference: data.readUInt8(0), total: data.readUInt8(1), number: data.readUInt8(2) });
  }
  if (identifier === CONCATENATED_16 && data.length === 4) {
    return valid({
      kind: 'udh16',
      reference: data.readUInt16BE(0),
      total: data.readUInt8(2),
      number: data.readUInt8(3),
    });
  }
  return undefined;
}

/** A part number of 0 or above the total must be ignored (§9.2.3.24.1). Part one of one is a whole message. */
function valid(part: Concatenation): Concatenation | undefined {
  return part.total > 1 && part.number >= 1 && part.number <= part.total ? part : undefined;
}
