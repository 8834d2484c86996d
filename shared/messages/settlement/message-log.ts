import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { CarrierDocument } from '../../carriers/carrier.ts';
import { readRawAccounts } from '../../events/webhooks/endpoint-store.ts';
import { readAccountsThat } from '../../money/accounts/store.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { Grouper } from '../../platform/runtime/grouper.ts';
import type { AccountId, MessageId } from '../../platform/runtime/ids.ts';
import { errorFields, type Log } from '../../platform/runtime/log.ts';
import type { FinalState, MessageState, Part, ReceiptTlvs, StoredMessage } from '../document/message.ts';
import { STATES } from '../document/status.ts';
import type { SubmitOutcome } from './decide-outcome.ts';

/** The timeline beyond the history: unusual events, or all if an account wants it. Decides nothing. */
export type LogRecord = ReceiptRecord | AnswerRecord | PolicyRecord;

interface Logged {
  /** `<message>:<hash of the content>`: written twice it exists once; a message's records are a range. */
  readonly _id: string;
  readonly message: MessageId;
  readonly carrier: string;
  readonly at: Date;
}

/** A receipt that was processed. All its repeats together add one more record (`duplicate`). */
export interface ReceiptRecord extends Logged {
  readonly kind: 'receipt';
  /** `held`: fails unless a better receipt comes. `failover`: the route's next carrier is asked. */
  readonly result: 'matched' | 'unknown_settled' | 'duplicate' | 'held' | 'ignored' | 'failover';
  /** As the carrier wrote them; the text is cut before the customer's words. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly tlvs?: ReceiptTlvs;
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
  /** `queued`: sent again. `failed`: refused when sent again, or never answered. Absent in older records. */
  readonly became?: MessageState;
}

export interface PartReceipt {
  readonly state: FinalState;
  readonly error?: string;
  readonly isStateNumber?: true;
  readonly reason?: string;
  /** The word does not tell the end. `hold`: wait for a better receipt. `ignore`: nothing changes. */
  readonly effect?: 'hold' | 'ignore';
  readonly doneAt?: Date;
  /** The carrier's name, for people. */
  readonly operator: string;
}

export interface LoggedReceipt {
  readonly from: string;
  readonly to: string;
  readonly excerpt: string;
  readonly tlvs?: ReceiptTlvs;
  readonly part: PartReceipt;
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

/** Undefined when no carrier was asked: nobody claimed the message, or it waits for its daytime. */
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

/** A receipt that fits no message (yet): kept for three days and tried again (workers/smpp/receipts). */
export interface OrphanDocument extends Omit<LoggedReceipt, 'orphan'> {
  /** Derived from carrier, ids and content, so the same receipt is stored once. */
  readonly _id: string;
  readonly carrier: string;
  /** Every key that its ids may mean (workers/smpp/dialect/message-ids.ts). */
  readonly keys: readonly string[];
  /** The form of each key. Absent in older documents. */
  readonly forms?: readonly string[];
  /** As in IncomingReceipt (workers/smpp/receipts/receipt-match.ts). */
  readonly plain?: true;
  readonly at: Date;
  readonly expiresAt: Date;
}

type StoredRecord = LogRecord & { readonly expiresAt: Date };

export interface MessageLogOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly days: number;
}

const DAY_MS = 24 * 3_600_000;
const MAX_GROUP = 500;
const GATHER_MS = 5;
/** Further records are dropped and counted. */
const MAX_WAITING = 10_000;
/** Greatest age of the lists of accounts that want everything, or raw receipts. */
const FRESH_MS = 5_000;
/** The oldest first. No message has come near that. */
const SHOWN_MAX = 200;

/** Writes in groups; nobody waits. Records are lost, with a log line, when the store fails, or in a crash. */
export class MessageLog {
  readonly #options: MessageLogOptions;
  readonly #grouper: Grouper<StoredRecord, undefined>;
  #waiting = 0;
  #dropped = 0;
  #everything: ReadonlySet<AccountId> = new Set();
  #raw: ReadonlySet<AccountId> = new Set();
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: MessageLogOptions) {
    this.#options = options;
    this.#grouper = new Grouper<StoredRecord, undefined>({
      maxItems: MAX_GROUP,
      gatherMs: GATHER_MS,
      run: async (records) => {
        await this.#write(records);
        return records.map(() => undefined);
      },
    });
    this.#refresh();
  }

  get idle(): boolean {
    return this.#waiting === 0;
  }

  /** Whether the account also logs usual receipts and answers; may be seconds old. */
  wantsUsual(account: AccountId): boolean {
    if (this.#options.clock.monotonicMs() - this.#readAtMs >= FRESH_MS) this.#refresh();
    return this.#everything.has(account);
  }

  /** Whether a webhook of the account asks for receipts as carriers wrote them; may be seconds old. */
  wantsRaw(account: AccountId): boolean {
    if (this.#options.clock.monotonicMs() - this.#readAtMs >= FRESH_MS) this.#refresh();
    return this.#raw.has(account);
  }

  /** Never throws and never waits. */
  add(records: readonly LogRecord[]): void {
    for (const record of records) {
      if (this.#waiting >= MAX_WAITING) {
        this.#dropped += 1;
        continue;
      }
      this.#waiting += 1;
      const expiresAt = new Date(record.at.getTime() + this.#options.days * DAY_MS);
      void this.#grouper.add({ ...record, expiresAt });
    }
  }

  /** Catches every error, because nobody awaits it. */
  async #write(records: readonly StoredRecord[]): Promise<void> {
    const { db, log } = this.#options;
    try {
      await insertNew(db, 'message_log', records);
    } catch (error) {
      log.warn('message_log_not_written', { records: records.length, ...errorFields(error) });
    }
    this.#waiting -= records.length;
    if (this.#dropped === 0) return;
    log.warn('message_log_dropped', { records: this.#dropped });
    this.#dropped = 0;
  }

  /** Drops an answer when a newer read has begun. */
  #refresh(): void {
    const { db, clock, log } = this.#options;
    const askedMs = clock.monotonicMs();
    this.#readAtMs = askedMs;
    Promise.all([readAccountsThat(db, { log: 'all' }), readRawAccounts(db)]).then(
      ([everything, raw]) => {
        if (this.#readAtMs !== askedMs) return;
        this.#everything = everything;
        this.#raw = raw;
      },
      (error: unknown) => log.warn('message_log_accounts_not_read', errorFields(error)),
    );
  }
}

/** Oldest first. */
export function readMessageLog(db: Db, message: MessageId): Promise<readonly LogRecord[]> {
  return (
    collection(db)
      .find({ _id: { $gt: `${message}:`, $lt: `${message};` } }) // ";" is the character after ":"
      .limit(SHOWN_MAX)
      .project<LogRecord>({ expiresAt: 0 })
      .toArray()
      // Within a millisecond an answer goes before a receipt.
      .then((records) => records.sort((a, b) => a.at.getTime() - b.at.getTime() || (a.kind < b.kind ? -1 : 1)))
  );
}

function collection(db: Db): Collection<StoredRecord> {
  return db.collection('message_log');
}
