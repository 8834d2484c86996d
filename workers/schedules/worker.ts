import type { Db } from 'mongodb';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { PollLoop } from '../../shared/runtime/poll-loop.ts';
import { nextDue } from '../../shared/schedules/store.ts';
import { Alarm } from './alarm.ts';
import { releaseDue } from './release.ts';

export interface WorkerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How often the near future is looked at for seconds without an alarm. */
const ROUND_MS = 1_000;
/** How far ahead alarms are set: what is later than this waits in its document alone, however long. */
const AHEAD_MS = 10_000;
/** What is due for so long was missed by its alarm (its process died, Agenda failed), or is to be done again. */
const MISSED_MS = 2_000;
/** One release goes on at most so long; what is left is missed by then and taken by the next round. */
const RELEASE_MS = 5_000;

/**
 * Releases schedules at their time. Each round sets alarms for the seconds of the near future that have schedules, and takes
 * what alarms have missed. An alarm releases all that is due at its second, group by group. Nothing that matters is in
 * memory, and any number of workers may do this side by side: each schedule is claimed by one atomic update.
 */
export class ScheduleWorker {
  readonly #options: WorkerOptions;
  readonly #alarm: Alarm;
  readonly #loop: PollLoop;
  readonly #released: ReturnType<Metrics['counter']>;
  /** Seconds with an alarm, in milliseconds. */
  readonly #set = new Set<number>();
  /** The release in progress; whoever comes meanwhile raises `#upTo` and waits for the same. */
  #running: Promise<void> | undefined;
  #upTo = new Date(0);
  #stopped = false;
  #firstRound = true;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { db, log, metrics } = options;
    this.#alarm = new Alarm({ db, log, ring: (second) => this.#ring(second) });
    this.#loop = new PollLoop({ name: 'schedules', idleMs: ROUND_MS, log, work: () => this.#round() });
    this.#released = metrics.counter('schedules_released_total', 'Schedules that became messages');
  }

  /** Throws when the store cannot be asked. */
  async start(): Promise<void> {
    await this.#alarm.start();
    this.#loop.start();
  }

  /** Ends the group in progress; what is left is released by another worker or the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop.stop();
    await this.#alarm.stop();
    await this.#running?.catch(() => {}); // logged by who began it
  }

  async #round(): Promise<'idle'> {
    const nowMs = this.#options.clock.now().getTime();
    // What came due while no worker ran need not wait any longer.
    const missedMs = this.#firstRound ? nowMs : nowMs - MISSED_MS;
    await this.#release(new Date(missedMs));
    this.#firstRound = false;
    await this.#setAlarms(missedMs, nowMs + AHEAD_MS);
    for (const second of this.#set) if (second < missedMs) this.#set.delete(second);
    return 'idle';
  }

  /** For each second in the range that has schedules: one read, and one alarm when it is new here. */
  async #setAlarms(fromMs: number, untilMs: number): Promise<void> {
    const until = new Date(untilMs);
    let after = new Date(fromMs);
    while (!this.#stopped) {
      const due = await nextDue(this.#options.db, after, until);
      if (due === undefined) return;
      // The second is full when all that is due in it is due: nothing leaves early.
      const second = new Date(Math.ceil(due.getTime() / 1_000) * 1_000);
      if (!this.#set.has(second.getTime())) {
        await this.#alarm.set(second);
        this.#set.add(second.getTime());
      }
      after = second;
    }
  }

  /** Timers may be a moment early, so the second counts and not the clock. */
  async #ring(second: Date): Promise<void> {
    const now = this.#options.clock.now();
    try {
      await this.#release(now > second ? now : second);
    } catch (error) {
      this.#options.log.warn('release_failed', { second: second.toISOString(), ...errorFields(error) });
    }
  }

  /** Releases all that is due by `upTo`, as far as it comes. */
  #release(upTo: Date): Promise<void> {
    if (upTo > this.#upTo) this.#upTo = upTo;
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
        const { found, released } = await releaseDue(db, clock, upTo);
        count += released;
        this.#released.inc(released);
        if (this.#stopped || clock.monotonicMs() - startedMs > RELEASE_MS) return;
        if (found === 0 && this.#upTo <= upTo) return;
      }
    } finally {
      // In the same turn as the last look at `#upTo`: nobody can raise it unseen in between.
      this.#running = undefined;
      if (count > 0) log.info('released', { count, ms: Math.round(clock.monotonicMs() - startedMs) });
    }
  }
}
