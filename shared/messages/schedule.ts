import { creditsOf } from '../money/accounts/prices.ts';
import {
  type AccountId,
  type BatchId,
  type ClaimId,
  type GroupId,
  type MessageId,
  releasedId,
  type ScheduleId,
} from '../platform/runtime/ids.ts';
import type { MessageDraft } from './document/draft.ts';

/**
 * A message or a stored batch that is paid for and waits for its time. The document decides; the alarm that wakes the schedules
 * worker only saves time. The id contains the time of booking.
 */
export interface ScheduleDocument {
  readonly _id: ScheduleId;
  readonly account: AccountId;
  /** The debit that paid for it. */
  readonly group: GroupId;
  readonly state: ScheduleState;
  /** The time it is booked for, to the millisecond. */
  readonly at: Date;
  /** `at` as it was answered: ISO 8601 in the caller's offset, `2026-11-21T10:00:00+05:30`. */
  readonly scheduledFor: string;
  /** When the worker must process it: at its time, and again if that was not finished. Unset when nothing is left to do. */
  readonly due?: Date;
  /** Credits that were debited; a cancel refunds them. */
  readonly credits: number;
  /** For a bulk request: the stored batch that it becomes. */
  readonly batch?: BatchId;
  /**
   * Unset once it is sent, so that the text is not stored twice. Once a cancelled one is refunded, a message is without its `text`.
   */
  readonly content?: ScheduledContent;
  /** When it moved from `scheduled` to `sending`. A default validity counts from here, also in a redo. */
  readonly releasedAt?: Date;
  /** The grouped claim that took it last. The claimer uses it to read again what it got. */
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

/** Validity: an instant given by the caller, or a time from the release on. */
export type Validity =
  | { readonly validUntil: Date; readonly validForMs?: never }
  | { readonly validUntil?: never; readonly validForMs: number };

export type ScheduledMessage = Omit<MessageDraft, '_id' | 'batch' | 'validUntil'> & Validity;

export type ScheduledContent =
  | { readonly kind: 'message'; readonly message: ScheduledMessage }
  | ({
      readonly kind: 'batch';
      /** Recipients. */
      readonly total: number;
      /** The price. Absent: 1 for each. */
      readonly credits?: number;
      readonly validity: Validity;
    } & Pick<MessageDraft, 'sender' | 'route' | 'reference' | 'keys'>);

/** A schedule as requested: checked, not paid yet. */
export type Booking = Pick<ScheduleDocument, '_id' | 'at' | 'scheduledFor'> & { readonly content: ScheduledContent };

/**
 * A release or refund that is not finished after this time is done again by the next worker that finds it. Far longer than it
 * takes. Repeating it writes the same, even side by side.
 */
export const REDO_MS = 10_000;

/** What a booking costs. */
export function priceOfBooking({ content }: Pick<Booking, 'content'>): number {
  return content.kind === 'batch' ? (content.credits ?? content.total) : creditsOf(content.message);
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

/** The end of validity of what is released at `releasedAt`. */
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
