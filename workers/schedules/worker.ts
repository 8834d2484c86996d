import type { Db } from 'mongodb';
import { isAnyDue, nextDue } from '../../shared/messages/schedule.ts';
import type { AppDeps } from '../../shared/platform/processes/run-app.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { PollLoop } from '../../shared/platform/runtime/poll-loop.ts';
import { Alarm } from './alarm.ts';
import { DueTurns, releaseDue } from './release.ts';

export interface WorkerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const ROUND_MS = 1_000;
/** Later schedules wait in the store only. */
const AHEAD_MS = 10_000;
/** A schedule overdue by this was missed (its process died, or Agenda failed), or its release must be redone. */
const MISSED_MS = 2_000;
/** How early a timer may fire. An alarm that rings earlier was set before the clock was set back. */
const EARLY_MS = 1_000;
/** The longest time of one release. The next round takes the remaining schedules as missed. */
const RELEASE_MS = 5_000;

/**
 * Releases schedules at their time. Each round sets an alarm for every second of the near future that has schedules,
 * and releases what alarms have missed. An alarm releases everything due at its second, group by group. Any number of
 * workers can run at once, and nothing is lost with their memory: one atomic update claims each schedule.
 */
export class ScheduleWorker {
  readonly #options: WorkerOptions;
  readonly #alarm: Alarm;
  readonly #turns: DueTurns;
  readonly #loop: PollLoop;
  readonly #released: ReturnType<Metrics['counter']>;
  /** The seconds that have an alarm, in milliseconds. */
  readonly #set = new Set<number>();
  /** The release in progress. A caller that comes meanwhile raises `#upTo` and waits for the same release. */
  #running: Promise<void> | undefined;
  #upTo = new Date(0);
  #stopped = false;
  #firstRound = true;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { db, log, metrics } = options;
    this.#turns = new DueTurns(db);
    this.#alarm = new Alarm({ db, log, ring: (second) => this.#ring(second) });
    this.#loop = new PollLoop({ name: 'schedules', idleMs: ROUND_MS, log, work: () => this.#round() });
    this.#released = metrics.counter('schedules_released_total', 'Schedules that became messages');
  }

  async start(): Promise<void> {
    await this.#alarm.start();
    this.#loop.start();
  }

  /** Ends after the group in progress. Another worker, or the next start, releases the rest. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop.stop();
    await this.#alarm.stop();
    await this.#running?.catch(() => {}); // the caller that began it logs the error
  }

  async #round(): Promise<'idle'> {
    const nowMs = this.#options.clock.now().getTime();
    const missedMs = this.#firstRound ? nowMs : nowMs - MISSED_MS;
    if (await isAnyDue(this.#options.db, new Date(nowMs + AHEAD_MS))) {
      await this.#release(new Date(missedMs));
      await this.#setAlarms(missedMs, nowMs + AHEAD_MS);
    }
    this.#firstRound = false;
    for (const second of this.#set) if (second < missedMs) this.#set.delete(second);
    return 'idle';
  }

  /** Takes one read for each second; an alarm that this process has set already costs no write. */
  async #setAlarms(fromMs: number, untilMs: number): Promise<void> {
    const until = new Date(untilMs);
    let after = new Date(fromMs);
    while (!this.#stopped) {
      const due = await nextDue(this.#options.db, after, until);
      if (due === undefined) return;
      // Rounded up to the full second: everything of that second is due by then, and nothing leaves early.
      const second = new Date(Math.ceil(due.getTime() / 1_000) * 1_000);
      if (!this.#set.has(second.getTime())) {
        await this.#alarm.set(second);
        this.#set.add(second.getTime());
      }
      after = second;
    }
  }

  /** A timer can fire slightly early, so what is due at the second counts as due. */
  async #ring(second: Date): Promise<void> {
    const now = this.#options.clock.now();
    const early = second.getTime() - now.getTime();
    try {
      await this.#release(early > 0 && early <= EARLY_MS ? second : now);
    } catch (error) {
      this.#options.log.warn('release_failed', { second: second.toISOString(), ...errorFields(error) });
    }
  }

  /**
   * Releases what is due by `upTo`, for at most `RELEASE_MS`. A release in progress is extended to `upTo`. An ended
   * release's `#upTo` is not kept: the clock may have been set back since.
   */
  #release(upTo: Date): Promise<void> {
    if (this.#running === undefined || upTo > this.#upTo) this.#upTo = upTo;
    this.#running ??= this.#releaseGroups();
    return this.#running;
  }

  async #releaseGroups(): Promise<void> {
    const { db, clock, log } = this.#options;
    const startedMs = clock.monotonicMs();
    let count = 0;
    try {
      for (;;) {
        const upTo = this.#upTo;
        const { found, released } = await releaseDue({ db, clock, turns: this.#turns }, upTo);
        count += released;
        this.#released.inc(released);
        if (this.#stopped || clock.monotonicMs() - startedMs > RELEASE_MS) return;
        if (found === 0 && this.#upTo <= upTo) return;
      }
    } finally {
      // No `await` since `#upTo` was last read, so nobody can have raised it in between.
      this.#running = undefined;
      if (count > 0) log.info('released', { count, ms: Math.round(clock.monotonicMs() - startedMs) });
    }
  }
}

export async function startSchedules({ db, clock, log, metrics, life }: AppDeps): Promise<void> {
  const worker = new ScheduleWorker({ db, clock, log, metrics });
  life.onStop('worker', () => worker.stop());
  await worker.start();
}
