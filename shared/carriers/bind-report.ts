import { statusReason, statusText } from './command-status.ts';

/**
 * What a carrier's binds are doing, as the process that holds the carrier says it; for people. One document for each carrier, written
 * at changes. It decides nothing, and holds no secret. When the carrier's lease has another epoch, or no holder, it is history
 * (`carrier-condition.ts`).
 */
export interface BindReportDocument {
  /** The carrier. */
  readonly _id: string;
  /** Of the holder's lease. */
  readonly epoch: number;
  readonly at: Date;
  readonly binds: readonly BindReport[];
}

export interface BindReport {
  readonly index: number;
  readonly state: 'closed' | 'connecting' | 'binding' | 'bound' | 'draining' | 'backoff';
  /** Of `state`. */
  readonly since: Date;
  /** Why it is not bound, from the first try that ended so; absent while it is bound, and before the first try has ended. */
  readonly trouble?: BindTrouble & { readonly since: Date };
}

/**
 * `refused`: the carrier answered the bind with a command_status (`code`, as `0x0E`). `unanswered`: it did not, or closed.
 * `unreachable`: no connection, TLS included (`code`: the system's, or ours). `lost`: it had been bound.
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

/** A connection ended, or was never made, for this reason: an error's code or a word of ours. */
export function endedBind(kind: Exclude<BindTrouble['kind'], 'refused'>, code: string): BindTrouble {
  const words = WORDS.find(([pattern]) => pattern.test(code))?.[1];
  return { kind, code, reason: words ?? (kind === 'lost' ? 'the connection ended' : 'no connection') };
}

/** What a carrier means with the command_status of a bind (SMPP 3.4 §5.1.3), where that is more than its name. */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [0x05, 'an earlier session is still bound'],
  [0x0d, 'bind failed'],
  [0x0e, 'wrong password'],
  [0x0f, 'unknown system id'],
]);

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens at its address'],
  [/^(ETIMEDOUT|connect_timeout)$/, 'no answer from its address'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its host name is not known'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'there is no way to its address'],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|TLS|SSL|^EPROTO$/, 'TLS failed'],
  [/^(ECONNRESET|EPIPE)$/, 'the connection was cut'],
  [/^(closed_by_peer|ended)$/, 'the carrier closed the connection'],
  [/^bind_unanswered$/, 'the bind was not answered'],
  [/^enquire_link_unanswered$/, 'the carrier fell silent'],
  [/^session_refused$/, 'the carrier called the session unusable'],
];
