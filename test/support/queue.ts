import type { Db, Filter } from 'mongodb';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import {
  isMixed,
  MIXED,
  type QueueDocument,
  queueable,
  queueDocument,
  unpackLines,
} from '../../shared/messages/queue/queue-document.ts';
import { insertFirst, queueOf, requeue, writeAllOut } from '../../shared/messages/queue/queue-store.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, debitQueueId, type GroupId, queueId } from '../../shared/platform/runtime/ids.ts';
import { Claimer } from '../../workers/smpp/claim/claim.ts';
import { openGates } from './gates.ts';

/** Messages that wait as lines only, as the gateway's follow-up leaves them. Returns the queue documents. */
export async function enqueue(
  db: Db,
  messages: readonly MessageDocument[],
  now = new Date(),
): Promise<readonly QueueDocument[]> {
  const documents = queueable(messages).map((piece) => queueDocument(queueId(firstOf(piece)._id, 0), piece, now));
  await insertFirst(db, documents);
  return documents;
}

/** Queue documents of a debit's messages, one account each, however few lines it has. */
export function ownDocuments(group: GroupId, messages: readonly MessageDocument[], now: Date): QueueDocument[] {
  return queueable(messages).map((piece, i) => queueDocument(debitQueueId(group, String(i)), piece, now));
}

/** Messages in `messages` with lines, as after writing out or coming back from a carrier. */
export async function enqueueWritten(db: Db, messages: readonly MessageDocument[]): Promise<void> {
  await insertNew(db, 'messages', messages);
  await requeue(db, messages);
}

/** All waiting messages of an account by id, written out or not: every line of every queue document. */
export async function linesOf(db: Db, account: AccountId): Promise<readonly MessageDocument[]> {
  const documents = await queueOf(db).find(mayHave(account)).toArray();
  return documents
    .flatMap((document) => unpackLines(document.lines).filter((line) => !isMixed(document) || line.account === account))
    .sort((a, b) => (a._id < b._id ? -1 : 1));
}

function mayHave(account: AccountId) {
  return { account: { $in: [account, MIXED] } } satisfies Filter<QueueDocument>;
}

/** Writes out all waiting lines, so that `messages` is complete. */
export async function writeOutAll(db: Db, now = new Date()): Promise<void> {
  await writeAllOut(db, now, {});
}

/** Claims all waiting messages of an account, as a carrier with room for them would. A message twice is a fault. */
export async function claimAll(db: Db, account: AccountId): Promise<readonly MessageDocument[]> {
  const clock = systemClock;
  const gates = openGates(db, clock);
  const claimer = new Claimer({ db, clock, carrier: 'all', epoch: 1, gates, held: () => true });
  const waiting = await queueOf(db)
    .find({ ...mayHave(account), open: true }, { projection: { path: 1 } })
    .toArray();
  const paths = [...new Set(waiting.map(({ path }) => path))];
  const claimed: MessageDocument[] = [];
  while ((await queueOf(db).countDocuments({ ...mayHave(account), open: true })) > 0) {
    claimed.push(...(await claimer.claim({ messages: 1_000, segments: 10_000 }, { paths, fromLane: 0 })));
  }
  return claimed.filter((message) => message.account === account);
}

function firstOf<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error('nothing is queued');
  return first;
}
