import { type Logger, type ScheduledTask, schedule } from 'node-cron';
import { errorFields, type Log } from '../../shared/runtime/log.ts';

/**
 * When each duty runs. Duties find their work by its due time, so a run that comes late does all that the missed ones would
 * have done: no run is made up for, and a missed one is no error.
 */
export class Timetable {
  readonly #log: Log;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #tasks: ScheduledTask[] = [];
  #stopped = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * A run so many seconds after the last one ended. Not a cron pattern: after a night of a suspended machine node-cron walks
   * through every second of it before it goes on (9 s of CPU for a day).
   */
  every(seconds: number, run: () => Promise<void>): void {
    const id = this.#timers.size;
    const arm = (): void => {
      if (!this.#stopped) this.#timers.set(id, setTimeout(runAndArm, seconds * 1_000));
    };
    const runAndArm = async (): Promise<void> => {
      await run();
      arm();
    };
    arm();
  }

  /** Runs at the times of a cron pattern with seconds. A run that comes late still happens, unless the next is due already. */
  at(duty: string, pattern: string, run: () => Promise<void>): void {
    const task = schedule(pattern, run, {
      noOverlap: true,
      // By default a run that is a second late is left out, a nightly one until the next night.
      missedExecutionTolerance: Number.POSITIVE_INFINITY,
      logger: this.#logger(duty),
    });
    // node-cron tells of each missed run at once; a machine that slept for a week is one line.
    let missed = 0;
    task.on('execution:missed', () => {
      missed += 1;
      if (missed > 1) return;
      queueMicrotask(() => {
        this.#log.info('turns_missed', { duty, turns: missed });
        missed = 0;
      });
    });
    this.#tasks.push(task);
  }

  /** No further run begins; one in progress goes on. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const task of this.#tasks) void task.destroy();
  }

  /** Where node-cron writes; left to itself it is the process's standard error. Its one warning is of a run that was left out. */
  #logger(duty: string): Logger {
    return {
      debug: () => {},
      info: () => {},
      warn: () => this.#log.debug('turn_skipped', { duty, reason: 'still_running' }),
      error: (error) => this.#log.error('timetable_failed', { duty, ...errorFields(error) }),
    };
  }
}
