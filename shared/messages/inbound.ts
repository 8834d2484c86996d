import type { Collection, Db } from 'mongodb';
import { insertNew } from '../platform/mongo/insert-new.ts';
import { updateEach } from '../platform/mongo/update-each.ts';
import type { InboundId } from '../platform/runtime/ids.ts';

/**
 * A deliver_sm with a handset's message, whole or one part of a longer one. Stored before it is answered; removed when
 * it has become a message of an account and the carrier certainly has our answer. Until then it has `due`, and the next
 * holder of the carrier's lease repeats the remaining steps (docs/decisions/0014).
 */
export interface InboundDocument {
  readonly _id: InboundId;
  readonly carrier: string;
  readonly at: Date;
  /** As the carrier wrote them. `fromTon`: the sender's type of number (SMPP 3.4 §5.2.5). */
  readonly from: string;
  readonly fromTon: number;
  readonly to: string;
  readonly dataCoding: number;
  /** The user data in base64, without its header. Packed septets are unpacked. */
  readonly octets: string;
  /** The national language tables of its header (3GPP TS 23.038 §6.2.1.2.4). */
  readonly shift?: { readonly locking?: number; readonly single?: number };
  readonly part?: InboundPart;
  /** Equal for equal deliver_sm. */
  readonly fingerprint: string;
  /** Set until it is finished. For a part: when the message is completed without its missing parts. */
  readonly due?: Date;
  /** Set when the message belongs to no account. The first part of a longer message has it for all parts. */
  readonly unassigned?: UnassignedText;
  /** Only for messages that belong to no account. */
  readonly expiresAt?: Date;
}

export interface InboundPart {
  /** The message's first part that came. The message's id derives from it. */
  readonly set: InboundId;
  /** Equal for the parts of one message: has their addresses, reference and total. */
  readonly key: string;
  readonly number: number;
  readonly total: number;
}

export interface UnassignedText {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly body: string;
}

const SLICE = 1_000;

/** Documents that exist already are not changed. Throws the driver's error; some may be stored then. */
export async function keepInbound(db: Db, documents: readonly InboundDocument[]): Promise<void> {
  await insertNew(db, 'inbound', documents);
}

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

/** They have become messages, or parts of them. */
export async function removeInbound(db: Db, ids: readonly InboundId[]): Promise<void> {
  for (let first = 0; first < ids.length; first += SLICE) {
    // Messages that belong to no account stay for the operator.
    await inbound(db).deleteMany({ _id: { $in: ids.slice(first, first + SLICE) }, unassigned: { $exists: false } });
  }
}

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

export interface UnassignedPlace {
  readonly expiresAt: Date;
  readonly id: InboundId;
}

/** Newest first. Only these have `expiresAt`. */
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
