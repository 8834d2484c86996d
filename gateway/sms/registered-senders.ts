import type { Route } from '../../shared/messages/message.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import type { SenderDocument } from '../../shared/senders/sender.ts';
import { findSender } from '../../shared/senders/store.ts';
import type { Caller } from '../http/context.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { ReadCache } from '../process/read-cache.ts';

const REMEMBERED_SENDERS = 20_000;

/** Tells whether an account may send as `sender` on `route`; what the store says is believed for `KEY_CACHE_MS`. */
export type MaySendAs = (account: Caller['account'], sender: string, route: Route) => Promise<boolean>;

/** Accounts with `senders: 'any'` may use every sender of valid form; the others, and those with DLT, need an approved registration. */
export function createMaySendAs({ db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): MaySendAs {
  const senders = new ReadCache<{ readonly account: AccountId; readonly sender: string }, SenderDocument>({
    ttlMs: config.keyCacheMs,
    maxEntries: REMEMBERED_SENDERS,
    clock,
    nameOf: ({ account, sender }) => `${account}:${sender}`,
    read: ({ account, sender }) => findSender(db, account, sender),
  });
  return async (account, sender, route) => {
    if (account.senders === 'any' && account.dlt !== 'on') return true;
    const registered = await senders.get({ account: account._id, sender });
    return registered?.status === 'approved' && registered.routes.includes(route);
  };
}
