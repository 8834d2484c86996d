import type { Collection, Db } from 'mongodb';
import { insertNew } from '../mongo/insert-new.ts';
import { updateEach } from '../mongo/update-each.ts';
import type { InboundId } from '../runtime/ids.ts';
import type { InboundDocument, StrayText } from './inbound.ts';

/** Documents of one command. */
const SLICE = 1_000;

/** Stores what handsets wrote; what is there already stays as it is. Throws the driver's error: then some may be stored. */
export function keepInbound(db: Db, documents: readonly InboundDocument[]): Promise<void> {
  return insertNew(db, 'inbound', documents);
}

/** What a carrier brought and nobody has finished, oldest first, behind `after`. */
export function findUnfinished(
  db: Db,
  carrier: string,
  after: InboundId | undefined,
  limit: number,
): Promise<InboundDocument[]> {
  return inbound(db)
    .find({ carrier, due: { $exists: true }, ...(after === undefined ? {} : { _id: { $gt: after } }) })
    .sort({ _id: 1 })
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

/** It has become a message, or it is a part of what has. */
export async function removeInbound(db: Db, ids: readonly InboundId[]): Promise<void> {
  for (let first = 0; first < ids.length; first += SLICE) {
    // What belongs to nobody stays for the operator.
    await inbound(db).deleteMany({ _id: { $in: ids.slice(first, first + SLICE) }, stray: { $exists: false } });
  }
}

/** Keeps what belongs to nobody for the operator. */
export async function keepStrays(
  db: Db,
  strays: readonly { readonly id: InboundId; readonly text: StrayText }[],
  expiresAt: Date,
): Promise<void> {
  if (strays.length === 0) return;
  await updateEach(
    db,
    'inbound',
    strays.map(({ id, text }) => ({
      filter: { _id: id },
      update: { $set: { stray: text, expiresAt }, $unset: { due: '' } },
    })),
  );
}

/** What belongs to nobody, newest first. Only that expires. */
export function listStrays(db: Db, limit: number): Promise<InboundDocument[]> {
  return inbound(db)
    .find({ expiresAt: { $gt: new Date(0) } })
    .sort({ expiresAt: -1 })
    .limit(limit)
    .toArray();
}

function inbound(db: Db): Collection<InboundDocument> {
  return db.collection('inbound');
}
