import type { BindReportDocument } from '../bind-report.ts';
import type { CarrierDocument } from '../carrier.ts';
import { listOfPath } from './route.ts';

/**
 * Whether a carrier takes messages now. All processes see the same: it is derived from the carrier's document, its
 * lease and its holder's report. `tripped`: it refuses nearly everything (workers/smpp/submit/breaker.ts). `down`: no
 * bind for some seconds, or no process holds it.
 */
export interface Availability {
  readonly state: 'up' | 'tripped' | 'down' | 'paused';
  readonly since?: Date | undefined;
  /** Since when more messages wait for it than it takes. Absent while it keeps up. */
  readonly behindSince?: Date | undefined;
}

export type Availabilities = ReadonlyMap<string, Availability>;

/** A lost bind usually comes back within a second or two. The next carrier takes over only after this time. */
const DOWN_AFTER_MS = 5_000;
/** If a carrier has been down for longer than this, a message that another carrier refused does not wait for it. */
const GIVEN_UP_MS = 10 * 60_000;

/** `epoch`: of a held lease. `unheldSince`: first seen without holder, briefly normal at starts and handovers. */
export function availabilityOf(
  { status }: Pick<CarrierDocument, 'status'>,
  epoch: number | undefined,
  report: BindReportDocument | undefined,
  now: Date,
  unheldSince: Date = report?.at ?? new Date(0),
): Availability {
  const isLong = (since: Date): boolean => now.getTime() - since.getTime() > DOWN_AFTER_MS;
  if (status === 'paused') return { state: 'paused' };
  if (epoch === undefined) return isLong(unheldSince) ? { state: 'down', since: unheldSince } : { state: 'up' };
  // The holder has just started and will report within a second.
  if (report?.epoch !== epoch) return { state: 'up' };
  const { unboundSince, trippedUntil, behindSince } = report.flow;
  if (unboundSince !== undefined && isLong(unboundSince)) return { state: 'down', since: unboundSince };
  return { state: trippedUntil === undefined ? 'up' : 'tripped', behindSince };
}

/**
 * Whether `carrier`, which is bound, may take messages from `path` now. Only the path's carriers in the best state
 * count: `up`, or else `tripped`. In a list the first of them takes messages; the next one helps when messages have
 * waited too long for all before it. In a routing group each of them takes messages. `as` replaces the availability of
 * `carrier` itself.
 */
export function mayTake(
  path: string,
  carriers: readonly string[],
  carrier: string,
  as: 'up' | 'tripped',
  availabilities: Availabilities,
  now: Date,
): boolean {
  const stateOf = (one: string): Availability['state'] =>
    one === carrier ? as : (availabilities.get(one)?.state ?? 'down');
  if (as === 'tripped' && carriers.some((one) => stateOf(one) === 'up')) return false;
  const list = listOfPath(path);
  if (list === undefined) return true;
  const before = carriers.slice(0, carriers.indexOf(carrier)).filter((one) => stateOf(one) === as);
  const longAgo = now.getTime() - list.waitSeconds * 1_000;
  return before.every(
    (one) => (availabilities.get(one)?.behindSince?.getTime() ?? Number.POSITIVE_INFINITY) <= longAgo,
  );
}

/** Whether a message that another carrier refused should wait for one of these. */
export function isWorthWaiting(carriers: readonly string[], availabilities: Availabilities, now: Date): boolean {
  return carriers.some((one) => {
    const { state, since } = availabilities.get(one) ?? { state: 'down' };
    if (state !== 'down') return state !== 'paused';
    return since !== undefined && now.getTime() - since.getTime() < GIVEN_UP_MS;
  });
}
