import type { Db } from 'mongodb';
import type { Fates, TrafficSeen } from '../../shared/conditions/seen.ts';
import { ALL, HOUR_MS, readTraffic, type TrafficRow } from '../../shared/messages/statistics.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';

const DAY_MS = 24 * HOUR_MS;
/** The hours are counted anew every 15 s at most (statistics/count-hours.ts). */
const RECENT_MS = 60_000;
/** A week of an installation with much traffic is some 100,000 rows. */
const USUAL_MS = 6 * HOUR_MS;

type Sums = ReadonlyMap<string, Fates>;

/** What became of messages by carrier and by operators' route, from the hourly counts: lately, and in the week before. */
export class WatchedTraffic {
  readonly #db: Db;
  readonly #clock: Clock;
  #recent: Sums = new Map();
  #recentAtMs = Number.NEGATIVE_INFINITY;
  #usual: Sums = new Map();
  #usualAtMs = Number.NEGATIVE_INFINITY;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async look(): Promise<readonly TrafficSeen[]> {
    const nowMs = this.#clock.now().getTime();
    const monotonicMs = this.#clock.monotonicMs();
    const lately = new Date(nowMs - HOUR_MS);
    if (monotonicMs - this.#recentAtMs >= RECENT_MS) {
      this.#recent = await this.#sum(lately, new Date(nowMs + HOUR_MS));
      this.#recentAtMs = monotonicMs;
    }
    if (monotonicMs - this.#usualAtMs >= USUAL_MS) {
      this.#usual = await this.#sum(new Date(lately.getTime() - 7 * DAY_MS), lately);
      this.#usualAtMs = monotonicMs;
    }
    return [...this.#recent].map(([key, recent]) => {
      const [kind, id = ''] = key.split(' ');
      return { kind: kind === 'route' ? 'route' : 'carrier', id, recent, usual: this.#usual.get(key) ?? NONE };
    });
  }

  async #sum(from: Date, to: Date): Promise<Sums> {
    const sums = new Map<string, Fates>();
    for await (const { traffic } of readTraffic(this.#db, ALL, from, to)) {
      for (const row of traffic) {
        if (row.channel !== 'sms') continue;
        for (const key of keysOf(row)) sums.set(key, plus(sums.get(key) ?? NONE, row));
      }
    }
    return sums;
  }
}

const NONE: Fates = { made: 0, ended: 0, delivered: 0, rejected: 0 };

/** Names of carriers and routes have no spaces. */
function keysOf({ carrier, rule }: TrafficRow): string[] {
  return [...(carrier === undefined ? [] : [`carrier ${carrier}`]), ...(rule === undefined ? [] : [`route ${rule}`])];
}

function plus(sum: Fates, { states }: TrafficRow): Fates {
  const { queued = 0, sent = 0, delivered = 0, failed = 0, expired = 0, rejected = 0 } = states;
  const ended = delivered + failed + expired + rejected;
  return {
    made: sum.made + queued + sent + ended,
    ended: sum.ended + ended,
    delivered: sum.delivered + delivered,
    rejected: sum.rejected + rejected,
  };
}
