import type { Db } from 'mongodb';
import { AggregatorRegistry, Gauge, Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { identityText, isGone, parseIdentity, thisProcess } from '../runtime/process-identity.ts';

/** The last report of a process. The store's TTL removes it a minute after the process's last report. */
export interface ProcessDocument {
  readonly _id: string;
  readonly app: string;
  readonly at: Date;
  /** prom-client's JSON of the process's registry. */
  readonly metrics: string;
}

const REPORT_MS = 10_000;
/** Older reports belong to processes that are gone. */
const STALE_MS = 2.5 * REPORT_MS;

/** Starts to report the process's metrics; returns a function that stops it. A failed report is logged and skipped. */
export function reportProcess(app: string, db: Db, metrics: Metrics, clock: Clock, log: Log): () => void {
  const processes = db.collection<ProcessDocument>('processes');
  const id = identityText(thisProcess());
  const report = async (): Promise<void> => {
    try {
      const json = JSON.stringify(await metrics.registry.getMetricsAsJSON());
      await processes.updateOne({ _id: id }, { $set: { app, at: clock.now(), metrics: json } }, { upsert: true });
    } catch (error) {
      log.info('report_failed', errorFields(error));
    }
  };
  const timer = setInterval(() => void report(), REPORT_MS);
  void report();
  return () => clearInterval(timer);
}

/**
 * Number of living processes of an app. At least 1, because the calling process may not have reported yet. Processes that ended
 * on this machine do not count.
 */
export async function countProcesses(app: string, db: Db, clock: Clock): Promise<number> {
  const living = (await livingProcesses(db, clock)).filter((one) => one.app === app);
  return new Set(living.map(({ _id }) => _id)).add(identityText(thisProcess())).size;
}

/** The apps that have a living process. */
export async function livingApps(db: Db, clock: Clock): Promise<ReadonlySet<string>> {
  return new Set((await livingProcesses(db, clock)).map(({ app }) => app));
}

/** Those that have reported lately and have not ended on this machine; `_id` is their `identityText`. */
export async function livingProcesses(db: Db, clock: Clock): Promise<readonly Pick<ProcessDocument, '_id' | 'app'>[]> {
  const reports = await db
    .collection<ProcessDocument>('processes')
    .find({ at: { $gte: new Date(clock.now().getTime() - STALE_MS) } })
    .project<Pick<ProcessDocument, '_id' | 'app'>>({ _id: 1, app: 1 })
    .toArray();
  const here = thisProcess();
  return reports.filter(({ _id }) => !isGone(parseIdentity(_id), here));
}

/** The metrics of all living processes, summed, with `harkara_processes` by app. */
export async function aggregateMetrics(db: Db, clock: Clock): Promise<Registry> {
  const since = new Date(clock.now().getTime() - STALE_MS);
  const reports = await db
    .collection<ProcessDocument>('processes')
    .find({ at: { $gte: since } })
    .toArray();
  const living = new Registry();
  const alive = new Gauge({
    name: 'harkara_processes',
    help: 'Living processes by app.',
    labelNames: ['app'],
    registers: [living],
  });
  for (const { app } of reports) alive.inc({ app });
  const parsed = reports.map((report) => JSON.parse(report.metrics) as object[]);
  return AggregatorRegistry.aggregate([...parsed, await living.getMetricsAsJSON()]);
}
