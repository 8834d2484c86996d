import type { Collection, Db } from 'mongodb';
import { StartError } from '../runtime/lifecycle.ts';
import { isDuplicateKey } from './errors.ts';

/** The form of what this program stores. Raised with every change that another version would misread. */
export const SCHEMA = 8;

/** In place of a schema while `store export` or `store import` copies into the store. */
export const UNFINISHED_COPY = 0;

/** `{ _id: 'schema', version: 7 }`. Absent in a store that no process has used yet. */
interface SchemaDocument {
  readonly _id: 'schema';
  readonly version: number;
}

export async function readSchema(db: Db): Promise<number | undefined> {
  return (await schemas(db).findOne({ _id: 'schema' }))?.version;
}

export async function setSchema(db: Db, version: number): Promise<void> {
  await schemas(db).updateOne({ _id: 'schema' }, { $set: { version } }, { upsert: true });
}

/** Throws `StartError` when the store's form is not this program's. */
export async function expectSchema(db: Db): Promise<void> {
  const version = await readSchema(db);
  if (version === undefined || version === SCHEMA) return;
  throw new StartError(
    version === UNFINISHED_COPY
      ? 'This store is a copy that is not complete: run the command again that copies (npm run ops -- store export or import), or drop this database.'
      : `The store has schema ${version}, and this program needs ${SCHEMA}: start the version that has used it, or name another database (HARKARA_MONGODB_DATABASE) or, with the embedded store, another HARKARA_DATA_DIR. Nothing was changed.`,
  );
}

/** Like `expectSchema`, and gives a new store the schema of this program. */
export async function ensureSchema(db: Db): Promise<void> {
  try {
    await schemas(db).updateOne({ _id: 'schema' }, { $setOnInsert: { version: SCHEMA } }, { upsert: true });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error; // another process was first
  }
  await expectSchema(db);
}

function schemas(db: Db): Collection<SchemaDocument> {
  return db.collection('store_state');
}
