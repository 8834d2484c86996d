import type { Document } from 'mongodb';

/**
 * When, from where and how often a key was used recently. Stored apart from the key, which changes rarely and is read by every
 * gateway.
 */
export interface KeyUseDocument {
  /** The key's id. */
  readonly _id: string;
  /** Time of the newest request, to the minute. */
  readonly at: Date;
  readonly address: string;
  /** Requests by hour of the last day. `h7` is the newest hour whose number modulo 24 is 7; `hour` counts hours from 1970. */
  readonly hours: Readonly<Record<string, { readonly hour: number; readonly requests: number }>>;
}

/** What one process saw of a key since its last report. */
export interface KeyUse {
  readonly key: string;
  readonly at: Date;
  readonly address: string;
  readonly requests: number;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Adds a use to its key's document, which may not exist yet. The newest address wins, in whatever order processes report. */
export function usePipeline({ at, address, requests }: KeyUse): Document[] {
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

/** Requests in the current hour and the 23 before it. */
export function requestsOfDay({ hours }: KeyUseDocument, now: Date): number {
  const first = hourOf(now) - HOURS + 1;
  return Object.values(hours).reduce((sum, { hour, requests }) => (hour >= first ? sum + requests : sum), 0);
}

function hourOf(at: Date): number {
  return Math.floor(at.getTime() / HOUR_MS);
}
