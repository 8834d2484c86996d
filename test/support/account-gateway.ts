import type { Db } from 'mongodb';
import type { GatewayDeps } from '../../gateway/http/deps.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { makeKey, openGateway, TEST_CONFIG, type TestGateway } from './gateway.ts';
import { makeAccount } from './make.ts';
import { opened } from './opened.ts';
import { openTestStore, type TestStore } from './store.ts';

/** One store and gateway for a suite; a new account with a key that may do everything for each test. */
export interface AccountGateway {
  readonly db: Db;
  readonly storeUri: string;
  readonly url: string;
  readonly account: AccountId;
  readonly key: string;
}

/** For the body of a `describe`: opens and closes all of it around the tests. What it returns may be read in hooks and tests only. */
export function accountAtGateway(credits: number, config: Partial<GatewayDeps['config']> = {}): AccountGateway {
  let store: TestStore | undefined;
  let gateway: TestGateway | undefined;
  let account: AccountId | undefined;
  let key: string | undefined;
  const world: AccountGateway = {
    get db() {
      return opened(store).db;
    },
    get storeUri() {
      return opened(store).uri;
    },
    get url() {
      return opened(gateway).url;
    },
    get account() {
      return opened(account);
    },
    get key() {
      return opened(key);
    },
  };
  before(async () => {
    store = await openTestStore();
    gateway = await openGateway(store.db, { config: { ...TEST_CONFIG, ...config } });
  });
  beforeEach(async () => {
    account = await makeAccount(world.db, credits);
    key = await makeKey(world.db, account, ['send', 'read', 'manage']);
  });
  after(async () => {
    await gateway?.close();
    await store?.close();
  });
  return world;
}
