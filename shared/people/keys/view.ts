import type { Db } from 'mongodb';
import { type KeyDocument, REQUESTS_PER_MINUTE } from './key.ts';
import { requestsOfDay } from './key-use.ts';
import { findKeyUses } from './use-store.ts';

/** What is shown of a key, with when, from where and how often it was used. */
export type KeyView = ReturnType<typeof view>;

/** The views of these keys, in their order. */
export async function keyViews(db: Db, now: Date, keys: readonly KeyDocument[]): Promise<readonly KeyView[]> {
  const uses = await findKeyUses(
    db,
    keys.map(({ _id }) => _id),
  );
  return keys.map((key) => view(key, uses.get(key._id), now));
}

type Use = Awaited<ReturnType<typeof findKeyUses>> extends ReadonlyMap<string, infer T> ? T : never;

function view(key: KeyDocument, use: Use | undefined, now: Date) {
  return {
    id: key._id,
    status: isExpired(key, now) ? ('expired' as const) : key.status,
    scopes: key.scopes,
    name: key.name,
    test: key.test === true,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    per_minute: key.perMinute ?? REQUESTS_PER_MINUTE,
    allowed_ips: key.allowedIps ?? null,
    last_used: use?.at ?? null,
    last_address: use?.address ?? null,
    requests_24h: use === undefined ? 0 : requestsOfDay(use, now),
  };
}

export function isExpired({ status, expiresAt }: KeyDocument, now: Date): boolean {
  return status === 'active' && expiresAt !== undefined && expiresAt <= now;
}
