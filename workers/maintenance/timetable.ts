import { type Logger, type ScheduledTask, schedule } from 'node-cron';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';

/**
 * When each duty runs. Duties find their work by its due time, so one late run does the work of all missed ones.
 * Missed runs are not repeated and are no error.
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
   * Runs `seconds` after the end of the last run. Not a cron pattern: after a machine was suspended for a night,
   * node-cron walks through every missed second first (9 s of CPU for a day).
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

  /**
   * Runs at the times of a cron pattern with seconds. A late run still takes place, unless the next one is due
   * already.
   */
  at(duty: string, pattern: string, run: () => Promise<void>): void {
    const task = schedule(pattern, run, {
      noOverlap: true,
      // By default node-cron skips a run that is a second late. A nightly run would then wait for the next night.
      missedExecutionTolerance: Number.POSITIVE_INFINITY,
      logger: this.#logger(duty),
    });
    // node-cron reports all missed runs at once. They are logged as one line, even after a week.
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

  /** Starts no further run. A run in progress continues; `Duties.stop` waits for it. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const task of this.#tasks) void task.destroy();
  }

  /** Where node-cron writes its messages instead of standard error. Its only warning is about a skipped run. */
  #logger(duty: string): Logger {
    return {
      debug: () => {},
      info: () => {},
      warn: () => this.#log.debug('turn_skipped', { duty, reason: 'still_running' }),
      error: (error) => this.#log.error('timetable_failed', { duty, ...unexpectedErrorFields(error) }),
    };
  }
}
