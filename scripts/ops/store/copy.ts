import type { Db } from 'mongodb';
import { StartError } from '../../../shared/runtime/lifecycle.ts';
import { STATE_COLLECTION } from '../../../shared/store-access/access-store.ts';
import { endId, findRaw, idOf, idText, insertRaw, type RawDocument, readSlice, sortTogether } from './raw-documents.ts';

/** How far a collection is copied. It is kept in the target, under an id like `copy of messages`. */
interface CopyDocument {
  readonly _id: string;
  /** The period of the move. When the move is done, everything of its period is removed. */
  readonly period: string;
  /** The `_id` of the last document that is in the target; absent when there was none. */
  readonly last?: unknown;
  readonly count: number;
  readonly done?: true;
}

export interface Copying {
  readonly source: Db;
  readonly target: Db;
  readonly period: string;
}

/**
 * Copies a collection, slice by slice in the order of the ids, and goes on where an interrupted copy stopped. A document that the
 * interrupted copy inserted without noting it must be the same in both stores. `onCopied` is told how many documents are copied
 * so far. Throws a `StartError` when the target has another document under the same id, or the ids are of several types.
 */
export async function copyCollection(
  { source, target, period }: Copying,
  collection: string,
  onCopied: (documents: number) => void,
): Promise<void> {
  await expectOneType(source, collection);
  const states = target.collection<CopyDocument>(STATE_COLLECTION);
  const _id = `copy of ${collection}`;
  const state = await states.findOne({ _id, period }, { promoteValues: false });
  let count = Number(state?.count ?? 0);
  onCopied(count);
  if (state?.done) return;
  let next = readSlice(source, collection, state?.last);
  for (;;) {
    const { documents, lastId } = await next;
    const last = documents.length === 0 ? undefined : { last: lastId };
    if (last !== undefined) next = readSlice(source, collection, lastId);
    next.catch(() => {}); // It is awaited in the next round, unless the insert fails.
    for (const there of await insertRaw(target, collection, documents)) await expectSame(target, collection, there);
    count += documents.length;
    const done = last === undefined ? { done: true as const } : undefined;
    await states.updateOne({ _id }, { $set: { period, count, ...last, ...done } }, { upsert: true });
    onCopied(count);
    if (done) return;
  }
}

/** `$gt` finds only ids of the type of its value, so the walk would miss ids of other types. */
async function expectOneType(source: Db, collection: string): Promise<void> {
  const [first, last] = await Promise.all([endId(source, collection, 1), endId(source, collection, -1)]);
  if (first === undefined || last === undefined || sortTogether(first, last)) return;
  throw new StartError(`${collection} has ids of several types, which this command does not copy.`);
}

/** Whether a collection, or a part of one, was copied in this period. */
export async function hasBegun(target: Db, period: string): Promise<boolean> {
  const states = target.collection<CopyDocument>(STATE_COLLECTION);
  return (await states.findOne({ period, count: { $exists: true } })) !== null;
}

async function expectSame(target: Db, collection: string, document: RawDocument): Promise<void> {
  const id = idOf(document);
  const there = await findRaw(target, collection, id);
  if (there !== undefined && Buffer.compare(there, document) === 0) return;
  throw new StartError(
    `The target has another document ${idText(id)} in ${collection}: something else wrote there. Drop the target's database and run the command again.`,
  );
}
