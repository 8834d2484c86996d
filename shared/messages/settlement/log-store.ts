import type { Collection, Db } from 'mongodb';
import { readRawAccounts } from '../../events/webhooks/endpoint-store.ts';
import { readFullyLoggedAccounts } from '../../money/accounts/store.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { Grouper } from '../../platform/runtime/grouper.ts';
import type { AccountId, MessageId } from '../../platform/runtime/ids.ts';
import { errorFields, type Log } from '../../platform/runtime/log.ts';
import type { LogRecord } from './message-log.ts';

type StoredRecord = LogRecord & { readonly expiresAt: Date };

export interface MessageLogOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  /** How long records are kept. */
  readonly days: number;
}

const DAY_MS = 24 * 3_600_000;
const MAX_GROUP = 500;
const GATHER_MS = 5;
/** Most records that wait for the store; more are dropped and counted. */
const MAX_WAITING = 10_000;
/** Maximum age of the list of accounts that want everything logged. */
const FRESH_MS = 5_000;
/** Most records of one message that are shown, the oldest first. No message has come near that. */
const SHOWN_MAX = 200;

/**
 * Writes a process's records in groups. Nobody waits for them: when the store does not take them, this is logged and they are
 * dropped. A crash loses the records of its last milliseconds.
 */
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

  /** Nothing waits to be written. */
  get idle(): boolean {
    return this.#waiting === 0;
  }

  /** Whether the account also logs usual receipts and answers; the information may be seconds old. */
  wantsUsual(account: AccountId): boolean {
    if (this.#options.clock.monotonicMs() - this.#readAtMs >= FRESH_MS) this.#refresh();
    return this.#everything.has(account);
  }

  /** Whether a webhook of the account asks for receipts as carriers wrote them; the information may be seconds old. */
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
    Promise.all([readFullyLoggedAccounts(db), readRawAccounts(db)]).then(
      ([everything, raw]) => {
        if (this.#readAtMs !== askedMs) return;
        this.#everything = everything;
        this.#raw = raw;
      },
      (error: unknown) => log.warn('message_log_accounts_not_read', errorFields(error)),
    );
  }
}

/** What was logged of a message, oldest first. */
export function readMessageLog(db: Db, message: MessageId): Promise<readonly LogRecord[]> {
  return (
    collection(db)
      .find({ _id: { $gt: `${message}:`, $lt: `${message};` } }) // ";" is the character behind ":"
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
