import type { Db, Filter, FindCursor } from 'mongodb';
import { z } from 'zod';
import { type InboundDocument, listUnassigned, type UnassignedPlace } from '../../../shared/messages/inbound.ts';
import type { OrphanDocument } from '../../../shared/messages/settlement/message-log.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { InboundId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text, time } from '../../api/shapes.ts';
import { choice, optional, string, withDefault } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, pageOfFound } from '../../http/fields/query.ts';

/** Receipts that fit no message, and received SMS of no account. */

const UnmatchedReceipt = named('UnmatchedReceipt', 'A receipt that belongs to no message that is known.', {
  receipt_id: text(undefined, { example: 'airtel:3Jk2…' }),
  carrier_id: text(undefined, { example: 'airtel' }),
  at: time(undefined, '2026-11-22T13:00:00+00:00'),
  from: text(undefined, { example: '919876543210' }),
  to: text(undefined, { example: 'HARKRA' }),
  state: z.enum(['delivered', 'failed', 'expired', 'rejected']),
  error_code: text(undefined, { example: '000' }).nullable(),
  carrier_message_id: text(undefined, { example: '8a7b6c' }).nullable(),
  receipt: text(undefined, { example: 'id:8a7b6c sub:001 dlvrd:001 stat:DELIVRD err:000' }),
  expires_at: time(undefined, '2026-11-25T13:00:00+00:00'),
});

/** One that stays belongs to somebody else's message, or its submit was lost. */
export const unmatchedReceipts = endpoint({
  id: 'unmatchedReceipts',
  method: 'get',
  path: '/v2/admin/unmatched-receipts',
  tag: 'Operators',
  summary: 'Receipts that fit no message',
  description:
    'Extension. Of the last three days, newest first. Each is tried again when the answer with its id comes.',
  scopes: ['admin:read'],
  query: {
    carrier_id: optional(string({ description: 'Only of this carrier.' }, (text) => text)),
    limit,
    cursor: cursorOf('orphans', isOrphanPlace),
  },
  answer: pageShape('UnmatchedReceiptPage', UnmatchedReceipt),
  async handle({ db }, { query: { carrier_id: carrier, limit, cursor: after } }) {
    const found = await findOrphans(db, { carrier, after })
      .limit(limit + 1)
      .toArray();
    return pageOfFound('orphans', found, limit, orphanRecord, orphanPlace);
  },
});

/** Place in the list: expiry in milliseconds, and id. */
type OrphanPlace = `${number} ${string}`;

function isOrphanPlace(text: string): text is OrphanPlace {
  return /^\d{1,15} [\x21-\x7e]{1,80}$/.test(text);
}

export function orphanPlace({ expiresAt, _id }: OrphanDocument): OrphanPlace {
  return `${expiresAt.getTime()} ${_id}`;
}

/** Newest first: all live equally long, so the index of their expiry has the order of arrival. */
export function findOrphans(
  db: Db,
  { carrier, after }: { readonly carrier: string | undefined; readonly after: OrphanPlace | undefined },
): FindCursor<OrphanDocument> {
  const filter: Filter<OrphanDocument> = {
    ...(carrier === undefined ? {} : { carrier }),
    ...(after === undefined ? {} : behind(after)),
  };
  return db.collection<OrphanDocument>('orphans').find(filter).sort({ expiresAt: -1, _id: -1 });
}

/** `$lte` bounds the index; `$or` leaves out those of the same time that were shown. */
function behind(place: OrphanPlace): Filter<OrphanDocument> {
  const blank = place.indexOf(' ');
  const expiresAt = new Date(Number(place.slice(0, blank)));
  return {
    expiresAt: { $lte: expiresAt },
    $or: [{ expiresAt: { $lt: expiresAt } }, { _id: { $lt: place.slice(blank + 1) } }],
  };
}

function orphanRecord({
  _id,
  carrier,
  at,
  from,
  to,
  part,
  excerpt,
  keys,
  expiresAt,
}: OrphanDocument): Shown<typeof UnmatchedReceipt> {
  return {
    receipt_id: _id,
    carrier_id: carrier,
    at: isoTimestamp(at),
    from,
    to,
    state: part.state,
    error_code: part.error ?? null,
    carrier_message_id: keys[0]?.split(':').slice(1).join(':') ?? null,
    receipt: excerpt,
    expires_at: isoTimestamp(expiresAt),
  };
}

const UnassignedSms = z.strictObject({
  unassigned_id: text(undefined, { example: 'inb_01m7znjn7hdb5pft3awkb6pgvz' }),
  at: time(undefined, '2026-11-22T13:00:00+00:00'),
  carrier_id: text(undefined, { example: 'airtel' }),
  from: text(undefined, { example: '919876543210' }),
  to: text(undefined, { example: '919000000001' }),
  type: text(undefined, { example: 'text' }),
  text: text('Only with `text=yes`.').nullable(),
  expires_at: time(undefined, '2026-12-22T13:00:00+00:00'),
});

/** Customers wrote the texts, so they are shown on demand only. */
export const unassignedSms = endpoint({
  id: 'unassignedSms',
  method: 'get',
  path: '/v2/admin/unassigned-sms',
  tag: 'Operators',
  summary: 'Received SMS of nobody',
  description: 'Extension. Received SMS whose number belongs to no account, newest first.',
  scopes: ['admin:read'],
  query: {
    text: withDefault(choice(['yes', 'no'], '`yes`: with what customers wrote.'), 'no'),
    limit,
    cursor: cursorOf('unassigned', isUnassignedPlace),
  },
  answer: pageShape('UnassignedSmsPage', UnassignedSms),
  async handle({ db }, { query: { text, limit, cursor } }) {
    const found = await listUnassigned(db, limit + 1, cursor && placeOf(cursor));
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const data = page.flatMap((one) => unassignedRecord(one, text === 'yes'));
    return pageOf('unassigned', data, last && `${last.expiresAt?.getTime()} ${last._id}`);
  },
});

type UnassignedPlaceText = `${number} ${InboundId}`;

function isUnassignedPlace(text: string): text is UnassignedPlaceText {
  return /^\d{1,15} inb_[0-9a-z]{26}$/.test(text);
}

function placeOf(text: UnassignedPlaceText): UnassignedPlace {
  const [at, id] = text.split(' ');
  return { expiresAt: new Date(Number(at)), id: id as InboundId }; // isUnassignedPlace has looked
}

function unassignedRecord(
  { _id, at, carrier, unassigned, expiresAt }: InboundDocument,
  text: boolean,
): Shown<typeof UnassignedSms>[] {
  if (unassigned === undefined || expiresAt === undefined) return [];
  const { from, to, type, body } = unassigned;
  const about = { unassigned_id: _id, at: isoTimestamp(at), carrier_id: carrier, from, to, type };
  return [{ ...about, text: text ? body : null, expires_at: isoTimestamp(expiresAt) }];
}
