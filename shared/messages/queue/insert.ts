import type { Db } from 'mongodb';
import { findEachCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { isMixed, linesOf, type QueueDocument } from './queue-document.ts';
import { keptUntil, queueOf, readQueued, requeue } from './queue-store.ts';
import { writeAllOut } from './write-out.ts';

/**
 * Inserts new documents. Only whoever knows that nobody else has tried to may call it, and only once: the lines would be sent
 * again. Everybody else calls `insertAgain`. False when one was refused, because somebody came first with its lines or others: then
 * `insertAgain` is to be called for all.
 */
export async function insertFirst(db: Db, documents: readonly QueueDocument[]): Promise<boolean> {
  return documents.length === 0 || (await insertNew(db, 'queue', documents)) === documents.length;
}

/**
 * The same for a repeat, or when it may be one: after an error, or for a process that died. Each document has lines of one debit. What
 * was sent is not sent again, because the messages decide (`written`); and a first insert that comes late is refused.
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
 * Gives lines to those messages that none of these documents has as it is stored. There is one with its id, but of other debits of the
 * same command. Or there was one: then the messages that had left are in `messages`.
 */
async function insertOthers(db: Db, documents: readonly QueueDocument[]): Promise<void> {
  const ids = [...new Set(documents.map(({ _id }) => _id))];
  // For sure: a line that a carrier has claimed must not become a message that waits.
  const stored = await findEachCommitted(
    queueOf(db),
    ids.map((_id) => ({ _id })),
  );
  const there = new Set(stored.flatMap(linesOf).map(({ _id }) => _id));
  const others = documents.flatMap(linesOf).filter(({ _id }) => !there.has(_id));
  await requeue(db, await readQueued(db, others));
}

/**
 * Leaves nothing to be claimed in these documents, which may have been inserted before or may yet be: a first insert that comes late
 * is refused. Then write them out (`writeAllOut`), and all their messages are in `messages`; `requeue` gives them lines.
 */
export async function insertEnded(db: Db, documents: readonly QueueDocument[], now: Date): Promise<void> {
  const ended = { open: undefined, written: true, keep: true, writeAt: now, removeAt: keptUntil(now) } as const;
  await insertNew(
    db,
    'queue',
    documents.map((document) => ({ ...document, ...ended, next: document.n })),
  );
}
