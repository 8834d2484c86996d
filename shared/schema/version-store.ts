import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../mongo/errors.ts';

/** What the store says of its own form: `{ _id: 'schema', version: 3, walked: 'msg_01…' }`. */
export interface SchemaDocument {
  readonly _id: 'schema';
  readonly version: number;
  /** How far the step to the next version has come: the `_id` of the last document that it is done with. */
  readonly walked?: string;
}

/** Stores from before the version was stored. */
const UNNUMBERED = 1;
/** Whoever has used the product has one of these. */
const TELLTALES = ['users', 'accounts', 'carriers', 'messages'] as const;

/** Undefined when the store is empty. */
export async function readSchema(db: Db): Promise<SchemaDocument | undefined> {
  const document = await schemas(db).findOne({ _id: 'schema' });
  if (document !== null) return document;
  for (const collection of TELLTALES) {
    const any = await db.collection(collection).findOne({}, { projection: { _id: 1 } });
    if (any !== null) return { _id: 'schema', version: UNNUMBERED };
  }
  return undefined;
}

/** Compare-and-set: changes nothing when another process was first. `from` is undefined for an empty store. */
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
  const upsert = version === UNNUMBERED;
  await schemas(db).updateOne({ _id: 'schema', version }, { $set: { walked } }, { upsert });
}

function schemas(db: Db): Collection<SchemaDocument> {
  return db.collection('store_state');
}
