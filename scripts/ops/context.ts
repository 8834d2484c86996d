import { existsSync } from 'node:fs';
import type { Config } from '../../shared/config/settings.ts';
import { connectStore, type Store } from '../../shared/mongo/connect.ts';
import { embeddedSocketPath, embeddedStoreDir } from '../../shared/mongo/embedded-socket.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import { createSecretBox, loadSecretKey } from '../../shared/runtime/secret-box.ts';
import { type Context, Failure } from './command.ts';
import { readSecret } from './read-secret.ts';

/** A context that opens what a command uses; `close` closes it. */
export function openContext(config: Config): Context & { close(): Promise<void> } {
  let store: Store | undefined;
  return {
    config,
    clock: systemClock,
    db: async () => {
      store ??= await open(config);
      return store.db;
    },
    box: () => createSecretBox(loadSecretKey(config.secretKey, config.dataDir)),
    secret: readSecret,
    close: async () => store?.close(),
  };
}

async function open(config: Config): Promise<Store> {
  const socket = embeddedSocketPath(embeddedStoreDir(config.dataDir));
  const embedded = config.mongodbUri === '';
  const notRunning = `No embedded store is running in ${config.dataDir}: start the product first (npm start, or PM2), or set MONGODB_URI.`;
  if (embedded && !existsSync(socket)) throw new Failure(notRunning);
  try {
    return await connectStore(config, 0);
  } catch (error) {
    // A socket without a listener is left over from a killed store.
    if (embedded && error instanceof StartError) throw new Failure(notRunning, { cause: error });
    throw error;
  }
}
