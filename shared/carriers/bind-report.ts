import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo/errors.ts';
import { statusReason, statusText } from './command-status.ts';

/**
 * The state of a carrier's binds, reported by the process that holds the carrier: for people, and for the workers of other
 * carriers on the same route. It holds no secret. There is one document per carrier, written when something changes. It is out of
 * date when the carrier's lease has another epoch or no holder (carrier-condition.ts, carriers/routing/availability.ts).
 */
export interface BindReportDocument {
  /** The carrier. */
  readonly _id: string;
  /** Epoch of the holder's lease. */
  readonly epoch: number;
  readonly at: Date;
  readonly binds: readonly BindReport[];
  /** What other carriers' workers need to know to take over (carriers/routing/availability.ts). */
  readonly flow: CarrierFlow;
  /** What was measured recently. Absent before the first measurement. */
  readonly measured?: CarrierMeasured;
}

/** How well the carrier takes messages. Each member is absent while all is well. */
export interface CarrierFlow {
  /** Since when it has no bind that lasts: one that was lost within seconds does not count. */
  readonly unboundSince?: Date;
  /** Since when more messages wait for it than it takes. */
  readonly behindSince?: Date;
  /** Set while the carrier refuses nearly everything: when it will be tried again. */
  readonly trippedUntil?: Date;
}

/** What the holder of the carrier has measured since it began. */
export interface CarrierMeasured {
  readonly since: Date;
  /** For each bind: the number of submits without an answer. */
  readonly unanswered: readonly number[];
  /** How many segments a second may be sent to it now. Absent: no limit. */
  readonly perSecond?: number;
  /** Computed from the last thousand answers to submit_sm. */
  readonly answerMs?: { readonly p50: number; readonly p99: number };
  /** When the certificate ends that the carrier showed. Absent without TLS. */
  readonly certificateUntil?: Date;
  /** Number of answers by their class (command-status.ts). */
  readonly answers: Readonly<Record<string, number>>;
  /** Number of receipts by the state that they report. */
  readonly receipts: Readonly<Record<string, number>>;
  /** The last answer that did not accept a submit_sm. */
  readonly lastRefusal?: { readonly code: string; readonly reason: string; readonly at: Date };
}

export interface BindReport {
  readonly index: number;
  readonly state: 'closed' | 'connecting' | 'binding' | 'bound' | 'draining' | 'backoff';
  /** Since when `state` holds. */
  readonly since: Date;
  /**
   * Why it is not bound, with the time of the first try that failed this way. Absent while it is bound, and before the first try
   * has ended.
   */
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
  /** In words. */
  readonly reason: string;
}

/** The carrier refused a bind with this command_status. */
export function refusedBind(status: number): BindTrouble {
  return { kind: 'refused', code: statusText(status), reason: REFUSALS.get(status) ?? statusReason(status) };
}

/** A connection ended or could not be made. The code is an error's code or one of our own. */
export function endedBind(kind: Exclude<BindTrouble['kind'], 'refused'>, code: string): BindTrouble {
  const words = WORDS.find(([pattern]) => pattern.test(code))?.[1];
  return { kind, code, reason: words ?? (kind === 'lost' ? 'the connection ended' : 'no connection') };
}

/** The answer to a message says that no other one would be taken either. */
export function unusableSession({ code, reason }: { readonly code: string; readonly reason: string }): BindTrouble {
  return { kind: 'lost', code, reason: `the carrier called the session unusable (${reason})` };
}

/** What the command_status of a bind means (SMPP 3.4 §5.1.3), where its name alone does not say it. */
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

/** The reports of all carriers that were ever held, by carrier id. */
export async function readBindReports(db: Db): Promise<ReadonlyMap<string, BindReportDocument>> {
  const told = await reports(db).find().toArray();
  return new Map(told.map((report) => [report._id, report]));
}

function reports(db: Db): Collection<BindReportDocument> {
  return db.collection('bind_reports');
}
