import type { Clock } from '../runtime/clock.ts';
import type { Store } from './connect.ts';
import { probeFeatures } from './feature-probe.ts';

/** A tenth of the time that a request with an Idempotency-Key has to be paid for, by the store's time (gateway/http/idempotency). */
const CLOCK_MS = 1_500;

/**
 * Whether the product can run on a deployment of MongoDB: throws `StartError` with one sentence when it cannot. Returns what its
 * operators should know. Some ten short commands; for the start of a process. `troubleMs`: for how long what fails is tried again.
 */
export async function checkStore(
  { db, warnings }: Pick<Store, 'db' | 'warnings'>,
  clock: Clock,
  troubleMs?: number,
): Promise<readonly string[]> {
  const askedMs = clock.now().getTime();
  const storeMs = (await probeFeatures(db, troubleMs)).getTime();
  const answeredMs = clock.now().getTime();
  const difference = Math.max(askedMs - storeMs, storeMs - answeredMs);
  if (difference < CLOCK_MS) return warnings;
  const apart = `${(difference / 1_000).toFixed(1)} s ${storeMs < askedMs ? 'behind' : 'ahead of'}`;
  return [
    ...warnings,
    `The clock of the server behind HARKARA_MONGODB_URI is ${apart} that of this machine: set both by NTP. From 15 s on, requests with an Idempotency-Key are refused.`,
  ];
}
