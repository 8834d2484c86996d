import { findAccounts } from '../../shared/money/accounts/store.ts';
import { FreshCache } from '../../shared/platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { CallerAccount } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';

const REMEMBERED_ACCOUNTS = 20_000;

/** The account of a key or user; none for one that is closed. A process reads it at most once per 4 s. */
export type ReadAccount = (id: AccountId) => Promise<CallerAccount | undefined>;

export function createReadAccount({ db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): ReadAccount {
  const accounts = new FreshCache<AccountId, CallerAccount>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_ACCOUNTS,
    clock,
    readMany: async (ids) => {
      const open = (await findAccounts(db, ids)).filter(({ status }) => status !== 'closed');
      return new Map(open.map((account) => [account._id, account]));
    },
  });
  return (id) => accounts.get(id);
}
