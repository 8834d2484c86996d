import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { ensureIndexes } from '../../shared/platform/mongo/indexes.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { startEmbeddedStore } from '../../workers/embedded-db/server.ts';
import { use } from './use.ts';

/** A fresh database with all indexes, for one test file. */
export interface TestStore {
  readonly db: Db;
  /** The server's address, for processes that a test starts. */
  readonly uri: string;
  /** Drops the database and closes everything. */
  close(): Promise<void>;
}

/** Closed by the suite. */
export type UsedStore = Pick<TestStore, 'db' | 'uri'>;

/** On the MongoDB of `HARKARA_MONGODB_URI`, else on a new embedded store inside this process. */
export async function openTestStore(): Promise<TestStore> {
  const server = await startServer(process.env.HARKARA_MONGODB_URI ?? '');
  const store = await connectStore({ mongodbUri: server.uri, dataDir: '', mongodbDatabase: newId('test') });
  await ensureIndexes(store.db);
  return {
    db: store.db,
    uri: server.uri,
    close: async () => {
      await store.db.dropDatabase();
      await store.close();
      await server.close();
    },
  };
}

/** For the body of a `describe`: a store, opened and closed by `use`. */
export function useStore(): UsedStore {
  return use(openTestStore);
}

async function startServer(uri: string): Promise<{ readonly uri: string; close(): Promise<void> }> {
  if (uri !== '') return { uri, close: async () => {} };
  const dir = mkdtempSync(join(tmpdir(), 'harkara-test-'));
  const embedded = await startEmbeddedStore({ dir, durability: 'none' });
  return {
    uri: embedded.uri,
    close: async () => {
      await embedded.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
