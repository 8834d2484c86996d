/**
 * How many posts an account, or an address of the internet, may have in flight: a part of what is free at the moment
 * (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998). Alone it may have a
 * hundred. The more posts others have, the smaller its quota. Some places stay free even when all of them want more,
 * so that a newcomer does not have to wait for a slow receiver.
 */

/** The most posts in flight of a process. Each costs a socket and some 20 KB. */
export const IN_FLIGHT_MAX = 512;
/** The most posts in flight to all slow endpoints together. */
export const SLOW_MAX = 384;
/** A post that takes longer makes its endpoint slow. Most answers take some hundred milliseconds. */
export const SLOW_MS = 1_000;
/** A quota is the free places divided by this. Slow endpoints keep their places for seconds, so they get less. */
const PART = 4;
const SLOW_PART = 8;

/** The posts in flight when another one wants to start. */
export interface InFlight {
  readonly all: number;
  /** Posts to slow endpoints. */
  readonly slow: number;
  /** Posts of the endpoint's account. */
  readonly account: number;
  /** Posts to the address that the endpoint's host is connected to. */
  readonly destination: number;
  /** Posts of the endpoint's account to that address. */
  readonly accountThere: number;
  readonly endpoint: number;
}

/** The limit that was reached. A post that counts for it must end before another can start. */
export type Limit = 'process' | 'endpoint' | 'slow' | 'account' | 'destination';

/** The limits that several endpoints have in common. */
export const SHARED = ['process', 'slow', 'account', 'destination'] as const satisfies readonly Limit[];

/**
 * The limit that keeps a post from starting. Undefined when it may start. `endpointMax`: the most posts in flight to
 * its endpoint.
 */
export function reachedLimit(inFlight: InFlight, endpointMax: number, slow: boolean): Limit | undefined {
  const { all, account, destination, accountThere, endpoint } = inFlight;
  if (all >= IN_FLIGHT_MAX) return 'process';
  if (endpoint >= endpointMax) return 'endpoint';
  if (slow && inFlight.slow >= SLOW_MAX) return 'slow';
  const quota = quotaOf(inFlight, slow);
  if (account >= quota) return 'account';
  // Several accounts may post to one address. An account's first post there is always allowed, however many posts the
  // others have.
  if (destination >= quota && accountThere > 0) return 'destination';
  return undefined;
}

/** The most posts in flight now. At least one while any place is free. */
function quotaOf({ all, slow }: InFlight, isSlow: boolean): number {
  const most = Math.ceil((IN_FLIGHT_MAX - all) / PART);
  return isSlow ? Math.min(most, Math.ceil((SLOW_MAX - slow) / SLOW_PART)) : most;
}
