import { CREDITS_PER_MESSAGE } from '../ledger/refund.ts';
import type { MessageDraft } from '../messages/draft.ts';
import {
  type AccountId,
  type BatchId,
  type ClaimId,
  type GroupId,
  type MessageId,
  releasedId,
  type ScheduleId,
} from '../runtime/ids.ts';

/**
 * A message, or a stored batch, that was paid for and waits for its time. The document is the truth; the alarm that wakes the
 * schedules worker is only a convenience. When it was booked is in its id.
 */
export interface ScheduleDocument {
  readonly _id: ScheduleId;
  readonly account: AccountId;
  /** The debit that paid for it. */
  readonly group: GroupId;
  readonly state: ScheduleState;
  /** When it was booked for, to the millisecond. */
  readonly at: Date;
  /** `at` as it was answered: ISO 8601 in the caller's offset, `2026-11-21T10:00:00+05:30`. */
  readonly scheduledFor: string;
  /** When the worker must look at it: at its time, then, if that was not finished, again. Unset when nothing is left to do. */
  readonly due?: Date;
  /** What was debited, and goes back when it is cancelled. */
  readonly credits: number;
  /** When a bulk request was booked: the batch that it becomes, stored already. */
  readonly batch?: BatchId;
  /** Unset when it is sent or refunded: the text need not lie in two places. */
  readonly content?: ScheduledContent;
  /** When it left `scheduled` for `sending`: validity that was not given counts from here, also in a redo. */
  readonly releasedAt?: Date;
  /** The grouped claim that took it last; lets a claimer re-read what it got. */
  readonly claim?: ClaimId;
}

/**
 * scheduled → sending → sent, or scheduled → cancelled.
 *
 * - `scheduled`: paid. One atomic update decides what becomes of it, release or cancel.
 * - `sending`: its message is being stored, or its batch handed on; whoever dies in between, another worker does it again (`due`).
 * - `sent`: that is done. What became of the message or the batch is theirs to tell.
 * - `cancelled`: it never becomes a message; `due` until its credits are back.
 */
export type ScheduleState = 'scheduled' | 'sending' | 'sent' | 'cancelled';

/** Validity is the caller's word, an instant; or else so long from the release. */
export type Validity =
  | { readonly validUntil: Date; readonly validForMs?: never }
  | { readonly validUntil?: never; readonly validForMs: number };

export type ScheduledMessage = Omit<MessageDraft, '_id' | 'batch' | 'validUntil'> & Validity;

export type ScheduledContent =
  | { readonly kind: 'message'; readonly message: ScheduledMessage }
  | {
      readonly kind: 'batch';
      /** Recipients. */
      readonly total: number;
      readonly validity: Validity;
    };

/** A schedule as the caller wants it: checked, not paid yet. */
export type Booking = Pick<ScheduleDocument, '_id' | 'at' | 'scheduledFor'> & { readonly content: ScheduledContent };

/**
 * What was begun (a release, a refund) and is not finished by then is done again by whoever finds it: far longer than it
 * takes. Doing it twice, also side by side, writes the same.
 */
export const REDO_MS = 10_000;

/** What a booking costs. */
export function priceOfBooking({ content }: Pick<Booking, 'content'>): number {
  return (content.kind === 'batch' ? content.total : 1) * CREDITS_PER_MESSAGE;
}

/** The document that a paid booking becomes. Pure: booking and a redo after a crash write the same. */
export function bookedSchedule(account: AccountId, group: GroupId, booking: Booking): ScheduleDocument {
  const { _id, at, scheduledFor, content } = booking;
  return {
    _id,
    account,
    group,
    state: 'scheduled',
    at,
    scheduledFor,
    due: at,
    credits: priceOfBooking(booking),
    ...(content.kind === 'batch' ? { batch: scheduledBatchId(booking) } : {}),
    content,
  };
}

/** Until when what is released at `releasedAt` may wait and travel. */
export function endOfValidity({ validUntil, validForMs }: Validity, releasedAt: Date): Date {
  return validUntil ?? new Date(releasedAt.getTime() + validForMs);
}

/** The id of the batch that a bulk schedule becomes. */
export function scheduledBatchId({ _id, at }: Pick<ScheduleDocument, '_id' | 'at'>): BatchId {
  return releasedId('bat', _id, at);
}

/** The id of the message that a schedule becomes. */
export function scheduledMessageId({ _id, at }: Pick<ScheduleDocument, '_id' | 'at'>): MessageId {
  return releasedId('msg', _id, at);
}
