import { createHash } from 'node:crypto';
import type { CarrierDocument } from '../../carriers/carrier.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';
import type { FinalState, MessageState, Part, ReceiptTlvs, StoredMessage } from '../document/message.ts';
import { STATES } from '../document/status.ts';
import type { SubmitOutcome } from './submit-outcome.ts';

/**
 * What a message's timeline shows beyond its history. Append-only. Written when something unusual happened, and always for
 * accounts that want everything. Nothing is decided by it: a lost record is only missing in the timeline.
 */
export type LogRecord = ReceiptRecord | AnswerRecord | PolicyRecord;

interface Logged {
  /**
   * `<message>:<hash of the content>`. A record that is written twice exists once, and the records of a message are a range of
   * ids.
   */
  readonly _id: string;
  readonly message: MessageId;
  readonly carrier: string;
  readonly at: Date;
}

/** A receipt that was processed. All its repeats together add one more record (`duplicate`). */
export interface ReceiptRecord extends Logged {
  readonly kind: 'receipt';
  /** Its effect. `duplicate` and `ignored` changed nothing. `held`: the message fails later, unless a better receipt comes. `failover`: the next carrier of its route is asked. */
  readonly result: 'matched' | 'unknown_settled' | 'duplicate' | 'held' | 'ignored' | 'failover';
  /** Addresses and text as the carrier wrote them; the text is cut before the customer's words. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly tlvs?: ReceiptTlvs;
  /** What was parsed from it. */
  readonly key: string;
  readonly part: PartReceipt;
}

/** The result of one claim's submit, all segments together. */
export interface AnswerRecord extends Logged {
  readonly kind: 'answer';
  readonly outcome: Exclude<SubmitOutcome['kind'], 'deferred'>;
  readonly code?: string;
  readonly reason?: string;
  readonly parts?: readonly Part[];
}

/** The carrier's policy decided about a submit whose answer never came. */
export interface PolicyRecord extends Logged {
  readonly kind: 'policy';
  readonly policy: CarrierDocument['unknownPolicy'];
  /** `queued`: it is sent again. `failed`: it was refused when sent again, or never answered. Absent in older records. */
  readonly became?: MessageState;
}

/** What a receipt says about one part of a message. */
export interface PartReceipt {
  readonly state: FinalState;
  /** The carrier's error text. */
  readonly error?: string;
  /** See `Part`. */
  readonly isStateNumber?: true;
  /** In words, for `error_reason`. */
  readonly reason?: string;
  /**
   * Set when its word does not say how the message ended. `hold`: the message waits for a better receipt. `ignore`: nothing
   * changes.
   */
  readonly effect?: 'hold' | 'ignore';
  /** When the carrier says it happened. */
  readonly doneAt?: Date;
  /** The carrier's name, for people. */
  readonly operator: string;
}

/** The part of a carrier's receipt that the message log keeps. */
export interface LoggedReceipt {
  readonly from: string;
  readonly to: string;
  /** Its text, cut before the customer's words. */
  readonly excerpt: string;
  readonly tlvs?: ReceiptTlvs;
  readonly part: PartReceipt;
  /** Set when it was stored as an orphan before. */
  readonly orphan?: string;
}

/** Whether a receipt says more than "a sent message was delivered". `message`: as it was before. */
export function isUnusualReceipt(
  message: StoredMessage,
  receipt: Pick<LoggedReceipt, 'part' | 'orphan'>,
  result: ReceiptRecord['result'],
): boolean {
  return (
    result !== 'matched' ||
    receipt.part.state !== 'delivered' ||
    receipt.orphan !== undefined ||
    STATES[message.state].final
  );
}

/** Whether an answer says more than "accepted at the first try". `claimed`: as it was before. */
export function isUnusualAnswer(claimed: StoredMessage, { kind }: SubmitOutcome): boolean {
  const { tries, throttles, outcome, earlier } = claimed;
  return kind !== 'sent' || tries > 0 || throttles !== undefined || outcome !== undefined || earlier !== undefined;
}

export function receiptRecord(
  carrier: string,
  message: MessageId,
  key: string,
  receipt: LoggedReceipt,
  result: ReceiptRecord['result'],
  at: Date,
): ReceiptRecord {
  const { from, to, excerpt: text, tlvs, part } = receipt;
  const said = ['receipt', result, key, from, to, text, tlvs, part.state, part.error, part.doneAt];
  return {
    _id: recordId(message, said),
    message,
    carrier,
    at,
    kind: 'receipt',
    result,
    from,
    to,
    text,
    ...(tlvs === undefined ? {} : { tlvs }),
    key,
    part,
  };
}

/** Undefined for a message that no carrier was asked about: nobody claimed it, or it waits for its daytime. */
export function answerRecord(claimed: StoredMessage, outcome: SubmitOutcome, at: Date): AnswerRecord | undefined {
  const { _id: message, claim } = claimed;
  if (claim === undefined || outcome.kind === 'deferred') return undefined;
  return {
    _id: recordId(message, ['answer', claim.id, claim.epoch, outcome]),
    message,
    carrier: claim.carrier,
    at,
    kind: 'answer',
    outcome: outcome.kind,
    ...('code' in outcome ? { code: outcome.code, reason: outcome.reason } : {}),
    ...('parts' in outcome && outcome.parts.length > 0 ? { parts: outcome.parts } : {}),
  };
}

export function policyRecord(
  { _id: message, claim }: StoredMessage,
  { _id: carrier, unknownPolicy: policy }: Pick<CarrierDocument, '_id' | 'unknownPolicy'>,
  became: MessageState,
  at: Date,
): PolicyRecord {
  return {
    _id: recordId(message, ['policy', claim?.id, policy]),
    message,
    carrier,
    at,
    kind: 'policy',
    policy,
    became,
  };
}

function recordId(message: MessageId, said: readonly unknown[]): string {
  return `${message}:${createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22)}`;
}
