import type { Collection, Db, Filter } from 'mongodb';
import { findAllCommitted, findEachCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { updateEach } from '../../platform/mongo/update-each.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import {
  type AccountId,
  type ClaimId,
  type MessageId,
  type QueueId,
  returnedQueueId,
} from '../../platform/runtime/ids.ts';
import type { Claim, MessageDocument } from '../document/message.ts';
import { enter } from '../document/status.ts';
import {
  MIXED,
  type QueueClaim,
  type QueueDocument,
  queueable,
  unpackLines,
  writtenDocument,
} from './queue-document.ts';

/** A kept document refuses a late insert for this long after its end. */
const KEPT_MS = 86_400_000;
/** Most documents that are looked at at once: each has up to 200 lines. */
const PAGE = 50;

const UNSET = { $exists: false };

export function queueOf(db: Db): Collection<QueueDocument> {
  return db.collection('queue');
}

/**
 * Puts messages that are `queued` in `messages` back into the queue. May be repeated: of several lines of one message, one finds it
 * queued.
 */
export async function requeue(db: Db, messages: readonly MessageDocument[]): Promise<void> {
  if (messages.length === 0) return;
  // New ids: a derived one may be that of the very document from which the messages come back.
  const documents = queueable(messages).flatMap((piece) => {
    const [first] = piece;
    return first === undefined ? [] : writtenDocument(returnedQueueId(first._id), piece);
  });
  await insertNew(db, 'queue', documents);
}

/** The next lines of a document, up to, not including, `to`. `head`: as it was read. */
export interface NextLines {
  readonly head: Omit<QueueDocument, 'lines'>;
  readonly to: number;
}

/**
 * Claims lines of several documents by one command. Each document decides for itself. Returns the ids of those of which the lines
 * are ours. May be repeated with the same claim when an answer was lost. `sure`: for a repeat: what a first try has claimed is found for
 * sure then.
 */
export async function claimLines(
  db: Db,
  claim: Claim,
  picks: readonly NextLines[],
  sure = false,
): Promise<ReadonlySet<QueueId>> {
  const matched = await updateEach(
    db,
    'queue',
    picks.map(({ head, to }) => ({
      filter: { _id: head._id, next: head.next, written: head.written ?? UNSET },
      update: {
        $set: { next: to },
        ...(to === head.n ? { $unset: { open: '' } } : {}),
        $push: {
          claims: { ...claim, from: head.next, to, ...(head.written && { written: true }) } satisfies QueueClaim,
        },
      },
    })),
  );
  const ids = picks.map(({ head }) => head._id);
  if (matched === picks.length) return new Set(ids);
  const found = sure
    ? []
    : await queueOf(db)
        .find({ _id: { $in: ids }, 'claims.id': claim.id }, { projection: { _id: 1 } })
        .toArray();
  // A primary that was just replaced may show fewer.
  const mine = ids.map((_id) => ({ _id, 'claims.id': claim.id }));
  const ours = sure || found.length < matched ? await findEachCommitted(queueOf(db), mine) : found;
  return new Set(ours.map(({ _id }) => _id));
}

/** A message as the claim of its line leaves it: the claim is stored with its line. */
export function claimedMessage(message: MessageDocument, { id, carrier, epoch, at }: Claim): MessageDocument {
  return { ...message, state: enter(message.state, 'submitting'), claim: { id, carrier, epoch, at }, v: message.v + 1 };
}

/** Takes claims away of which everything is in `messages`, and ends the documents of which nothing is left. `claims`: which. */
export async function closeClaims(db: Db, ids: readonly QueueId[], claims: object, now: Date): Promise<void> {
  if (ids.length === 0) return;
  const these = { _id: { $in: [...ids] } };
  const queue = queueOf(db);
  await queue.updateMany(these, { $pull: { claims } });
  const ended = { ...these, open: UNSET, 'claims.0': UNSET };
  await queue.deleteMany({ ...ended, keep: UNSET });
  await queue.updateMany({ ...ended, keep: true }, { $set: { removeAt: keptUntil(now) } });
}

/** Removes documents in which nothing will be claimed any more. All their messages are in `messages`. */
export async function removeEnded(db: Db, which: Filter<QueueDocument>, now: Date): Promise<number> {
  const queue = queueOf(db);
  const removeAt = { $set: { removeAt: keptUntil(now) }, $unset: { open: '' } } as const;
  const { modifiedCount } = await queue.updateMany({ ...which, keep: true, removeAt: UNSET }, removeAt);
  const { deletedCount } = await queue.deleteMany({ ...which, keep: UNSET });
  return modifiedCount + deletedCount;
}

/** When a kept document that ends now is removed. */
export function keptUntil(now: Date): Date {
  return new Date(now.getTime() + KEPT_MS);
}

/** Removes documents that have ended, and that nobody keeps. */
export async function removeQueued(db: Db, ids: readonly QueueId[]): Promise<void> {
  if (ids.length > 0) await queueOf(db).deleteMany({ _id: { $in: [...ids] } });
}

/**
 * Takes over what earlier holders of the carrier's lease have claimed. What is not in `messages` may have been written to the carrier
 * just before its process ended, so it is inserted as unknown; from then on an earlier holder that still lives can insert none of it.
 * What was claimed of written documents and never became `submitting` goes back into the queue. `own`: claims of this epoch too. May
 * be repeated. Returns how many messages were inserted.
 */
export async function takeOverClaims(db: Db, carrier: string, epoch: number, now: Date, own = false): Promise<number> {
  const isOld = (claim: QueueClaim): boolean => claim.carrier === carrier && claim.epoch <= (own ? epoch : epoch - 1);
  const old = { carrier, epoch: { $lte: own ? epoch : epoch - 1 } };
  let taken = 0;
  for (;;) {
    const found = await queueOf(db)
      .find({ 'claims.carrier': carrier, claims: { $elemMatch: old } })
      .limit(PAGE)
      .toArray();
    if (found.length === 0) return taken;
    const done: ClaimId[] = [];
    for (const document of found) {
      const lines = unpackLines(document.lines);
      const claims = document.claims.filter(isOld);
      done.push(...claims.map(({ id }) => id));
      const unknown = claims.flatMap((claim) =>
        claim.written ? [] : lines.slice(claim.from, claim.to).map((line) => unknownMessage(line, claim, epoch)),
      );
      taken += await insertNew(db, 'messages', unknown);
      const written = claims.flatMap(({ written, from, to }) => (written ? lines.slice(from, to) : []));
      await requeue(db, await readQueued(db, written));
    }
    crashPoint('queue:taken_over');
    const ids = found.map(({ _id }) => _id);
    // Not all old ones: an earlier holder may have made one just now.
    await closeClaims(db, ids, { id: { $in: done } }, now);
  }
}

/**
 * The messages of `lines` that are `queued`, as they are now. Inserts messages that are missing: whoever wrote the document
 * out may have died before it did, or there is no document yet.
 */
export async function readQueued(db: Db, lines: readonly MessageDocument[]): Promise<MessageDocument[]> {
  if (lines.length === 0) return [];
  await insertMissing(db, lines);
  const messages = db.collection<MessageDocument>('messages');
  return messages
    .find({ _id: { $in: lines.map(({ _id }) => _id) }, state: 'queued' })
    .sort({ _id: 1 })
    .toArray();
}

function unknownMessage(line: MessageDocument, claim: QueueClaim, epoch: number): MessageDocument {
  const claimed = claimedMessage(line, { ...claim, epoch });
  return { ...claimed, outcome: 'unknown', v: claimed.v + 1 };
}

/**
 * Inserts messages of lines that are not there. Reads first: usually nearly all are. A line that a carrier returned is nothing but an
 * id: its message is stored.
 */
export async function insertMissing(db: Db, lines: readonly MessageDocument[]): Promise<void> {
  const whole = lines.filter(({ to }) => to !== undefined);
  if (whole.length === 0) return;
  const there = await db
    .collection<MessageDocument>('messages')
    .find({ _id: { $in: whole.map(({ _id }) => _id) } }, { projection: { _id: 1 } })
    .toArray();
  const known = new Set(there.map(({ _id }) => _id));
  const missing = whole.filter(({ _id }) => !known.has(_id));
  if (missing.length > 0) await insertNew(db, 'messages', missing);
}

/**
 * A message of the account that is perhaps nowhere but in the queue, as it was accepted. Read the account's pending changes before,
 * and `messages` afterwards: what leaves one is in the next by then. `committed`: undefined is no mistake of a replaced primary.
 */
export async function findInQueue(
  db: Db,
  account: AccountId,
  id: MessageId,
  committed = false,
): Promise<MessageDocument | undefined> {
  const own = { account: { $in: [account, MIXED] } } satisfies Filter<QueueDocument>;
  const filter = { writeAt: { $exists: true }, ...own, first: { $lte: id }, last: { $gte: id } };
  const documents = await (committed ? findAllCommitted(queueOf(db), filter) : queueOf(db).find(filter).toArray());
  for (const { lines } of documents) {
    const message = unpackLines(lines).find((line) => line._id === id && line.account === account);
    if (message !== undefined) return message;
  }
  return undefined;
}
