import type { BindReportDocument } from '../carriers/bind-report.ts';
import type { CarrierDocument } from '../carriers/carrier.ts';
import { listOfPath } from './path.ts';

/**
 * Whether a carrier takes messages now, as all processes see it: from its document, its lease and what its holder reports.
 * `tripped`: it refuses nearly everything (workers/smpp/submit/breaker.ts). `down`: no bind for some seconds, or no holder.
 */
export interface Standing {
  readonly state: 'up' | 'tripped' | 'down' | 'paused';
  /** Since when it is `down`. */
  readonly since?: Date | undefined;
  /** Since when more waits for it than it takes, where that is so. */
  readonly behindSince?: Date | undefined;
}

export type Standings = ReadonlyMap<string, Standing>;

/** A bind that was lost comes back within a second or two; only then the next carrier takes over. */
const DOWN_AFTER_MS = 5_000;
/** A carrier that has been down for longer is not waited for by a message that another one refused. */
const GIVEN_UP_MS = 10 * 60_000;

/**
 * `epoch`: of the carrier's lease, if somebody holds it. `unheldSince`: when it was first seen that nobody does. When all processes
 * start, or one gives its carriers to another, nobody holds them for a moment.
 */
export function standingOf(
  { status }: Pick<CarrierDocument, 'status'>,
  epoch: number | undefined,
  report: BindReportDocument | undefined,
  now: Date,
  unheldSince: Date = report?.at ?? new Date(0),
): Standing {
  const isLong = (since: Date): boolean => now.getTime() - since.getTime() > DOWN_AFTER_MS;
  if (status === 'paused') return { state: 'paused' };
  if (epoch === undefined) return isLong(unheldSince) ? { state: 'down', since: unheldSince } : { state: 'up' };
  // Its holder has just begun, and reports within a second.
  if (report?.epoch !== epoch) return { state: 'up' };
  const { unboundSince, trippedUntil, behindSince } = report.flow ?? {};
  if (unboundSince !== undefined && isLong(unboundSince)) return { state: 'down', since: unboundSince };
  return { state: trippedUntil === undefined ? 'up' : 'tripped', behindSince };
}

/**
 * Whether `carrier`, which is bound, may take from `path` now. Of the carriers of a path those in the best state count: up, else
 * tripped. In a list the first of them takes, and the next one helps when messages have waited too long for all before it. In a
 * routing group each takes. `as`: what to believe of the carrier itself.
 */
export function mayTake(
  path: string,
  carriers: readonly string[],
  carrier: string,
  as: 'up' | 'tripped',
  standings: Standings,
  now: Date,
): boolean {
  const stateOf = (one: string): Standing['state'] => (one === carrier ? as : (standings.get(one)?.state ?? 'down'));
  if (as === 'tripped' && carriers.some((one) => stateOf(one) === 'up')) return false;
  const list = listOfPath(path);
  if (list === undefined) return true;
  const before = carriers.slice(0, carriers.indexOf(carrier)).filter((one) => stateOf(one) === as);
  const longAgo = now.getTime() - list.waitSeconds * 1_000;
  return before.every((one) => (standings.get(one)?.behindSince?.getTime() ?? Number.POSITIVE_INFINITY) <= longAgo);
}

/** Whether one of these carriers may be waited for by a message that another carrier refused. */
export function isWorthWaiting(carriers: readonly string[], standings: Standings, now: Date): boolean {
  return carriers.some((one) => {
    const { state, since } = standings.get(one) ?? { state: 'down' };
    if (state !== 'down') return state !== 'paused';
    return since !== undefined && now.getTime() - since.getTime() < GIVEN_UP_MS;
  });
}
