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
import type { AnyMessage } from '../document/any-message.ts';
import type { Claim, MessageDocument } from '../document/message.ts';
import { enter } from '../document/status.ts';
import {
  isMixed,
  linesOf,
  MIXED,
  type QueueClaim,
  type QueueDocument,
  queueable,
  unpackLines,
  writtenDocument,
} from './queue-document.ts';

/** A kept document refuses a late insert for this long after its end. */
const KEPT_MS = 86_400_000;
const PAGE = 50;

const UNSET = { $exists: false };

export function queueOf(db: Db): Collection<QueueDocument> {
  return db.collection('queue');
}

/**
 * Puts messages that are `queued` in `messages` back into the queue. May be repeated: of several lines of one message,
 * one finds it queued.
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

/** The next lines, up to, not including, `to`. `head`: as it was read. */
export interface NextLines {
  readonly head: Omit<QueueDocument, 'lines'>;
  readonly to: number;
}

/**
 * Claims lines of several documents by one command; each document decides for itself. Returns the documents whose lines
 * are ours. May be repeated with the same claim when an answer was lost, then with `sure`, which reads from a majority.
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

/** As the claim of its line leaves it. */
export function claimedMessage(message: MessageDocument, { id, carrier, epoch, at }: Claim): MessageDocument {
  return { ...message, state: enter(message.state, 'submitting'), claim: { id, carrier, epoch, at }, v: message.v + 1 };
}

/** Removes claims whose messages are all in `messages`, and ends documents of which nothing is left. */
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

function keptUntil(now: Date): Date {
  return new Date(now.getTime() + KEPT_MS);
}

/** They have ended, and nobody keeps them. */
export async function removeQueued(db: Db, ids: readonly QueueId[]): Promise<void> {
  if (ids.length > 0) await queueOf(db).deleteMany({ _id: { $in: [...ids] } });
}

/**
 * Takes over what earlier holders of the carrier's lease have claimed. A message that is not in `messages` may just
 * have been written to the carrier, so it is inserted as unknown; a former holder that still lives can then not insert
 * it. Claimed messages of written documents that never became `submitting` go back into the queue. `own`: claims of
 * this epoch too. May be repeated. Returns how many messages were inserted.
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

/** Those of `lines` that are `queued`, as stored. Inserts missing ones, which nobody has written out. */
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

/** Reads first: usually nearly all are there. A line that a carrier returned is only an id: its message is stored. */
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
 * A message of the account that may be only in the queue, as it was accepted. Read the account's pending changes
 * before, and `messages` afterwards: messages move in that order. `committed`: read from a majority, so that a replaced
 * primary hides nothing.
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

/**
 * Inserts new documents. Only for a caller who knows that nobody else has tried to, and only once, or the lines would
 * be sent again; everybody else calls `insertAgain`. False when one was refused, because its id exists: then call
 * `insertAgain` for all.
 */
export async function insertFirst(db: Db, documents: readonly QueueDocument[]): Promise<boolean> {
  return documents.length === 0 || (await insertNew(db, 'queue', documents)) === documents.length;
}

/**
 * `insertFirst` for a repeat, or when it may be one: after an error, or for a process that died. Each document has
 * lines of one debit. What was sent is not sent again, because the messages decide (`written`); a first insert that
 * comes late is refused.
 */
export async function insertAgain(db: Db, documents: readonly QueueDocument[], now: Date): Promise<void> {
  if (documents.length === 0) return;
  const again = documents.map((document) => ({ ...document, written: true, keep: true, writeAt: now }) as const);
  const inserted = await insertNew(db, 'queue', again);
  if (inserted < documents.length) await insertOthers(db, documents);
  const mixed = documents.filter(isMixed); // of one account that used several templates
  if (mixed.length > 0) await writeAllOut(db, now, { _id: { $in: mixed.map(({ _id }) => _id) } });
}

/**
 * Gives lines to those messages that no stored document has. A stored one with the same id may be of other debits of
 * the same command; or it is gone, and the messages that had left are in `messages`.
 */
async function insertOthers(db: Db, documents: readonly QueueDocument[]): Promise<void> {
  const ids = [...new Set(documents.map(({ _id }) => _id))];
  // Surely: a line that a carrier has claimed must not become a message that waits.
  const stored = await findEachCommitted(
    queueOf(db),
    ids.map((_id) => ({ _id })),
  );
  const there = new Set(stored.flatMap(linesOf).map(({ _id }) => _id));
  const others = documents.flatMap(linesOf).filter(({ _id }) => !there.has(_id));
  await requeue(db, await readQueued(db, others));
}

/**
 * Leaves nothing to be claimed in these documents, inserted or not: a first insert that comes late is refused. Write
 * them out then (`writeAllOut`), and all their messages are in `messages`; `requeue` gives them lines.
 */
export async function insertEnded(db: Db, documents: readonly QueueDocument[], now: Date): Promise<void> {
  const ended = { open: undefined, written: true, keep: true, writeAt: now, removeAt: keptUntil(now) } as const;
  await insertNew(
    db,
    'queue',
    documents.map((document) => ({ ...document, ...ended, next: document.n })),
  );
}

const DOCUMENTS_MAX = 200;
/**
 * A step ends with the document that reaches so many messages: the store runs their insert in one piece, some 10 ms.
 */
const MESSAGES_MAX = 250;
/** A document that was marked and not written, because its process died, is looked at again after this time. */
const AGAIN_MS = 10_000;

/**
 * Inserts the messages of matching queue documents, so that everything that reads, cancels or moves messages finds
 * them: waiting ones as `queued`, claimed and unanswered ones as `submitting`. Existing ones stay. Waiting messages of
 * mixed documents get lines of single accounts, and the mixed ones are removed. May be repeated, also in parallel: of
 * several lines of one message, one finds it queued. Returns how many documents it looked at: call it until that is 0.
 */
export async function writeOut(db: Db, now: Date, which: Filter<QueueDocument>): Promise<number> {
  const queue = queueOf(db);
  const heads = await queue
    .find({ ...which, writeAt: which.writeAt ?? { $exists: true } })
    .project<Pick<QueueDocument, '_id' | 'n' | 'next' | 'open' | 'written'>>({ n: 1, next: 1, open: 1, written: 1 })
    .sort({ writeAt: 1 })
    .limit(DOCUMENTS_MAX)
    .batchSize(DOCUMENTS_MAX + 1)
    .toArray();
  if (heads.length === 0) return 0;
  const found: typeof heads = [];
  for (let messages = 0; messages < MESSAGES_MAX; ) {
    const next = heads[found.length];
    if (next === undefined) break;
    found.push(next);
    messages += next.n;
  }
  const writeAt = new Date(now.getTime() + AGAIN_MS);
  // From here on the messages decide, not `next`. A claim since the read refuses it: then the next call does it.
  const unwritten = found.filter(({ written, open }) => open && !written);
  await updateEach(
    db,
    'queue',
    unwritten.map(({ _id, next }) => ({ filter: { _id, next }, update: { $set: { written: true, writeAt } } })),
  );
  const ids = found.map(({ _id }) => _id);
  const marked = await queue.find({ _id: { $in: ids } }).toArray();
  crashPoint('queue:marked');
  const whole = marked.filter(({ written, open }) => written || !open);
  await insertMissing(db, whole.flatMap(messagesOf));
  crashPoint('queue:written');
  await split(
    db,
    whole.filter((document) => isMixed(document) && document.open),
    now,
  );
  await queue.updateMany({ _id: { $in: whole.map(({ _id }) => _id) } }, { $unset: { writeAt: '' } });
  return found.length;
}

/** Nothing is lost: claimed messages are in `messages` too, with their claims. */
async function split(db: Db, mixed: readonly QueueDocument[], now: Date): Promise<void> {
  if (mixed.length === 0) return;
  await requeue(db, await readQueued(db, mixed.flatMap(linesOf)));
  crashPoint('queue:split');
  await removeEnded(db, { _id: { $in: mixed.map(({ _id }) => _id) } }, now);
}

export async function writeAllOut(db: Db, now: Date, which: Filter<QueueDocument>): Promise<void> {
  while ((await writeOut(db, now, which)) > 0);
}

/** As they are while nothing became of them. */
function messagesOf(document: QueueDocument): readonly MessageDocument[] {
  return linesOf(document).map((line, i) => {
    const claim = document.claims.find(({ from, to }) => from <= i && i < to);
    return claim === undefined || claim.written ? line : claimedMessage(line, claim);
  });
}

const SUBMITTING = enter('queued', 'submitting');

/**
 * Claims messages that are in `messages`: one update moves those that are still `queued` to `submitting`, with the
 * claim. When two workers want the same message, one gets it. Returns the messages that this claim has.
 *
 * May be repeated with the same claim when an answer was lost: returns also what a first try took, and takes nothing
 * that was given back since. `sure`, for a repeat: what is returned is stored by a majority, so that no failover undoes
 * the claim and another worker sends the message too.
 */
export async function takeQueued<M extends AnyMessage>(
  db: Db,
  ids: readonly MessageId[],
  claim: Claim,
  { filter = {}, sure = false }: { readonly filter?: Filter<AnyMessage>; readonly sure?: boolean } = {},
): Promise<M[]> {
  if (ids.length === 0) return [];
  const messages = db.collection<AnyMessage>('messages');
  const { modifiedCount } = await messages.updateMany(
    { ...filter, _id: { $in: [...ids] }, state: 'queued', 'claim.id': { $ne: claim.id } },
    { $set: { state: SUBMITTING, claim }, $inc: { v: 1 } },
  );
  if (modifiedCount > 0) crashPoint('claim:taken');
  const taken = { 'claim.id': claim.id, state: SUBMITTING } as const;
  const found = sure || modifiedCount === 0 ? [] : await messages.find({ _id: { $in: [...ids] }, ...taken }).toArray();
  // A primary that was just replaced may show fewer.
  const isAll = !sure && found.length >= modifiedCount;
  const all = isAll
    ? found
    : await findEachCommitted(
        messages,
        ids.map((_id) => ({ _id, ...taken })),
      );
  return all as M[]; // a message never changes its channel
}
