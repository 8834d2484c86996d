import type { MessageDocument, MessageState } from '../messages/message.ts';
import type { STATES } from '../messages/status.ts';
import type { BatchId, GroupId, MessageId } from '../runtime/ids.ts';
import type { Encoding } from '../sms/segment.ts';
import type { Pattern } from '../templates/pattern.ts';

/**
 * One bulk request: one text, or one template with params, to many recipients. Its recipients wait in chunks until a worker
 * has made messages of them. When it was made is in its id.
 */
export interface BatchDocument
  extends Pick<
    MessageDocument,
    'account' | 'sender' | 'route' | 'path' | 'lane' | 'validUntil' | 'reference' | 'entityId'
  > {
  readonly _id: BatchId;
  readonly state: BatchState;
  /** Somebody still has something to do with it: pay it or prune it, split it, stop it, or remove its chunks. */
  readonly open?: true;
  /** There while `unpaid`. */
  readonly unpaid?: {
    /** By the store's time: from then on no debit pays for it, and it is removed (workers/maintenance/pruning/unpaid-batches.ts). */
    readonly payBy: Date;
    /** What it and its recipients take. */
    readonly bytes: number;
  };
  /** The debit that paid for it; there from `paid` on. */
  readonly group?: GroupId;
  /** Recipients: each becomes one message and costs `CREDITS_PER_MESSAGE`. */
  readonly total: number;
  /** Equal entries that were dropped at the caller's wish (`dedupe`). */
  readonly duplicates?: number;
  /** Recipients of each chunk but the last. */
  readonly perChunk: number;
  readonly content: BatchContent;
  /** Entries below this index are messages. */
  readonly done: number;
  /**
   * Entries below this index are messages or about to be: raised before they are made, and only while `paid`. So the update
   * that stops a batch decides for each entry whether it ever becomes a message.
   */
  readonly reserved: number;
  /** Messages and entries that were stopped; there when `stopped`. */
  readonly stopped?: number;
  /** So many groups of its messages were decided to be cancelled and refunded together. */
  readonly stopGroups?: number;
  /** The last of them, until it is known that all that follows from it is done. */
  readonly stopGroup?: StopGroup;
  /** There when all its messages ended long ago: they may be removed from then on (workers/maintenance/pruning/unpaid-batches.ts). */
  readonly counts?: BatchCounts;
}

/** States of SMS as the API shows them. */
export type ShownState = Exclude<(typeof STATES)[MessageState]['shown'], 'read' | 'received'>;

/** How many entries of a batch are in each state; together `total`. */
export type BatchCounts = Readonly<Record<ShownState, number>>;

export type BatchContent =
  /** The same for all; `dltId` when it was rendered from a template, or matches one. */
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly encoding: Encoding;
      readonly segments: number;
      readonly dltId?: string;
    }
  /** The template as it was approved when the batch was accepted; `params` serve the entries without their own. */
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
 * - `booked`: paid for, and its schedule says when it becomes `paid` (schedules/); nobody has anything to do with it yet.
 * - `paid`: the account's debit carries it; a worker makes messages of its entries.
 * - `split`: every entry is a message.
 * - `stopping`: the customer stopped it: no further entry becomes a message; a worker cancels what has not left.
 * - `stopped`: that is done and refunded. `open` while messages are with a carrier and may come back.
 */
export type BatchState = 'unpaid' | 'booked' | 'paid' | 'split' | 'stopping' | 'stopped';

/** Messages that a stop found waiting, all in the same version (`MessageDocument.v`); what follows: workers/batches/cancel-group.ts. */
export interface StopGroup {
  readonly v: number;
  /** Absent with `v: 0`: all that wait in it. No message comes back to its first version, so they need no naming. */
  readonly messages?: readonly MessageId[];
  readonly at: Date;
}

/** Some recipients of a batch. Removed when they are messages, or never will be. */
export interface BatchChunkDocument {
  readonly _id: BatchChunkId;
  readonly to: readonly string[];
  /** By the same index; empty: the batch's. Absent when no entry has its own. */
  readonly params?: readonly (readonly string[])[];
}

export type BatchChunkId = `${BatchId}:${string}`;

/** One recipient as it was asked for. */
export interface BatchEntry {
  readonly to: string;
  readonly params?: readonly string[];
}

/** "Limits": Recipients per bulk request. */
export const ENTRIES_MAX = 10_000;
/** 11 KB of plain recipients; with ten params each up to 0.5 MB, which the driver takes some 10 ms to write as BSON. */
export const ENTRIES_PER_CHUNK = 500;

export function chunkId(batch: BatchId, number: number): BatchChunkId {
  return `${batch}:${String(number).padStart(3, '0')}`;
}

/** Where the entries of a new batch wait. */
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
