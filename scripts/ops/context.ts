import { existsSync } from 'node:fs';
import type { Db } from 'mongodb';
import type { Config } from '../../shared/config/settings.ts';
import { connectStore, type Store } from '../../shared/mongo/connect.ts';
import { embeddedSocketPath, embeddedStoreDir } from '../../shared/mongo/embedded-socket.ts';
import { type FindHere, type WriteGuard, WriteRefused } from '../../shared/mongo/guarded-connection.ts';
import { openSecretBox } from '../../shared/processes/open-secret-box.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import {
  type AccessDocument,
  readAccess,
  readAccessHere,
  STATE_COLLECTION,
} from '../../shared/store-access/access-store.ts';
import { startRefusal } from '../../shared/store-access/refusal.ts';
import { type Context, Failure } from './command.ts';
import { readSecret } from './read-secret.ts';
import { type Canvas, Progress } from './store/progress.ts';
import { OPS_CLOSED_MS, OPS_LOOK_MS } from './store/read-only.ts';

/** A context that opens what a command uses; `close` closes it. */
export function openContext(
  config: Config,
  { err: tell, canvas }: { readonly err: Context['tell']; readonly canvas?: Canvas },
): Context & { close(): Promise<void> } {
  let store: Store | undefined;
  const db = async () => {
    store ??= await open(config);
    return store.db;
  };
  return {
    config,
    clock: systemClock,
    progress: new Progress(canvas, systemClock),
    tell,
    db,
    box: async () => openSecretBox(config, await db()),
    secret: readSecret,
    close: async () => store?.close(),
  };
}

async function open(config: Config): Promise<Store> {
  const socket = embeddedSocketPath(embeddedStoreDir(config.dataDir));
  const embedded = config.mongodbUri === '';
  const notRunning = `No embedded store is running in ${config.dataDir}: start the product first (npm start, or PM2), or set MONGODB_URI. If the store ends again, its log says why.`;
  if (embedded && !existsSync(socket)) throw new Failure(notRunning);
  const guard = new OpsGuard();
  try {
    const store = await connectStore(config, 0, guard);
    await guard.follow(store.db);
    return store;
  } catch (error) {
    // A socket without a listener is left over from a killed store.
    if (embedded && error instanceof StartError) throw new Failure(notRunning, { cause: error });
    throw error;
  }
}

const LATE =
  'The store became read-only while this was being stored, and its answer came late. It is in this store, but perhaps not in a copy of it that is being made: look there, and run the command again where it is missing. What would have followed it, such as the end of its entry in the audit, was not done.';

/**
 * Looks at the start whether the store is closed to writers, and again before a write when the last look is `OPS_LOOK_MS` old. So
 * a long command ends soon after the store is closed. Commands do not report themselves as processes do; whoever closes the store
 * waits some seconds for them instead. A write whose answer comes later than that ends with `LATE`.
 */
class OpsGuard implements WriteGuard {
  #follows = false;
  #access: AccessDocument | undefined;
  #lookedMs = 0;

  async follow(db: Db): Promise<void> {
    this.#follows = true;
    await this.#look(() => readAccess(db));
  }

  async write(collection: string, send: () => Promise<unknown>, find: FindHere): Promise<unknown> {
    // Looks again when the answer itself came so late that it is too old.
    while (this.#follows && systemClock.monotonicMs() - this.#lookedMs >= OPS_LOOK_MS) {
      await this.#look(() => readAccessHere(find));
    }
    if (this.#access === undefined) {
      const answer = await send();
      // The command that closes the store writes that itself.
      if (collection !== STATE_COLLECTION) await this.#checkLate(find);
      return answer;
    }
    const readOnly = 'The store is read-only. To change something, end that first: npm run ops -- store read-only off.';
    throw new WriteRefused(startRefusal(this.#access) ?? readOnly);
  }

  /** Whoever closed the store waited for this write only for a time. After that, the store may have been copied without the write. */
  async #checkLate(find: FindHere): Promise<void> {
    if (!this.#follows || systemClock.monotonicMs() - this.#lookedMs < OPS_CLOSED_MS) return;
    await this.#look(() => readAccessHere(find));
    if (this.#access !== undefined) throw new Failure(LATE);
  }

  async #look(read: () => Promise<AccessDocument | undefined>): Promise<void> {
    const beganMs = systemClock.monotonicMs();
    this.#access = await read();
    this.#lookedMs = beganMs;
  }
}
