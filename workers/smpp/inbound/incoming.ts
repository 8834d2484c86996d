import { createHash } from 'node:crypto';
import type { InboundDocument, InboundPart } from '../../../shared/inbound/inbound.ts';
import { type InboundId, newId } from '../../../shared/runtime/ids.ts';
import type { Deliver } from '../session/pdu.ts';
import { readUserData, type UserData } from './concatenation.ts';
import { type DefaultAlphabet, unpacked } from './text-codings.ts';

/** A handset's deliver_sm, read. */
export interface Incoming extends UserData {
  readonly deliver: Deliver;
  /** Equal for equal deliver_sm. */
  readonly fingerprint: string;
  /** Of a part: equal for the parts of one message. The sender is in it: two handsets use the same references. */
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
  /** How long parts of a message wait for the others. */
  readonly partsMs: number;
  /** Of a part: the set that it belongs to; undefined when it is the first one that came. */
  readonly set: InboundId | undefined;
}

/** What is stored of it. */
export function documentOf(incoming: Incoming, { carrier, at, alphabet, partsMs, set }: Stamp): InboundDocument {
  const { deliver, headerOctets, octets, fingerprint } = incoming;
  const { from, fromTon = 0, to, dataCoding } = deliver;
  const _id = newId('inb', at.getTime());
  const part = partOf(incoming, set ?? _id);
  const isEnd = part === undefined || part.number === part.total;
  return {
    ...{ _id, carrier, at, from, fromTon, to, dataCoding },
    octets: unpacked(octets, { headerOctets, isEnd, dataCoding }, alphabet).toString('base64'),
    ...(part === undefined ? {} : { part }),
    fingerprint,
    due: part === undefined ? at : new Date(at.getTime() + partsMs),
  };
}

function partOf({ concatenation, partsKey: key }: Incoming, set: InboundId): InboundPart | undefined {
  if (concatenation === undefined || key === undefined) return undefined;
  return { set, key, number: concatenation.number, total: concatenation.total };
}
