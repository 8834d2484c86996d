import type { Db } from 'mongodb';
import { AllPlacesTaken, freePlaces, type Places, takePlace } from '../../platform/mongo/places.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * How many things an account may have made itself, by their collection (docs/decisions/0024). What operators made or approved is not
 * among them, but CTAs. Each thing has a place (platform/mongo/places.ts), but opt-outs, which are too many for that, are counted in the account.
 */
export const QUOTAS = {
  /** Senders that nobody has approved: they wait, or were rejected. */
  senders: 100,
  /** Links, apps and callback numbers: all of them, since each process that checks texts keeps an account's in memory. */
  ctas: 2_000,
  /** DLT templates that nobody has approved: they wait, or were rejected. */
  templates: 200,
  /** Requests for DLT templates that have no id of the DLT platform. */
  template_requests: 200,
  /** Chat-app templates that the account asked its provider for. */
  chat_template_requests: 1_000,
  /** Opt-outs that the account entered, ever: what customers write is not counted. */
  opt_outs: 1_000_000,
  /** Files of messages, which are kept for a day. */
  exports: 3,
} as const;

export type Quota = keyof typeof QUOTAS;

export class QuotaReached extends Error {
  readonly code = 'quota_reached';
  readonly quota: Quota;
  /** How many things were to be made, and how many of these there was room for. */
  readonly wanted: number;
  readonly room: number;

  constructor(quota: Quota, wanted = 1, room = 0) {
    super(`an account may have ${QUOTAS[quota]} ${quota}`);
    this.quota = quota;
    this.wanted = wanted;
    this.room = room;
  }
}

function placesOf(db: Db, quota: Quota, account: AccountId): Places {
  return { db, collection: quota, owner: { account }, most: QUOTAS[quota] };
}

/** Calls `write` with a place of the account until it takes one (`takePlace`). Throws `QuotaReached`. */
export async function withinQuota<T>(
  db: Db,
  quota: Quota,
  account: AccountId,
  write: (place: number) => Promise<T>,
): Promise<T> {
  try {
    return await takePlace(placesOf(db, quota, account), write);
  } catch (error) {
    throw error instanceof AllPlacesTaken ? new QuotaReached(quota) : error;
  }
}

/** Places for `wanted` things that were free at the time of the read, in no order. Throws `QuotaReached` when they are too few. */
export async function roomFor(db: Db, quota: Quota, account: AccountId, wanted: number): Promise<readonly number[]> {
  const free = await freePlaces(placesOf(db, quota, account));
  if (free.length < wanted) throw new QuotaReached(quota, wanted, free.length);
  return free
    .map((place) => ({ place, by: Math.random() }))
    .sort((a, b) => a.by - b.by)
    .slice(0, wanted)
    .map(({ place }) => place);
}
