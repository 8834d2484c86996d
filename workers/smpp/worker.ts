import type { Db } from 'mongodb';
import { type CarrierDocument, carrierLease } from '../../shared/carriers/carrier.ts';
import { openedPassword, openedTrust } from '../../shared/carriers/carrier-secrets.ts';
import { listCarriers } from '../../shared/carriers/carrier-store.ts';
import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { DEFAULT_PROMOTIONAL_HOURS, type PromotionalHours } from '../../shared/messages/document/routing.ts';
import { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import { MessageLog } from '../../shared/messages/settlement/message-log.ts';
import { Lease } from '../../shared/platform/leases/lease.ts';
import type { ListenForChanges } from '../../shared/platform/runtime/change-signal.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { errorFields, type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';
import type { ProcessIdentity } from '../../shared/platform/runtime/process-identity.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { Tracer } from '../../shared/platform/runtime/tracer.ts';
import { CarrierRun, type CarrierRunOptions } from './carrier-run.ts';
import { Departures } from './claim/departures.ts';
import { Serving } from './claim/serving.ts';
import { InboundAnnouncer } from './inbound/announce-inbound.ts';
import { AnswerSender } from './inbound/answer-sender.ts';
import type { InboundRules } from './inbound/inbound.ts';
import { createSmppMetrics } from './monitoring/metrics.ts';

export interface SmppWorkerOptions {
  readonly db: Db;
  readonly listen?: ListenForChanges | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer?: Tracer | undefined;
  readonly box: SecretBox;
  readonly publicUrl?: string;
  readonly promotionalHours?: PromotionalHours;
  readonly messageLogDays?: number;
  readonly inbound?: InboundSettings;
  readonly pollMs?: number;
  readonly leaseTtlMs?: number;
  /** The process that takes the leases. Tests set it to play several processes. */
  readonly identity?: ProcessIdentity;
}

/** Settings for received SMS (HARKARA_INBOUND_…). */
export interface InboundSettings extends InboundRules {
  readonly unassignedDays: number;
}

interface Running {
  readonly run: CarrierRun;
  /** The version of the carrier's document: another one needs a new run. */
  readonly version: string;
}

/** When another process releases a carrier, this one takes it within this time. */
const POLL_MS = 1_000;
const MESSAGE_LOG_DAYS = 30;
const INBOUND: InboundSettings = { partsMs: 30 * 60_000, refuseUnassigned: false, unassignedDays: 30 };

/** Runs the carriers whose lease this process holds, reading them every second: changes need no restart. */
export class SmppWorker {
  readonly #options: SmppWorkerOptions;
  readonly #shared: Omit<CarrierRunOptions, 'carrier' | 'password' | 'lease'>;
  readonly #running = new Map<string, Running>();
  /** By carrier. Includes leases of other processes, because a lease must be watched before it can be taken over. */
  readonly #leases = new Map<string, Lease>();
  /** The carriers that are being started or stopped. A slow one delays no other. */
  readonly #changing = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  #stopping = false;

  constructor(options: SmppWorkerOptions) {
    this.#options = options;
    const { db, listen, clock, log, tracer, publicUrl = '', inbound: rules = INBOUND } = options;
    const { promotionalHours: hours = DEFAULT_PROMOTIONAL_HOURS, messageLogDays: days = MESSAGE_LOG_DAYS } = options;
    const metrics = createSmppMetrics(options.metrics);
    const announcer = createAnnouncer({ db, clock, tracer });
    const answerSender = new AnswerSender({ db, clock, log, metrics });
    const { withDueAnswers } = answerSender;
    this.#shared = {
      ...{ db, listen, clock, log, metrics, announcer, answerSender, rules, publicUrl },
      gates: new ClaimGates({ db, clock, hours }),
      serving: new Serving({ db, clock }),
      departures: new Departures({ db, clock }),
      messageLog: new MessageLog({ db, clock, log, days }),
      inboundAnnouncer: new InboundAnnouncer({
        ...{ db, clock, announcer, withDueAnswers },
        unassignedDays: rules.unassignedDays,
      }),
    };
  }

  start(): void {
    this.#polling = this.#poll();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#polling;
    await Promise.all(this.#changing.values());
    for (const id of this.#running.keys()) this.#change(id, undefined);
    await Promise.all(this.#changing.values());
  }

  async #poll(): Promise<void> {
    const { db, log, pollMs = POLL_MS } = this.#options;
    try {
      const carriers = await listCarriers(db);
      await this.#shared.serving.refresh(carriers);
      for (const { run } of this.#running.values()) run.reviewPaths();
      for (const carrier of carriers) this.#change(carrier._id, carrier);
      for (const id of this.#running.keys()) {
        if (!carriers.some((carrier) => carrier._id === id)) this.#change(id, undefined);
      }
    } catch (error) {
      log.warn('round_failed', { loop: 'carriers', ...unexpectedErrorFields(error) });
    }
    if (this.#stopping) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll();
    }, pollMs);
  }

  #change(id: string, carrier: CarrierDocument | undefined): void {
    if (this.#changing.has(id)) return;
    const change = this.#apply(id, carrier)
      .catch((error: unknown) => {
        this.#options.log.warn('carrier_failed', { carrier: id, ...errorFields(error) });
      })
      .then(() => {
        this.#changing.delete(id);
      });
    this.#changing.set(id, change);
  }

  async #apply(id: string, carrier: CarrierDocument | undefined): Promise<void> {
    const version = carrier === undefined ? undefined : JSON.stringify(carrier);
    const running = this.#running.get(id);
    if (running !== undefined) {
      if (!running.run.ended && running.version === version) return;
      this.#running.delete(id);
      await running.run.stop();
    }
    if (carrier === undefined || version === undefined || this.#stopping) return;
    const { box } = this.#options;
    const run = new CarrierRun({
      ...this.#shared,
      carrier: { ...carrier, ...openedTrust(box, carrier) },
      password: openedPassword(box, carrier),
      lease: this.#lease(id),
    });
    try {
      if (await run.start()) this.#running.set(id, { run, version });
    } catch (error) {
      await run.stop();
      throw error;
    }
  }

  #lease(carrier: string): Lease {
    const { db, clock, leaseTtlMs, identity } = this.#options;
    const known = this.#leases.get(carrier);
    if (known !== undefined) return known;
    const lease = new Lease({
      name: carrierLease(carrier),
      db,
      clock,
      ...(leaseTtlMs === undefined ? {} : { ttlMs: leaseTtlMs }),
      ...(identity === undefined ? {} : { identity }),
    });
    this.#leases.set(carrier, lease);
    return lease;
  }
}
