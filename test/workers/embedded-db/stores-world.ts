import { rmSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { type EmbeddedStore, startEmbeddedStore } from '../../../workers/embedded-db/server.ts';
import { tempDir } from './store-under-test.ts';

/** Stores in a fresh directory for each test, and their clients; closed after it. For the body of a `describe`. */
export function storesInOneDirectory() {
  let dir: string;
  let stores: EmbeddedStore[];
  let clients: MongoClient[];
  beforeEach(() => {
    dir = tempDir();
    stores = [];
    clients = [];
  });
  afterEach(async () => {
    for (const client of clients) await client.close();
    for (const store of stores) await store.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function start(options: Partial<Parameters<typeof startEmbeddedStore>[0]> = {}): Promise<EmbeddedStore> {
    const store = await startEmbeddedStore({ dir, durability: 'none', ...options });
    stores.push(store);
    return store;
  }

  function connect(store: EmbeddedStore): MongoClient {
    const client = new MongoClient(store.uri, { serverSelectionTimeoutMS: 5000 });
    clients.push(client);
    return client;
  }

  async function stop(store: EmbeddedStore): Promise<void> {
    stores.splice(stores.indexOf(store), 1);
    await store.close();
  }

  return {
    get dir(): string {
      return dir;
    },
    start,
    connect,
    stop,
  };
}
