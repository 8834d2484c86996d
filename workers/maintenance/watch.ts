import type { Db } from 'mongodb';
import { type ListedCarrier, listConditions } from '../../shared/carriers/carrier-condition.ts';
import { listOfPath } from '../../shared/carriers/routing/route.ts';
import { certificatesEnd } from '../../shared/carriers/settings/links.ts';
import {
  ACCOUNT_CONDITIONS,
  ACCOUNT_FIELDS,
  gatherAccounts,
  readCreditsPerDay,
} from '../../shared/conditions/accounts.ts';
import {
  type Answers,
  type CarrierSeen,
  COUNTED_MAX,
  newestAnswers,
  QUARTER,
} from '../../shared/conditions/carriers.ts';
import { WATCHED } from '../../shared/conditions/catalogue.ts';
import { type ConditionDocument, findAll, type Scope, storeConditions } from '../../shared/conditions/condition.ts';
import type { Installation } from '../../shared/conditions/installation.ts';
import { type Peaks, raisePeaks } from '../../shared/conditions/peaks.ts';
import { readQueues, type WaitingLane } from '../../shared/messages/queue/waiting-lanes.ts';
import { countRetrying, countUnknowns } from '../../shared/messages/settlement/unknowns.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { LIVE, NOT_CLOSED } from '../../shared/money/accounts/store.ts';
import { APPS } from '../../shared/platform/processes/apps.ts';
import { type ProcessNotes, type ReportedMetric, readReports } from '../../shared/platform/processes/report.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { RecentCounts, WatchedMachine, WatchedTraffic } from './watched.ts';

const MINUTE_MS = 60_000;
/** A new watch knows no earlier counts: before this time, a condition that it cannot see has not ended. */
const BEGIN_MS = 2 * MINUTE_MS;
const PAGE = 200;
/** How many accounts' rates are read anew in one round, and how long a rate is used. */
const RATES = 20;
const RATE_MS = 6 * 3_600_000;

const NEEDED = APPS.filter((app) => app !== 'embedded-db');
const COUNTERS = [
  ...['smpp_answers_total', 'smpp_submits_total', 'smpp_binds_total', 'smpp_receipt_states_total'],
  ...['smpp_receipts_unknown_word_total', 'smpp_unknown_decided_total', 'webhook_posts_total'],
  ...['http_requests_total', 'http_request_seconds_bucket', 'http_request_seconds_count'],
];
const SEND = '/v2/send';
const FAILED = ['500', '502', '503', '504'];
const REFUSED = ['rejected', 'retry', 'bind'];

export interface WatchDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly notes: ProcessNotes;
  readonly storeDir?: string | undefined;
  readonly publicUrl?: string | undefined;
}

/** Finds and stores what is wrong (docs/decisions/0044). The process's report says when it last looked. */
export class Watch {
  readonly #deps: WatchDeps;
  readonly #recent: RecentCounts;
  readonly #traffic: WatchedTraffic;
  readonly #machine: WatchedMachine;
  readonly #peaks = new Map<string, Peaks>();
  #peaksAtMs = Number.NEGATIVE_INFINITY;
  readonly #gauge;
  readonly #watchedAt;
  readonly #rates = new Map<AccountId, { readonly perDay: number; readonly atMs: number }>();
  #sinceMs: number | undefined;
  readonly #present = new Map<Scope, readonly ConditionDocument[]>();

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    const { db, clock, storeDir, publicUrl = '' } = deps;
    this.#recent = new RecentCounts(clock, COUNTERS);
    this.#traffic = new WatchedTraffic(db, clock);
    this.#machine = new WatchedMachine(db, clock, { storeDir, publicUrl });
    this.#watchedAt = deps.metrics.gauge('watched_at_seconds', 'When it was looked last for what is wrong.');
    this.#watchedAt.remove(); // A gauge begins with 0: the alert would fire at every start.
    this.#gauge = deps.metrics.gauge('conditions', 'What is wrong now. Those of accounts are counted.', [
      'condition',
      'severity',
      'subject',
    ]);
  }

  leave(): void {
    this.#sinceMs = undefined;
    this.#recent.reset();
    this.#present.clear();
    this.#gauge.reset();
    this.#watchedAt.remove();
  }

  async look(queues: readonly WaitingLane[]): Promise<void> {
    const { clock, notes } = this.#deps;
    const now = clock.now();
    const seen = await this.#gather(queues, now);
    await this.#tell('installation', findAll(WATCHED, seen, now));
    await this.#raisePeaks(seen);
    notes.watchedAt = now;
    this.#watchedAt.set(now.getTime() / 1_000);
  }

  /** Once a minute, the highest values since: a chart has one value for an hour. */
  async #raisePeaks({ carriers, queues, now }: Installation): Promise<void> {
    const { db, clock } = this.#deps;
    for (const { carrier, retrying, measured } of carriers) {
      const serves = (path: string) => listOfPath(path)?.carriers.includes(carrier._id) ?? carrier.paths.includes(path);
      const queued = queues.reduce((sum, { path, waiting }) => sum + (serves(path) ? waiting : 0), 0);
      const before = this.#peaks.get(carrier._id)?.waiting ?? 0;
      this.#peaks.set(carrier._id, { waiting: Math.max(before, queued + retrying.count), ...measured?.answerMs });
    }
    if (clock.monotonicMs() - this.#peaksAtMs < MINUTE_MS) return;
    await raisePeaks(db, now, this.#peaks);
    this.#peaks.clear();
    this.#peaksAtMs = clock.monotonicMs();
  }

  async lookAtAccounts(mayGoOn: () => boolean): Promise<void> {
    const { db, clock } = this.#deps;
    const accounts = db.collection<AccountDocument>('accounts');
    const found: ConditionDocument[] = [];
    let after: AccountId | undefined;
    let fresh = RATES;
    do {
      const page = await accounts
        .find(
          { ...LIVE, ...NOT_CLOSED, ...(after !== undefined && { _id: { $gt: after } }) },
          { projection: ACCOUNT_FIELDS },
        )
        .sort({ _id: 1 })
        .limit(PAGE)
        .toArray();
      const now = clock.now();
      for (const { _id, balance } of page) {
        if (fresh === 0 || balance === 0 || !this.#isRateOld(_id)) continue;
        fresh--;
        this.#rates.set(_id, { perDay: await readCreditsPerDay(db, _id, now), atMs: clock.monotonicMs() });
      }
      const seen = await gatherAccounts(db, page, now, (id) => this.#rates.get(id)?.perDay);
      for (const one of seen) found.push(...findAll(ACCOUNT_CONDITIONS, one, now, one.account._id));
      after = page.length < PAGE ? undefined : page.at(-1)?._id;
      if (!mayGoOn()) return;
    } while (after !== undefined);
    await this.#tell('accounts', found);
  }

  #isRateOld(account: AccountId): boolean {
    const known = this.#rates.get(account);
    return known === undefined || this.#deps.clock.monotonicMs() - known.atMs > RATE_MS;
  }

  async #tell(scope: Scope, found: readonly ConditionDocument[]): Promise<void> {
    const { db, clock } = this.#deps;
    this.#sinceMs ??= clock.monotonicMs();
    const mayEnd = scope === 'accounts' || clock.monotonicMs() - this.#sinceMs >= BEGIN_MS;
    this.#present.set(scope, await storeConditions(db, scope, found, clock.now(), mayEnd));
    this.#gauge.reset();
    for (const { name, concerns, subject, account } of [...this.#present.values()].flat()) {
      const severity = concerns.operator?.severity;
      if (severity !== undefined)
        this.#gauge.inc({ condition: name, severity, subject: account === undefined ? subject.id : '' });
    }
  }

  async #gather(queues: readonly WaitingLane[], now: Date): Promise<Installation> {
    const { db } = this.#deps;
    const [{ living, metrics }, listed] = await Promise.all([readReports(db), listConditions(db, now)]);
    this.#recent.add(metrics);
    const [carriers, traffic, machine] = await Promise.all([
      Promise.all(listed.map((one) => this.#seenCarrier(one, metrics, now))),
      this.#traffic.look(),
      this.#machine.look(living),
    ]);
    const proxies = living.flatMap(({ notes }) => notes?.ignoredProxy ?? []);
    return {
      now,
      missing: NEEDED.filter((app) => !living.some((one) => one.app === app)),
      ignoredProxies: [...new Set(proxies)].sort(),
      ...{ carriers, traffic, queues },
      ...this.#served(),
      ...machine,
      certificates: [...machine.certificates, ...listed.flatMap(certificatesOf)],
    };
  }

  #served(): Pick<Installation, 'api' | 'posts'> {
    const recent = this.#recent;
    const sends = recent.sum('http_request_seconds_count', { route: SEND }, 5 * MINUTE_MS);
    const posts = recent.sum('webhook_posts_total', {}, 15 * MINUTE_MS);
    return {
      api: {
        requests: recent.sum('http_requests_total', {}, 5 * MINUTE_MS),
        failed: FAILED.reduce((all, status) => all + recent.sum('http_requests_total', { status }, 5 * MINUTE_MS), 0),
        sends,
        slow: sends - recent.sum('http_request_seconds_bucket', { route: SEND, le: '1' }, 5 * MINUTE_MS),
      },
      posts: { all: posts, failed: posts - recent.sum('webhook_posts_total', { result: '2xx' }, 15 * MINUTE_MS) },
    };
  }

  async #seenCarrier(one: ListedCarrier, metrics: readonly ReportedMetric[], now: Date): Promise<CarrierSeen> {
    const { db } = this.#deps;
    const { _id: carrier } = one.carrier;
    const recent = this.#recent;
    const answers = (minutes: number): Answers => {
      const of = (cls: string) => recent.sum('smpp_answers_total', { carrier, class: cls }, minutes * MINUTE_MS);
      const refused = REFUSED.reduce((all, cls) => all + of(cls), 0);
      return { accepted: of('accepted'), refused, throttled: of('throttled') };
    };
    const quarter = answers(QUARTER);
    const run = recent.sumSince('smpp_answers_total', { carrier }, 'class', REFUSED, 'accepted');
    const [unknown, retrying] = await Promise.all([
      countUnknowns(db, carrier, COUNTED_MAX),
      countRetrying(db, carrier, COUNTED_MAX),
    ]);
    return {
      ...one,
      quarter,
      newest: quarter.refused === 0 ? quarter : newestAnswers(answers),
      ...(run !== undefined && { refusals: { count: run.count, since: new Date(now.getTime() - run.agoMs) } }),
      submitted: recent.sum('smpp_submits_total', { carrier }, 5 * MINUTE_MS, MINUTE_MS),
      answered: recent.sum('smpp_answers_total', { carrier }, 5 * MINUTE_MS),
      binds30: recent.sum('smpp_binds_total', { carrier }, 30 * MINUTE_MS),
      accepted: recent.sum('smpp_answers_total', { carrier, class: 'accepted' }, 60 * MINUTE_MS, 10 * MINUTE_MS),
      receipts: recent.sum('smpp_receipt_states_total', { carrier }, 30 * MINUTE_MS),
      orphans: metrics.reduce(
        (all, { name, labels, value }) =>
          all + (name === 'smpp_fresh_orphans' && labels.carrier === carrier ? value : 0),
        0,
      ),
      unknownWords: recent.sum('smpp_receipts_unknown_word_total', { carrier }, 60 * MINUTE_MS),
      decided: recent.sum('smpp_unknown_decided_total', { carrier }, 60 * MINUTE_MS),
      ...{ unknown, retrying },
    };
  }
}

function certificatesOf({ carrier, measured }: ListedCarrier): Installation['certificates'] {
  const { _id, name, tls, trust } = carrier;
  if (!tls) return [];
  const theirs = measured?.certificateUntil;
  const ours = trust?.tlsCertificate;
  return [
    ...(theirs === undefined ? [] : [{ whose: `The certificate of ${name}`, carrier: _id, until: theirs }]),
    ...(ours ? [{ whose: `Our certificate at ${name}`, carrier: _id, until: certificatesEnd(ours) }] : []),
  ];
}

const LABELS = ['path', 'lane'] as const;

/** Waiting messages, for `/metrics`, which sums gauges of all processes: only the holder of the lease has these. */
export class QueueGauges {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #waiting;
  readonly #oldest;

  constructor(db: Db, clock: Clock, metrics: Metrics) {
    this.#db = db;
    this.#clock = clock;
    this.#waiting = metrics.gauge('queue_messages', 'Messages that wait to leave, up to 10,000 a lane.', LABELS);
    this.#oldest = metrics.gauge('queue_oldest_seconds', 'How long the oldest of them has waited.', LABELS);
  }

  async look(): Promise<readonly WaitingLane[]> {
    const lanes = await readQueues(this.#db);
    this.leave();
    for (const { path, lane, waiting, oldest } of lanes) {
      this.#waiting.set({ path, lane }, waiting);
      this.#oldest.set({ path, lane }, Math.max(0, this.#clock.now().getTime() - oldest.at.getTime()) / 1_000);
    }
    return lanes;
  }

  leave(): void {
    this.#waiting.reset();
    this.#oldest.reset();
  }
}
