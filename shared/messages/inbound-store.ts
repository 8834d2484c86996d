import type { Collection, Db } from 'mongodb';
import { insertNew } from '../platform/mongo/insert-new.ts';
import { updateEach } from '../platform/mongo/update-each.ts';
import type { InboundId } from '../platform/runtime/ids.ts';
import type { InboundDocument, UnassignedText } from './inbound.ts';

/** The most documents in one command. */
const SLICE = 1_000;

/**
 * Stores received deliver_sm. Documents that exist already are not changed. Throws the driver's error; some may be stored then.
 */
export async function keepInbound(db: Db, documents: readonly InboundDocument[]): Promise<void> {
  await insertNew(db, 'inbound', documents);
}

/** The carrier's deliver_sm that are not finished, after the id `after`, oldest first. */
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

/** Removes deliver_sm that have become messages, or parts of them. */
export async function removeInbound(db: Db, ids: readonly InboundId[]): Promise<void> {
  for (let first = 0; first < ids.length; first += SLICE) {
    // Messages that belong to no account stay for the operator.
    await inbound(db).deleteMany({ _id: { $in: ids.slice(first, first + SLICE) }, unassigned: { $exists: false } });
  }
}

/** Keeps messages that belong to no account, for the operator. */
export async function keepUnassigned(
  db: Db,
  unassigned: readonly { readonly id: InboundId; readonly text: UnassignedText }[],
  expiresAt: Date,
): Promise<void> {
  if (unassigned.length === 0) return;
  await updateEach(
    db,
    'inbound',
    unassigned.map(({ id, text }) => ({
      filter: { _id: id },
      update: { $set: { unassigned: text, expiresAt }, $unset: { due: '' } },
    })),
  );
}

/** A place among the messages that belong to no account. */
export interface UnassignedPlace {
  readonly expiresAt: Date;
  readonly id: InboundId;
}

/** The messages that belong to no account, newest first, behind `after`. Only these have `expiresAt`. */
export function listUnassigned(db: Db, limit: number, after?: UnassignedPlace): Promise<InboundDocument[]> {
  const { expiresAt, id } = after ?? {};
  return inbound(db)
    .find(
      expiresAt === undefined || id === undefined
        ? { expiresAt: { $gt: new Date(0) } }
        : { expiresAt: { $lte: expiresAt }, $or: [{ expiresAt: { $lt: expiresAt } }, { _id: { $lt: id } }] },
    )
    .sort({ expiresAt: -1, _id: -1 })
    .limit(limit)
    .toArray();
}

function inbound(db: Db): Collection<InboundDocument> {
  return db.collection('inbound');
}
