import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import type { Db } from 'mongodb';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';

export interface AlarmOptions {
  readonly db: Db;
  readonly log: Log;
  /** Called at each second that was set, in one of the processes. Must not reject, and must end within `LOCK_MS`. */
  ring(second: Date): Promise<void>;
}

const JOB = 'release';
const PROCESS_EVERY_MS = 1_000;
/** If a process dies while its alarm rings, another process rings it again after this time. */
const LOCK_MS = 10_000;
const DRAIN_MS = 1_000;
const LEFTOVERS_MAX = 1_000;

/** An alarm clock: Agenda, with one job per second. Only this file knows Agenda. */
export class Alarm {
  readonly #agenda: Agenda;

  constructor({ db, log, ring }: AlarmOptions) {
    this.#agenda = new Agenda({
      backend: new MongoBackend({ mongo: db, collection: 'alarms', logCollection: 'alarm_log' }),
      processEvery: PROCESS_EVERY_MS,
      defaultLockLifetime: LOCK_MS,
      removeOnComplete: true,
    });
    // The worker's own rounds report a store that is not available.
    this.#agenda.on('error', (error) => {
      if (!isStoreTrouble(error)) log.warn('alarm_failed', errorFields(error));
    });
    this.#agenda.define<{ readonly second: Date }>(JOB, ({ attrs }) => ring(new Date(attrs.data.second)));
  }

  /** Alarms that any process set earlier ring too. */
  async start(): Promise<void> {
    await this.#agenda.ready;
    await this.#removeFinished();
    await this.#agenda.start();
  }

  /** An alarm of any process for this second stays; a double one does no harm. A second in the past rings at once. */
  async set(second: Date): Promise<void> {
    const job = this.#agenda.create(JOB, { second });
    await job.unique({ 'data.second': second }, { insertOnly: true }).schedule(second).save();
  }

  /**
   * Uses `drain`, because `stop` would leave locks. The wait is limited: Agenda removes a job from its list only after
   * the last event that `drain` waits for, so with a running job `drain` would never end.
   */
  async stop(): Promise<void> {
    await this.#agenda.drain({ timeout: DRAIN_MS, closeConnection: false });
  }

  /** Agenda removes a job after its run. If the process dies in between, the job stays and never runs again. */
  async #removeFinished(): Promise<void> {
    const { jobs } = await this.#agenda.queryJobs({ name: JOB, limit: LEFTOVERS_MAX });
    const ids = jobs.filter(({ nextRunAt }) => nextRunAt === null).flatMap(({ _id }) => _id ?? []);
    if (ids.length > 0) await this.#agenda.cancel({ ids });
  }
}
