import { existsSync } from 'node:fs';
import type { Config } from '../../../shared/config/settings.ts';
import { connectStore, type Store } from '../../../shared/mongo/connect.ts';
import { embeddedSocketPath, embeddedStoreDir } from '../../../shared/mongo/embedded-socket.ts';
import { StartError } from '../../../shared/runtime/lifecycle.ts';
import { startEmbeddedStore } from '../../../workers/embedded-db/server.ts';

/**
 * The product's own store, whether the product runs or not: an embedded store that is not running is started inside this command.
 * Writes are possible, whatever the store says about access. Throws `StartError` when the store cannot be reached.
 */
export async function openOwnStore(config: Config): Promise<Store> {
  if (config.mongodbUri !== '') return connectStore(config, 0);
  const dir = embeddedStoreDir(config.dataDir);
  if (existsSync(embeddedSocketPath(dir))) {
    try {
      return await connectStore(config, 0);
    } catch (error) {
      if (!(error instanceof StartError)) throw error; // A socket without a listener is left over from a killed store.
    }
  }
  const embedded = await startEmbeddedStore({ dir, durability: 'fsync' });
  try {
    const store = await connectStore(config, 0);
    return {
      ...store,
      close: async () => {
        await store.close();
        await embedded.close();
      },
    };
  } catch (error) {
    await embedded.close();
    throw error;
  }
}
