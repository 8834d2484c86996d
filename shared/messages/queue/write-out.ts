import type { Db, Filter } from 'mongodb';
import { updateEach } from '../../platform/mongo/update-each.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { MessageDocument } from '../document/message.ts';
import { isMixed, linesOf, type QueueDocument } from './queue-document.ts';
import { claimedMessage, insertMissing, queueOf, readQueued, removeEnded, requeue } from './queue-store.ts';

/** Most documents of one step. */
const DOCUMENTS_MAX = 200;
/** A step ends with the document that brings it to so many messages. The store runs their insert in one piece: some 10 ms. */
const MESSAGES_MAX = 250;
/** A document that was marked and not written, because its process died, is looked at again after this time. */
const AGAIN_MS = 10_000;

/**
 * Inserts the messages of queue documents that match, so that everything that reads, cancels or moves messages finds them: what waits
 * is `queued`, what a carrier has claimed and not answered yet is `submitting`. Those that are there stay as they are. What waits in
 * mixed documents gets lines of single accounts, and the mixed ones are removed. Repeats and parallel calls write the same, but for
 * these lines: of several lines of one message, one finds it queued. Returns how many documents it looked at: until that is 0, there
 * may be more.
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

/** Nothing is lost with them: also what was claimed is in `messages`, with its claim. */
async function split(db: Db, mixed: readonly QueueDocument[], now: Date): Promise<void> {
  if (mixed.length === 0) return;
  await requeue(db, await readQueued(db, mixed.flatMap(linesOf)));
  crashPoint('queue:split');
  await removeEnded(db, { _id: { $in: mixed.map(({ _id }) => _id) } }, now);
}

/** All of them. */
export async function writeAllOut(db: Db, now: Date, which: Filter<QueueDocument>): Promise<void> {
  while ((await writeOut(db, now, which)) > 0);
}

/** The messages of its lines, as they are while nothing became of them. */
function messagesOf(document: QueueDocument): readonly MessageDocument[] {
  return linesOf(document).map((line, i) => {
    const claim = document.claims.find(({ from, to }) => from <= i && i < to);
    return claim === undefined || claim.written ? line : claimedMessage(line, claim);
  });
}
