import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../mongo/errors.ts';

/** What the store says of its own form: `{ _id: 'schema', version: 3, walked: 'msg_01…' }`. */
export interface SchemaDocument {
  readonly _id: 'schema';
  readonly version: number;
  /** How far the step to the next version has come: the `_id` of the last document that it is done with. */
  readonly walked?: string;
}

/** Undefined before the first process has started on the store. A command of `ops` may have been there first. */
export async function readSchema(db: Db): Promise<SchemaDocument | undefined> {
  return (await schemas(db).findOne({ _id: 'schema' })) ?? undefined;
}

/** Compare-and-set: changes nothing when another process was first. `from` is undefined for a store without a number. */
export async function setVersion(db: Db, from: number | undefined, version: number): Promise<void> {
  if (from !== undefined) {
    const change = { $set: { version }, $unset: { walked: '' } } as const;
    const { matchedCount } = await schemas(db).updateOne({ _id: 'schema', version: from }, change);
    if (matchedCount > 0) return;
  }
  try {
    await schemas(db).insertOne({ _id: 'schema', version });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

/** Remembers how far the step from `version` has come. */
export async function setWalked(db: Db, version: number, walked: string): Promise<void> {
  await schemas(db).updateOne({ _id: 'schema', version }, { $set: { walked } });
}

function schemas(db: Db): Collection<SchemaDocument> {
  return db.collection('store_state');
}
