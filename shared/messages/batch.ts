import type { PriceList } from '../money/accounts/prices.ts';
import type { BatchId, GroupId, MessageId } from '../platform/runtime/ids.ts';
import type { Pattern } from '../templates/sms/pattern.ts';
import type { MessageDocument, MessageState } from './document/message.ts';
import type { STATES } from './document/status.ts';
import type { Encoding } from './sms-plan.ts';

/**
 * One bulk request: one text, or one template with params, to many recipients. Its recipients wait in chunks until a worker
 * has made messages of them. When it was made is in its id.
 */
export interface BatchDocument
  extends Pick<
    MessageDocument,
    'account' | 'sender' | 'route' | 'path' | 'lane' | 'validUntil' | 'reference' | 'entityId' | 'keys'
  > {
  readonly _id: BatchId;
  readonly state: BatchState;
  /** Set while work remains: pay or prune it, split it, stop it, or remove its chunks. */
  readonly open?: true;
  /** Present while `unpaid`. */
  readonly unpaid?: {
    /**
     * By the store's time. After this no debit pays for the batch, and it is removed
     * (workers/maintenance/pruning/batches.ts).
     */
    readonly payBy: Date;
    /** Size of the batch with its recipients. */
    readonly bytes: number;
  };
  /** The debit that paid for it; present from `paid` on. */
  readonly group?: GroupId;
  /** Recipients: each becomes one message. */
  readonly total: number;
  /** What all of them cost. Absent: 1 for each. */
  readonly credits?: number;
  /** The account's price list when it was accepted: each message is made with its price. */
  readonly prices?: PriceList;
  /** Number of equal entries that were dropped because the caller asked for `dedupe`. */
  readonly duplicates?: number;
  /** Number of recipients who had opted out and were left out because the caller asked for `skip_opted_out`. */
  readonly skipped?: number;
  /** Recipients per chunk; the last chunk may have fewer. */
  readonly perChunk: number;
  readonly content: BatchContent;
  /** Entries below this index have become messages. */
  readonly done: number;
  /**
   * Entries below this index are messages or are about to become messages. It is raised before they are made, and only while
   * `paid`. So the update that stops a batch decides for each entry whether it becomes a message.
   */
  readonly reserved: number;
  /** Number of messages and entries that were stopped; present when `stopped`. */
  readonly stopped?: number;
  /** Number of stop groups decided so far. The messages of one stop group are cancelled and refunded together. */
  readonly stopGroups?: number;
  /** The newest stop group, until all its follow-up is known to be done. */
  readonly stopGroup?: StopGroup;
  /**
   * Present when all its messages ended long ago. From then on the messages may be removed
   * (workers/maintenance/pruning/batches.ts).
   */
  readonly counts?: BatchCounts;
}

/** The states of a batch's entries, as the API shows them. */
type EntryState = Exclude<(typeof STATES)[MessageState]['shown'], 'read' | 'received'>;

/** How many entries of a batch are in each state; together `total`. */
export type BatchCounts = Readonly<Record<EntryState, number>>;

export type BatchContent =
  /** One text for all recipients; `dltId` when it was rendered from a template or matches one. */
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly encoding: Encoding;
      readonly segments: number;
      readonly dltId?: string;
    }
  /** The template as approved when the batch was accepted. `params` serve the entries without params of their own. */
  | {
      readonly kind: 'template';
      readonly dltId: string;
      readonly pattern: Pattern;
      readonly params: readonly string[];
    };

/**
 * unpaid → paid → split; paid | split → stopping → stopped. A scheduled one: unpaid → booked → paid, or removed.
 *
 * - `unpaid`: stored, to be paid by the next debit or pruned.
 * - `booked`: paid for, and its schedule says when it becomes `paid` (schedule.ts); nobody has anything to do with it yet.
 * - `paid`: the account's debit carries it; a worker makes messages of its entries.
 * - `split`: every entry is a message.
 * - `stopping`: the customer stopped it: no further entry becomes a message; a worker cancels what has not left.
 * - `stopped`: that is done and refunded. `open` while messages are with a carrier and may come back.
 */
export type BatchState = 'unpaid' | 'booked' | 'paid' | 'split' | 'stopping' | 'stopped';

/**
 * Waiting messages that a stop found, all of the same version (`MessageDocument.v`). Follow-up: workers/batches/cancel-group.ts.
 */
export interface StopGroup {
  readonly v: number;
  /**
   * Absent with `v: 0`: then it means every waiting message of version 0. No message returns to its first version, so no list is
   * needed.
   */
  readonly messages?: readonly MessageId[];
  readonly at: Date;
}

/** Some recipients of a batch. Removed when they have become messages, or when they never will. */
export interface BatchChunkDocument {
  readonly _id: BatchChunkId;
  readonly to: readonly string[];
  /** Params by the same index; an empty list means the batch's own. Absent when no entry has its own. */
  readonly params?: readonly (readonly string[])[];
}

export type BatchChunkId = `${BatchId}:${string}`;

/** One recipient as the caller gave it. */
export interface BatchEntry {
  readonly to: string;
  readonly params?: readonly string[];
}

/** "Limits": Recipients per bulk request. */
export const ENTRIES_MAX = 10_000;
/**
 * 500 plain recipients are 11 KB. With ten params each they are up to 0.5 MB, which the driver takes about 10 ms to write as
 * BSON.
 */
export const ENTRIES_PER_CHUNK = 500;

export function chunkId(batch: BatchId, number: number): BatchChunkId {
  return `${batch}:${String(number).padStart(3, '0')}`;
}

/** The chunks in which the entries of a new batch wait. */
export function chunksOf(
  batch: BatchId,
  entries: readonly BatchEntry[],
  perChunk = ENTRIES_PER_CHUNK,
): BatchChunkDocument[] {
  const chunks: BatchChunkDocument[] = [];
  for (let start = 0; start < entries.length; start += perChunk) {
    const part = entries.slice(start, start + perChunk);
    const own = part.some(({ params }) => params !== undefined);
    chunks.push({
      _id: chunkId(batch, chunks.length),
      to: part.map(({ to }) => to),
      ...(own ? { params: part.map(({ params }) => params ?? []) } : {}),
    });
  }
  return chunks;
}
