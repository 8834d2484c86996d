import { findAccounts } from '../../shared/money/accounts/store.ts';
import { FreshCache } from '../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, liveAccountOf, testAccountOf } from '../../shared/platform/runtime/ids.ts';
import type { CallerAccount } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { asTestAccount, makeTestAccounts } from './test-account.ts';

const REMEMBERED_ACCOUNTS = 20_000;

/**
 * The account of a key or user; none for one that is closed. A process reads it at most once per 4 s. A test account has the settings
 * of the live one, and is made when it is asked for first.
 */
export type ReadAccount = (id: AccountId) => Promise<CallerAccount | undefined>;

export function createReadAccount({ db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): ReadAccount {
  const accounts = new FreshCache<AccountId, CallerAccount>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_ACCOUNTS,
    clock,
    readMany: async (ids) => {
      const found = await findAccounts(db, [...new Set([...ids, ...ids.map(liveAccountOf)])]);
      const open = found.filter(({ status, test }) => status !== 'closed' && test === undefined);
      const asked = new Set(ids);
      const tested = open.filter(({ _id }) => asked.has(testAccountOf(_id)));
      const made = new Set(found.map(({ _id }) => _id));
      const missing = tested.filter(({ _id }) => !made.has(testAccountOf(_id)));
      if (missing.length > 0) await makeTestAccounts(db, missing, clock.now());
      const all: readonly CallerAccount[] = [...open, ...tested.map(asTestAccount)];
      return new Map(all.map((account) => [account._id, account]));
    },
  });
  return (id) => accounts.get(id);
}
