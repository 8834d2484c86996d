import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { Lease } from '../leases/lease.ts';
import type { Clock } from '../runtime/clock.ts';
import { StartError } from '../runtime/lifecycle.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import type { ProcessIdentity } from '../runtime/process-identity.ts';
import { FIRST_SCHEMA, STEPS, type Step } from './steps.ts';
import { readSchema, setVersion, setWalked } from './version-store.ts';

export interface MigrateDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  /** The process that migrates: this one, unless a test plays several. */
  readonly identity?: ProcessIdentity;
}

const LOOK_MS = 200;

/**
 * Brings the store to the schema of this program, one numbered step after the other, before a process does anything else. One
 * process migrates, under a lease; the others wait for it. A store without a number has the newest schema at once. Throws `StartError` when
 * the store has a newer schema than this program knows, or is of a build from before the first release.
 */
export async function ensureSchema(deps: MigrateDeps, steps: readonly Step[] = STEPS): Promise<void> {
  const lease = new Lease({ name: 'schema', ...deps });
  try {
    while (!(await isCurrent(deps.db, steps))) {
      if (await lease.keep()) await migrate(deps, lease, steps);
      else await wait(LOOK_MS);
    }
  } finally {
    await lease.release();
  }
}

/** Whether the store has the schema of this program. Throws `StartError` when no step leads from its schema to that. */
export async function isCurrent(db: Db, steps: readonly Step[] = STEPS): Promise<boolean> {
  const current = newestSchema(steps);
  const oldest = steps[0] === undefined ? FIRST_SCHEMA : steps[0].to - 1;
  const version = (await readSchema(db))?.version;
  if (version !== undefined && version < oldest) {
    throw new StartError(
      `The store has schema ${version}, of a build from before the first release, and this program begins with ${oldest}: name another database (MONGODB_DATABASE) or, with the embedded store, another HARKARA_DATA_DIR. Nothing was changed.`,
    );
  }
  if (version === undefined || version <= current) return version === current;
  throw new StartError(
    `The store has schema ${version}, and this program knows only ${current} and older ones: start the newer version of the program that has used it. Nothing was changed.`,
  );
}

export function newestSchema(steps: readonly Step[] = STEPS): number {
  return steps.at(-1)?.to ?? FIRST_SCHEMA;
}

/** Read again under the lease: another process may have migrated just before. */
async function migrate({ db, log }: MigrateDeps, lease: Lease, steps: readonly Step[]): Promise<void> {
  const schema = await readSchema(db);
  if (schema === undefined) return setVersion(db, undefined, newestSchema(steps));
  let { version, walked } = schema;
  for (const step of steps.filter(({ to }) => to > schema.version)) {
    log.info('migration_began', { from: version, to: step.to, ...(walked && { after: walked }) });
    const from = version;
    const passed = async (last: string): Promise<void> => {
      await setWalked(db, from, last);
      if (lease.due && !(await lease.keep())) throw new Error('another process has taken over the migration');
    };
    await keeping(lease, log, () => step.run({ db, walked, passed }));
    await setVersion(db, version, step.to);
    log.info('migrated', { from: version, to: step.to });
    version = step.to;
    walked = undefined;
  }
}

/**
 * Renews the lease while `work` runs, however long a single command of it takes: the build of an index may take hours. Otherwise the
 * processes that wait would begin the same step, and each would ask for the index again and again. A lease that was lost is not
 * taken again.
 */
async function keeping(lease: Lease, log: Log, work: () => Promise<void>): Promise<void> {
  let renewal: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    try {
      if (!(await lease.keep())) clearInterval(timer);
    } catch (error) {
      log.warn('lease_not_renewed', { lease: lease.name, ...errorFields(error) });
    }
  };
  const timer = setInterval(() => {
    if (!lease.due || renewal !== undefined) return;
    renewal = renew().finally(() => {
      renewal = undefined;
    });
  }, LOOK_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
    await renewal;
  }
}
