import type { Db } from 'mongodb';
import { AggregatorRegistry, Gauge, Registry } from 'prom-client';
import { msOf, NOW_MS } from '../mongo/store-time.ts';
import { systemClock } from '../runtime/clock.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { METRIC_PREFIX, type Metrics } from '../runtime/metrics.ts';
import { identityText, isGone, parseIdentity, processName, thisProcess } from '../runtime/process-identity.ts';
import { within } from '../runtime/within.ts';

/** For operators to correct. May change at any time; each report tells it anew. */
export interface ProcessNotes {
  /** The gateway, without `HARKARA_TRUST_PROXY`: the sender of X-Forwarded-For, probably a proxy. */
  ignoredProxy?: string;
  /** The holder of the maintenance lease: when it last looked for what is wrong (workers/maintenance/watch.ts). */
  watchedAt?: Date;
}

/** The last report of a process. The store's TTL removes it a minute later. */
export interface ProcessDocument {
  readonly _id: string;
  readonly app: string;
  /** By the store's clock, as the machines' own need not agree. */
  readonly at: Date;
  /** By the machine's clock. */
  readonly sentAt?: Date;
  /** When the first report was sent, by the store's clock. */
  readonly startedAt?: Date;
  /** False while it builds indexes, starts or stops. */
  readonly works: boolean;
  /** The process has ended by itself. Its report stays for a while, so that a scrape finds its metrics. */
  readonly ended?: true;
  readonly notes?: Readonly<ProcessNotes>;
  /** prom-client's JSON of the process's registry. */
  readonly metrics: string;
}

const REPORT_MS = 10_000;
const STALE_MS = 2.5 * REPORT_MS;
const END_MS = 1_000;

/** How long an ended process's counts are shown and kept: Prometheus scrapes at least once a minute. */
const SHOWN_MS = 60_000;

const since = (ms: number) => ({ $expr: { $lte: [{ $subtract: [NOW_MS, msOf('$at')] }, ms] } });
const ALIVE = { ended: { $ne: true as const } };
const SHOWN = { $or: [since(STALE_MS), { ...since(SHOWN_MS), ended: true as const }] };

export interface ProcessReport {
  /** Reports at once that the process begins or ceases to work. Never rejects: the next report says it again. */
  setWorking(working: boolean): Promise<void>;
  /** The last report, shown a minute more for the next scrape. Gives up after a second without the store. */
  end(): Promise<void>;
}

/** Others know from the first report that it may write. Rejects when that fails; later failures are logged. */
export async function reportProcess(
  app: string,
  db: Db,
  metrics: Metrics,
  log: Log,
  notes: ProcessNotes = {},
): Promise<ProcessReport> {
  const processes = db.collection<ProcessDocument>('processes');
  const id = identityText(thisProcess());
  let works = false;
  let ended = false;
  const report = async (): Promise<void> => {
    const json = JSON.stringify(await metrics.registry.getMetricsAsJSON());
    const told = {
      app: { $literal: app },
      at: '$$NOW',
      sentAt: { $literal: systemClock.now() },
      startedAt: { $ifNull: ['$startedAt', '$$NOW'] },
      works: { $literal: works },
      ...(ended && { ended }),
      notes: { $literal: notes },
      metrics: { $literal: json },
    };
    await processes.updateOne({ _id: id }, [{ $set: told }], { upsert: true });
  };
  const reportAgain = (): Promise<void> =>
    report().catch((error: unknown) => log.info('report_failed', errorFields(error)));
  await report();
  const timer = setInterval(() => void reportAgain(), REPORT_MS);
  return {
    setWorking: (working) => {
      works = working;
      return reportAgain();
    },
    end: async () => {
      clearInterval(timer);
      ended = true;
      await within(END_MS, reportAgain());
    },
  };
}

/** The calling process counts from its start. Not counted: processes that ended on this machine. */
export async function countWorking(app: string, db: Db): Promise<number> {
  const working = (await livingProcesses(db)).filter((one) => one.app === app && one.works);
  return new Set(working.map(({ _id }) => _id)).add(identityText(thisProcess())).size;
}

/** Those that reported lately and have not ended on this machine; `_id` is their `identityText`. */
export async function livingProcesses(db: Db): Promise<readonly Omit<ProcessDocument, 'metrics'>[]> {
  const reports = await db
    .collection<ProcessDocument>('processes')
    .find({ ...since(STALE_MS), ...ALIVE })
    .project<Omit<ProcessDocument, 'metrics'>>({ metrics: 0 })
    .toArray();
  const here = thisProcess();
  return reports.filter(({ _id }) => !isGone(parseIdentity(_id), here));
}

/** When a process last looked for what is wrong, even if it has ended; since when the oldest one lives. */
export async function readWatch(db: Db): Promise<{
  readonly watchedAt: Date | undefined;
  readonly startedAt: Date | undefined;
}> {
  const reports = await db
    .collection<ProcessDocument>('processes')
    .find(since(SHOWN_MS))
    .project<Omit<ProcessDocument, 'metrics'>>({ metrics: 0 })
    .toArray();
  const here = thisProcess();
  const living = reports.filter(({ _id, ended }) => !ended && !isGone(parseIdentity(_id), here));
  return {
    watchedAt: reports
      .flatMap(({ notes }) => notes?.watchedAt ?? [])
      .sort(byTime)
      .at(-1),
    startedAt: living.flatMap(({ startedAt }) => startedAt ?? []).sort(byTime)[0],
  };
}

function byTime(a: Date, b: Date): number {
  return a.getTime() - b.getTime();
}

interface MetricJson {
  readonly name: string;
  readonly type: string;
  readonly values: readonly {
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
    /** Of a histogram's value: its name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string;
  }[];
}

/** One value of one process. `name` without the prefix. */
export interface ReportedMetric {
  readonly name: string;
  readonly process: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** The living processes, and the counts of those and of processes that ended within the minute. */
export async function readReports(db: Db): Promise<{
  readonly living: readonly Omit<ProcessDocument, 'metrics'>[];
  readonly metrics: readonly ReportedMetric[];
}> {
  const found = await db.collection<ProcessDocument>('processes').find(SHOWN).toArray();
  const here = thisProcess();
  return {
    living: found.filter(({ _id, ended }) => !ended && !isGone(parseIdentity(_id), here)),
    metrics: found.flatMap((report) => {
      const process = nameOf(report);
      return (JSON.parse(report.metrics) as readonly MetricJson[]).flatMap(({ name, values }) =>
        values.map(({ labels, value, metricName = name }) => {
          return { name: metricName.replace(METRIC_PREFIX, ''), process, labels, value };
        }),
      );
    }),
  };
}

/**
 * The metrics of all living processes, with `harkara_processes` by app. Gauges are summed. What only grows has the label
 * `process`: in a sum, the end of one process of several would look like the restart of all, and Prometheus' `rate` would count
 * what is left as new. It is shown for a minute after the process has ended, as Prometheus scrapes at least once a minute.
 */
export async function aggregateMetrics(db: Db): Promise<Registry> {
  const found = await db.collection<ProcessDocument>('processes').find(SHOWN).toArray();
  const [reports, last] = [found.filter(({ ended }) => !ended), found.filter(({ ended }) => ended)];
  const living = new Registry();
  const alive = new Gauge({
    name: 'harkara_processes',
    help: 'Living processes by app.',
    labelNames: ['app'],
    registers: [living],
  });
  for (const { app } of reports) alive.inc({ app });
  const names = new Set(reports.map(nameOf));
  // A container that was started again may have a process of the same name: their metrics must not be added up.
  const ended = last.filter((report) => !names.has(nameOf(report)));
  const grown = ended.map((report) => metricsOf(report).filter(({ type }) => type !== 'gauge'));
  return AggregatorRegistry.aggregate([...reports.map(metricsOf), ...grown, await living.getMetricsAsJSON()]);
}

function nameOf({ _id }: ProcessDocument): string {
  return processName(parseIdentity(_id));
}

function metricsOf(report: ProcessDocument): readonly MetricJson[] {
  const process = nameOf(report);
  // As `reportProcess` wrote it.
  return (JSON.parse(report.metrics) as readonly MetricJson[]).map((metric) => ofProcess(metric, process));
}

function ofProcess(metric: MetricJson, process: string): MetricJson {
  if (metric.type === 'gauge') return metric;
  return { ...metric, values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } })) };
}
