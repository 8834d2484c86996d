import type { Collection, Db, Document } from 'mongodb';
import { type KeyDocument, REQUESTS_PER_MINUTE } from './key.ts';

/** Recent use. Apart from the key, which changes rarely and is read by every gateway. */
export interface KeyUseDocument {
  readonly _id: string;
  /** Time of the newest request, to the minute. */
  readonly at: Date;
  readonly address: string;
  /** The last day's hours. `h7` is the newest hour whose number modulo 24 is 7; `hour` counts hours from 1970. */
  readonly hours: Readonly<Record<string, { readonly hour: number; readonly requests: number }>>;
}

/** By one process, since its last report. */
export interface KeyUse {
  readonly key: string;
  readonly at: Date;
  readonly address: string;
  readonly requests: number;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** The key's document may not exist yet. The newest address wins, in whatever order processes report. */
function usePipeline({ at, address, requests }: KeyUse): Document[] {
  const hour = hourOf(at);
  const slot = `hours.h${hour % HOURS}`;
  const before = { $cond: [{ $eq: [`$${slot}.hour`, hour] }, `$${slot}.requests`, 0] };
  return [
    {
      $set: {
        at: { $max: ['$at', at] },
        address: { $cond: [{ $gte: [at, '$at'] }, { $literal: address }, '$address'] },
        [slot]: { hour: { $literal: hour }, requests: { $add: [before, requests] } },
      },
    },
  ];
}

/** In the current hour and the 23 before it. */
export function requestsOfDay({ hours }: KeyUseDocument, now: Date): number {
  const first = hourOf(now) - HOURS + 1;
  return Object.values(hours).reduce((sum, { hour, requests }) => (hour >= first ? sum + requests : sum), 0);
}

function hourOf(at: Date): number {
  return Math.floor(at.getTime() / HOUR_MS);
}

/** A repeated call counts twice; that is good enough for numbers that only people read. */
export async function addKeyUses(db: Db, uses: readonly KeyUse[]): Promise<void> {
  if (uses.length === 0) return;
  await keyUses(db).bulkWrite(
    uses.map((use) => ({ updateOne: { filter: { _id: use.key }, update: usePipeline(use), upsert: true } })),
    { ordered: false },
  );
}

export async function findKeyUses(db: Db, keys: readonly string[]): Promise<ReadonlyMap<string, KeyUseDocument>> {
  const found = await keyUses(db)
    .find({ _id: { $in: keys } })
    .toArray();
  return new Map(found.map((use) => [use._id, use]));
}

function keyUses(db: Db): Collection<KeyUseDocument> {
  return db.collection('key_uses');
}

export type KeyView = ReturnType<typeof view>;

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
