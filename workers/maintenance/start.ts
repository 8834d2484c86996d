import { type Logger, type ScheduledTask, schedule } from 'node-cron';
import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { type AppDeps, openSecretBox } from '../../shared/platform/processes/run-app.ts';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import { PollLoop } from '../../shared/platform/runtime/poll-loop.ts';
import { embeddedStoreDir } from '../../shared/platform/runtime/unix-socket.ts';
import { Duties } from './duties.ts';

/** Shorter than the time that a process has to stop (shared/platform/runtime/lifecycle.ts). */
const STOP_MS = 10_000;

/** How long batches stay after their end; at least as long as their messages. */
const BATCH_DAYS = 90;
/** The longest extra delay of messages until lists show them. */
const WRITE_OUT_POLL_MS = 200;

export async function startMaintenance({
  config,
  db,
  listen,
  clock,
  log,
  metrics,
  tracer,
  notes,
  life,
}: AppDeps): Promise<void> {
  const announcer = createAnnouncer({ db, clock, tracer });
  const duties = new Duties({
    db,
    clock,
    log,
    metrics,
    notes,
    storeDir: config.mongodbUri === '' ? embeddedStoreDir(config.dataDir) : undefined,
    publicUrl: config.publicUrl,
    announcer,
    retention: {
      ...{ messages: config.messageDays, texts: config.textDays, deliveries: config.deliveryDays, batches: BATCH_DAYS },
      closedAccounts: config.closedAccountDays,
    },
    statements: config,
    box: await openSecretBox(config, db),
    store: config.mongodbUri === '' ? 'embedded' : 'mongodb',
    stopMs: STOP_MS,
  });
  life.onStop('duties', () => duties.stop());

  await duties.keepLease();
  const timetable = new Timetable(log);
  life.onStop('timetable', () => timetable.stop());
  // A third of the lease's time.
  timetable.every(5, () => duties.keepLease());
  for (const [name, when] of duties.timetable) {
    if (typeof when === 'number') timetable.every(when, () => duties.run(name));
    else timetable.at(name, when, () => duties.run(name));
  }
  const writing = new PollLoop({
    name: 'write_out',
    idleMs: WRITE_OUT_POLL_MS,
    gapMs: { more: 0, idle: WRITE_OUT_POLL_MS },
    listen: (wake) => listen?.('queue/write_at', wake),
    log,
    work: () => duties.writeOut(),
  });
  writing.start();
  life.onStop('write_out', () => writing.stop());
}

/** Duties find their work by its due time: one late run does the work of all missed ones, which are no error. */
export class Timetable {
  readonly #log: Log;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #tasks: ScheduledTask[] = [];
  #stopped = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Runs `seconds` after the end of the last run. Not a cron pattern: after a night's suspension node-cron walks
   * through every missed second first (9 s of CPU for a day).
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

  /** Runs at the times of a cron pattern with seconds, also when late, unless the next run is due already. */
  at(duty: string, pattern: string, run: () => Promise<void>): void {
    const task = schedule(pattern, run, {
      noOverlap: true,
      // By default node-cron skips a run that is a second late. A nightly run would then wait for the next night.
      missedExecutionTolerance: Number.POSITIVE_INFINITY,
      logger: this.#logger(duty),
    });
    // node-cron reports all missed runs at once: they are logged as one line, even after a week.
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

  /** Instead of standard error. node-cron's only warning is about a skipped run. */
  #logger(duty: string): Logger {
    return {
      debug: () => {},
      info: () => {},
      warn: () => this.#log.debug('turn_skipped', { duty, reason: 'still_running' }),
      error: (error) => this.#log.error('timetable_failed', { duty, ...unexpectedErrorFields(error) }),
    };
  }
}
