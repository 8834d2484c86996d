import type { Db } from 'mongodb';
import { AllPlacesTaken, freePlaces, type Places, takePlace } from '../../platform/mongo/places.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * How many things an account may have made itself, by collection (docs/decisions/0024). What operators made or approved
 * does not count, except CTAs. Each thing has a place (platform/mongo/places.ts); only opt-outs, too many for that, are
 * counted in the account.
 */
export const QUOTAS = {
  /** Not approved: waiting, or rejected. */
  senders: 100,
  /** All of them, because each process that checks texts keeps an account's in memory. */
  ctas: 2_000,
  /** Not approved: waiting, or rejected. */
  templates: 200,
  /** Requests for DLT templates that have no id of the DLT platform. */
  template_requests: 200,
  chat_template_requests: 1_000,
  /** Entered by the account, ever; what customers write is not counted. */
  opt_outs: 1_000_000,
  /** Files of messages, which are kept for a day. */
  exports: 3,
} as const;

export type Quota = keyof typeof QUOTAS;

export class QuotaReached extends Error {
  readonly code = 'quota_reached';
  readonly quota: Quota;
  /** How many things were to be made, and for how many there was room. */
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

/** Places that were free at the time of the read, in random order. Throws `QuotaReached` when they are too few. */
export async function roomFor(db: Db, quota: Quota, account: AccountId, wanted: number): Promise<readonly number[]> {
  const free = await freePlaces(placesOf(db, quota, account));
  if (free.length < wanted) throw new QuotaReached(quota, wanted, free.length);
  return free
    .map((place) => ({ place, by: Math.random() }))
    .sort((a, b) => a.by - b.by)
    .slice(0, wanted)
    .map(({ place }) => place);
}
