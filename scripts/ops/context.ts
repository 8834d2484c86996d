import { existsSync } from 'node:fs';
import { type Local, localGateway } from '../../gateway/local.ts';
import type { Config } from '../../shared/platform/config/settings.ts';
import { connectStore, type Store } from '../../shared/platform/mongo/connect.ts';
import { expectSchema } from '../../shared/platform/mongo/schema.ts';
import { openSecretBox } from '../../shared/platform/processes/run-app.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { createLog } from '../../shared/platform/runtime/log.ts';
import { embeddedSocketPath, embeddedStoreDir } from '../../shared/platform/runtime/unix-socket.ts';
import { type Canvas, type Context, Failure, Progress } from './command.ts';
import { readSecret } from './input.ts';

export function openContext(
  config: Config,
  { err: tell, canvas }: { readonly err: Context['tell']; readonly canvas?: Canvas },
): Context & { close(): Promise<void> } {
  let store: Store | undefined;
  const db = async () => {
    store ??= await open(config);
    return store.db;
  };
  let gateway: Promise<Local> | undefined;
  const box = async () => openSecretBox(config, await db());
  const supplies = { config, clock: systemClock, log: createLog('ops', 'silent') };
  return {
    config,
    clock: systemClock,
    progress: new Progress(canvas, systemClock),
    tell,
    db,
    box,
    gateway() {
      gateway ??= db().then(async (store) => localGateway({ ...supplies, db: store, box: await box() }));
      return gateway;
    },
    secret: readSecret,
    async close() {
      await gateway?.then(
        (opened) => opened.close(),
        () => {}, // The command has reported the error.
      );
      await store?.close();
    },
  };
}

async function open(config: Config): Promise<Store> {
  const socket = embeddedSocketPath(embeddedStoreDir(config.dataDir));
  const embedded = config.mongodbUri === '';
  const notRunning = `No embedded store is running in ${config.dataDir}: start the product first (npm start, or PM2), or set HARKARA_MONGODB_URI. If the store ends again, its log says why.`;
  if (embedded && !existsSync(socket)) throw new Failure(notRunning);
  const store = await connectStore(config, 0).catch((error: unknown) => {
    // A socket without a listener was left by a killed store.
    if (embedded && error instanceof StartError) throw new Failure(notRunning, { cause: error });
    throw error;
  });
  try {
    await expectSchema(store.db);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
