/**
 * How many posts an account, or an address of the internet, may have in flight: a part of what is free just now (dynamic
 * thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998). Alone it may have a hundred; the more others
 * have, the fewer. Something stays free whatever all of them ask for, so that the next to come need not wait until a slow
 * receiver answers.
 */

/** Posts in flight of a process: a socket and some 20 KB each. */
export const IN_FLIGHT_MAX = 512;
/** Of these, all endpoints together whose posts take long (`SLOW_MS`). */
export const SLOW_MAX = 384;
/** A post that takes longer makes its endpoint a slow one. Most answer within some hundred milliseconds. */
export const SLOW_MS = 1_000;
/** One part in so many of what is free. The posts of slow endpoints hold their places for seconds. */
const PART = 4;
const SLOW_PART = 8;

/** Posts in flight when one more is to start. */
export interface InFlight {
  readonly all: number;
  /** To slow endpoints. */
  readonly slow: number;
  /** Of the endpoint's account. */
  readonly account: number;
  /** To the address that the endpoint's host is connected to. */
  readonly destination: number;
  /** Of the account, to that address. */
  readonly accountThere: number;
  readonly endpoint: number;
}

/** What has as many posts in flight as it may. One of them has to end before another may start. */
export type Full = 'process' | 'endpoint' | 'slow' | 'account' | 'destination';

/** Of these, what several endpoints have in common. */
export const SHARED = ['process', 'slow', 'account', 'destination'] as const satisfies readonly Full[];

/** What keeps a post from starting; undefined when it may. `endpointMax`: posts that its endpoint may have in flight. */
export function fullFor(inFlight: InFlight, endpointMax: number, slow: boolean): Full | undefined {
  const { all, account, destination, accountThere, endpoint } = inFlight;
  if (all >= IN_FLIGHT_MAX) return 'process';
  if (endpoint >= endpointMax) return 'endpoint';
  if (slow && inFlight.slow >= SLOW_MAX) return 'slow';
  const quota = quotaOf(inFlight, slow);
  if (account >= quota) return 'account';
  // Several accounts may post to one address: none of them, however much it wants, keeps another from its first post there.
  if (destination >= quota && accountThere > 0) return 'destination';
  return undefined;
}

/** At least one while anything is free. */
function quotaOf({ all, slow }: InFlight, isSlow: boolean): number {
  const most = Math.ceil((IN_FLIGHT_MAX - all) / PART);
  return isSlow ? Math.min(most, Math.ceil((SLOW_MAX - slow) / SLOW_PART)) : most;
}
