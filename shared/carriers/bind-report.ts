import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo/errors.ts';
import { statusReason, statusText } from './command-status.ts';

/**
 * The state of a carrier's binds, reported by the process that holds the carrier: for people, and for the workers of
 * other carriers on the same route. Holds no secret. One document per carrier, written when something changes. It is
 * out of date when the carrier's lease has another epoch or no holder.
 */
export interface BindReportDocument {
  readonly _id: string;
  readonly epoch: number;
  readonly at: Date;
  readonly binds: readonly BindReport[];
  /** What other carriers' workers need to take over (carriers/routing/availability.ts). */
  readonly flow: CarrierFlow;
  /** What was measured recently. Absent before the first measurement. */
  readonly measured?: CarrierMeasured;
}

/** How well the carrier takes messages. Each field is absent while all is well. */
export interface CarrierFlow {
  /** Since when it has no bind that lasts: one that was lost within seconds does not count. */
  readonly unboundSince?: Date;
  /** Since when more messages wait for it than it takes. */
  readonly behindSince?: Date;
  /** Set while the carrier refuses nearly everything: when it will be tried again. */
  readonly trippedUntil?: Date;
}

export interface CarrierMeasured {
  readonly since: Date;
  readonly unanswered: readonly number[];
  /** How many segments a second may be sent to it now. Absent: no limit. */
  readonly perSecond?: number;
  /** Computed from the last thousand answers to submit_sm. */
  readonly answerMs?: { readonly p50: number; readonly p99: number };
  /** When the certificate ends that the carrier showed. Absent without TLS. */
  readonly certificateUntil?: Date;
  readonly answers: Readonly<Record<string, number>>;
  readonly receipts: Readonly<Record<string, number>>;
  readonly lastRefusal?: { readonly code: string; readonly reason: string; readonly at: Date };
}

export interface BindReport {
  readonly index: number;
  readonly state: 'closed' | 'connecting' | 'binding' | 'bound' | 'draining' | 'backoff';
  readonly since: Date;
  /** Why it is not bound; `since`: the first such try. Absent while bound, and before the first try ended. */
  readonly trouble?: BindTrouble & { readonly since: Date };
  /** While it is bound: the trouble that it had before. */
  readonly lastTrouble?: BindTrouble & { readonly since: Date };
}

/**
 * `refused`: the carrier answered the bind with a command_status (`code`, such as `0x0E`). `unanswered`: the carrier did not
 * answer the bind, or closed the connection. `unreachable`: no connection could be made, TLS included (`code`: from the system,
 * or our own). `lost`: an established bind broke.
 */
export interface BindTrouble {
  readonly kind: 'refused' | 'unanswered' | 'unreachable' | 'lost';
  readonly code: string;
  readonly reason: string;
}

export function refusedBind(status: number): BindTrouble {
  return { kind: 'refused', code: statusText(status), reason: REFUSALS.get(status) ?? statusReason(status) };
}

export function endedBind(kind: Exclude<BindTrouble['kind'], 'refused'>, code: string): BindTrouble {
  const words = WORDS.find(([pattern]) => pattern.test(code))?.[1];
  return { kind, code, reason: words ?? (kind === 'lost' ? 'the connection ended' : 'no connection') };
}

/** The carrier's answer to a message says that it would take no other one either. */
export function unusableSession({ code, reason }: { readonly code: string; readonly reason: string }): BindTrouble {
  return { kind: 'lost', code, reason: `the carrier called the session unusable (${reason})` };
}

/** The meaning of a bind's command_status (SMPP 3.4 §5.1.3), where its name does not say it. */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [0x03, 'it does not know this kind of bind (--bind-kind)'],
  [0x05, 'an earlier session is still bound'],
  [0x0d, 'bind failed'],
  [0x0e, 'wrong password'],
  [0x0f, 'unknown system id'],
]);

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens at its address'],
  [/^tls_timeout$/, 'it accepts the connection, but does not answer TLS'],
  [/^bad_frame$/, 'what it sends is not SMPP'],
  [/^(ETIMEDOUT|connect_timeout|timeout)$/, 'no answer from its address'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its host name is not known'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'there is no way to its address'],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|TLS|SSL|^EPROTO$/, 'TLS failed'],
  [/^(ECONNRESET|EPIPE)$/, 'the connection was cut'],
  [/^(closed_by_peer|ended)$/, 'the carrier closed the connection'],
  [/^bind_unanswered$/, 'the bind was not answered'],
  [/^enquire_link_unanswered$/, 'the carrier fell silent'],
];

/** Replaces the carrier's report, unless a later holder has written one. */
export async function writeBindReport(db: Db, report: BindReportDocument): Promise<void> {
  const { _id, ...said } = report;
  try {
    await reports(db).updateOne({ _id, epoch: { $lte: report.epoch } }, { $set: said }, { upsert: true });
  } catch (error) {
    // A later holder's report exists: the upsert tried to insert a second one.
    if (!isDuplicateKey(error)) throw error;
  }
}

/** By carrier id: all carriers that were ever held. */
export async function readBindReports(db: Db): Promise<ReadonlyMap<string, BindReportDocument>> {
  const told = await reports(db).find().toArray();
  return new Map(told.map((report) => [report._id, report]));
}

function reports(db: Db): Collection<BindReportDocument> {
  return db.collection('bind_reports');
}
