import type { Route } from '../../shared/messages/message.ts';
import { FreshCache } from '../../shared/runtime/fresh-cache.ts';
import type { SenderDocument } from '../../shared/senders/sender.ts';
import { findSenders, type SenderKey, senderKey } from '../../shared/senders/store.ts';
import type { Caller } from '../http/context.ts';
import type { GatewayDeps } from '../process/deps.ts';

const REMEMBERED_SENDERS = 20_000;

/** Tells whether an account may send as `sender` on `route`; what the store says is believed for `KEY_CACHE_MS`. */
export type MaySendAs = (account: Caller['account'], sender: string, route: Route) => Promise<boolean>;

/** Accounts with `senders: 'any'` may use every sender of valid form; the others, and those with DLT, need an approved registration. */
export function createMaySendAs({ db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): MaySendAs {
  const senders = new FreshCache<SenderKey, SenderDocument>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_SENDERS,
    clock,
    readMany: (keys) => findSenders(db, keys),
  });
  return async (account, sender, route) => {
    if (account.senders === 'any' && account.dlt !== 'on') return true;
    const registered = await senders.get(senderKey(account._id, sender));
    return registered?.status === 'approved' && registered.routes.includes(route);
  };
}
