import type { Db } from 'mongodb';
import type { GatewayDeps } from '../../gateway/http/deps.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { makeKey, TEST_CONFIG, useGateway } from './gateway.ts';
import { makeAccount } from './make.ts';
import { useStore } from './store.ts';
import { opened } from './use.ts';

/** A suite's store and gateway, with a new account and an all-scopes key for each test. */
export interface AccountGateway {
  readonly db: Db;
  readonly storeUri: string;
  readonly url: string;
  readonly account: AccountId;
  readonly key: string;
}

/** For the body of a `describe`: opens and closes it all around the tests. Read the result in hooks and tests only. */
export function accountAtGateway(credits: number, config: Partial<GatewayDeps['config']> = {}): AccountGateway {
  const store = useStore();
  const gateway = useGateway(store, { config: { ...TEST_CONFIG, ...config } });
  let account: AccountId | undefined;
  let key: string | undefined;
  const world: AccountGateway = {
    get db() {
      return store.db;
    },
    get storeUri() {
      return store.uri;
    },
    get url() {
      return gateway.url;
    },
    get account() {
      return opened(account);
    },
    get key() {
      return opened(key);
    },
  };
  beforeEach(async () => {
    account = await makeAccount(world.db, credits);
    key = await makeKey(world.db, account, ['send', 'read', 'manage']);
  });
  return world;
}
