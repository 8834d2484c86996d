import type { Collection, Db } from 'mongodb';
import type { FindHere } from '../mongo/guarded-connection.ts';
import { identityText, type ProcessIdentity } from '../runtime/process-identity.ts';

/** What the store says about who may use it, and how. Its documents may be written whatever they say. */
export const STATE_COLLECTION = 'store_state';

/**
 * Absent: the store is in use. Otherwise nobody writes to it:
 *
 * | mode      | why                                                        | a start                            | ended by                   |
 * | --------- | ---------------------------------------------------------- | ---------------------------------- | -------------------------- |
 * | read_only | an operator wants it to stand still, or it is being copied | the gateway reads, the others wait | `ops store read-only off`  |
 * | moved     | its data were copied, and the copy is in use               | refuses                            | `ops store reopen`         |
 * | copying   | it is a copy that is not complete                          | refuses                            | the command that copies    |
 */
export interface AccessDocument {
  readonly _id: 'access';
  readonly mode: 'read_only' | 'moved' | 'copying';
  /** Made anew each time that the store is closed to writers; the same in a store and in its copy. */
  readonly period: string;
  readonly since: Date;
  /** Of a moved store: where its data are now, without user and password. */
  readonly to?: string;
}

/** A process says that it has stopped writing in this period. */
interface ClosedDocument {
  readonly _id: string;
  readonly period: string;
}

export async function readAccess(db: Db): Promise<AccessDocument | undefined> {
  return (await state<AccessDocument>(db).findOne({ _id: 'access' })) ?? undefined;
}

/** The same for a write that waits for it. */
export async function readAccessHere(find: FindHere): Promise<AccessDocument | undefined> {
  return (await find(STATE_COLLECTION, { _id: 'access' })) as AccessDocument | undefined; // what `closeAccess` stores
}

/** Closes the store to writers, or changes why it is closed. */
export async function closeAccess(db: Db, access: Omit<AccessDocument, '_id'>): Promise<void> {
  await state<AccessDocument>(db).replaceOne({ _id: 'access' }, access, { upsert: true });
}

/** Lets everybody write again. */
export async function openAccess(db: Db, { period }: Pick<AccessDocument, 'period'>): Promise<void> {
  await state<AccessDocument>(db).deleteOne({ _id: 'access', period });
  await state<ClosedDocument>(db).deleteMany({ period });
}

export async function noteClosed(db: Db, process: ProcessIdentity, period: string): Promise<void> {
  await state<ClosedDocument>(db).updateOne({ _id: identityText(process) }, { $set: { period } }, { upsert: true });
}

/** The processes that have stopped writing in this period, as `identityText`. */
export async function closedProcesses(db: Db, period: string): Promise<ReadonlySet<string>> {
  const closed = await state<ClosedDocument>(db).find({ period }).toArray();
  return new Set(closed.filter((one) => 'period' in one && one._id !== 'access').map(({ _id }) => _id));
}

function state<T extends { readonly _id: string }>(db: Db): Collection<T> {
  return db.collection<T>(STATE_COLLECTION);
}
