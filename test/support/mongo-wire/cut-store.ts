import type { Db } from 'mongodb';
import { connectStore, type Store } from '../../../shared/platform/mongo/connect.ts';
import { openTestStore, type TestStore } from '../store.ts';
import { opened } from '../use.ts';
import { startWireProxy, type WireProxy } from './proxy.ts';

/** A store, and a second connection to it for faults. */
export interface CutStore {
  readonly store: TestStore;
  readonly proxy: WireProxy;
  /** Through the proxy. */
  readonly cut: { readonly db: Db };
}

/** For the body of a `describe`; open from `before` on. */
export function withCutStore(): CutStore {
  const made: { store?: TestStore; proxy?: WireProxy; cut?: Store } = {};
  before(async () => {
    made.store = await openTestStore();
    made.proxy = await startWireProxy(made.store.uri);
    const mongodbDatabase = made.store.db.databaseName;
    made.cut = await connectStore({ mongodbUri: made.proxy.uri, dataDir: '', mongodbDatabase });
  });
  after(async () => {
    await made.cut?.close();
    await made.proxy?.close();
    await made.store?.close();
  });
  return {
    get store() {
      return opened(made.store);
    },
    get proxy() {
      return opened(made.proxy);
    },
    get cut() {
      return opened(made.cut);
    },
  };
}
