import { createHash } from 'node:crypto';
import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import type { InboundDocument, InboundPart } from '../../../shared/messages/inbound.ts';
import { type InboundId, newId } from '../../../shared/platform/runtime/ids.ts';
import { readUserData, type UserData } from './concatenation.ts';
import { type DefaultAlphabet, unpacked } from './text-codings.ts';

/** A deliver_sm of a handset, with its fields read. */
export interface Incoming extends UserData {
  readonly deliver: Deliver;
  /** Equal deliver_sm have equal fingerprints. */
  readonly fingerprint: string;
  /**
   * Equal for all parts of one message; absent for a whole message. It contains the sender, because two handsets may use the same
   * reference.
   */
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

export interface Stamp {
  readonly carrier: string;
  readonly at: Date;
  readonly alphabet: DefaultAlphabet;
  /** How long the parts of a message wait for its other parts. */
  readonly partsMs: number;
  /** The message that a part belongs to. Undefined for its first part. */
  readonly set: InboundId | undefined;
}

/** The document that is stored for a deliver_sm. */
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
