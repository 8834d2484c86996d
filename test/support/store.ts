import type { Db } from 'mongodb';
import { connectStore } from '../../shared/mongo/connect.ts';
import { ensureIndexes } from '../../shared/mongo/indexes.ts';
import { newId } from '../../shared/runtime/ids.ts';

/** A fresh database with all indexes, for one test file. */
export interface TestStore {
  readonly db: Db;
  /** Where the server is, for processes that a test starts. */
  readonly uri: string;
  /** Drops the database and lets go of everything. */
  close(): Promise<void>;
}

/** On the server that `MONGODB_URI` names. */
export async function openTestStore(): Promise<TestStore> {
  const mongodbUri = process.env.MONGODB_URI ?? '';
  const store = await connectStore({ mongodbUri, dataDir: '', mongodbDatabase: newId('test') });
  await ensureIndexes(store.db);
  return {
    db: store.db,
    uri: mongodbUri,
    close: async () => {
      await store.db.dropDatabase();
      await store.close();
    },
  };
}
