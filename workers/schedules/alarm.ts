import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import type { Db } from 'mongodb';
import { isStoreTrouble } from '../../shared/mongo/errors.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';

export interface AlarmOptions {
  readonly db: Db;
  readonly log: Log;
  /** Called at each second that was set, by one process of all. Must not reject, and must end well within `LOCK_MS`. */
  ring(second: Date): Promise<void>;
}

const JOB = 'release';
/** How often Agenda looks which alarms come next; it runs them by a timer at their second. */
const PROCESS_EVERY_MS = 1_000;
/** An alarm whose process died while it rang rings again elsewhere after this. */
const LOCK_MS = 10_000;
const DRAIN_MS = 1_000;
/** Alarms that a killed process left behind finished, looked for at a start. */
const LEFTOVERS_MAX = 1_000;

/** The alarm clock: Agenda, with one job per second. The only file that knows Agenda. */
export class Alarm {
  readonly #agenda: Agenda;

  constructor({ db, log, ring }: AlarmOptions) {
    this.#agenda = new Agenda({
      backend: new MongoBackend({ mongo: db, collection: 'alarms', logCollection: 'alarm_log' }),
      processEvery: PROCESS_EVERY_MS,
      defaultLockLifetime: LOCK_MS,
      removeOnComplete: true,
    });
    // A store that is away is told by the worker's own rounds.
    this.#agenda.on('error', (error) => {
      if (!isStoreTrouble(error)) log.warn('alarm_failed', errorFields(error));
    });
    this.#agenda.define<{ readonly second: Date }>(JOB, ({ attrs }) => ring(new Date(attrs.data.second)));
  }

  /** Begins to ring, also for what was set before, by whomever. */
  async start(): Promise<void> {
    await this.#agenda.ready;
    await this.#removeFinished();
    await this.#agenda.start();
  }

  /** Idempotent: a second that is set already stays as it is, whichever process set it. A second that is over rings at once. */
  async set(second: Date): Promise<void> {
    const job = this.#agenda.create(JOB, { second });
    await job.unique({ 'data.second': second }, { insertOnly: true }).schedule(second).save();
  }

  /**
   * Rings no more. `drain` because `stop` would leave locks; with a limit because Agenda takes a job out of its list only
   * after the last event that drain waits for, so that it never ends when one is running.
   */
  async stop(): Promise<void> {
    await this.#agenda.drain({ timeout: DRAIN_MS, closeConnection: false });
  }

  /** Agenda removes a job after it has run; a process that dies in between leaves it, never to run again. */
  async #removeFinished(): Promise<void> {
    const { jobs } = await this.#agenda.queryJobs({ name: JOB, limit: LEFTOVERS_MAX });
    const ids = jobs.filter(({ nextRunAt }) => nextRunAt === null).flatMap(({ _id }) => _id ?? []);
    if (ids.length > 0) await this.#agenda.cancel({ ids });
  }
}
