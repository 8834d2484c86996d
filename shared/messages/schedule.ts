import type { Collection, Db } from 'mongodb';
import { creditsOf } from '../money/accounts/prices.ts';
import { type FindOne, findNow } from '../platform/mongo/find-one.ts';
import { insertNew } from '../platform/mongo/insert-new.ts';
import {
  type AccountId,
  type BatchId,
  type ClaimId,
  type GroupId,
  type MessageId,
  releasedId,
  type ScheduleId,
} from '../platform/runtime/ids.ts';
import { markBooked } from './batch.ts';
import type { MessageDraft } from './document/message.ts';

/**
 * A message or a stored batch that is paid for and waits for its time. This document decides; the alarm that wakes the
 * schedules worker only saves time. The id contains the time of booking.
 */
export interface ScheduleDocument {
  readonly _id: ScheduleId;
  readonly account: AccountId;
  readonly group: GroupId;
  readonly state: ScheduleState;
  /** To the millisecond. */
  readonly at: Date;
  /** `at` as answered: ISO 8601 in the caller's offset, `2026-11-21T10:00:00+05:30`. */
  readonly scheduledFor: string;
  /** When the worker must process it: at its time, and again if that was not finished. */
  readonly due?: Date;
  readonly credits: number;
  readonly batch?: BatchId;
  /** Unset once it is sent, so that the text is not stored twice. A refunded cancelled message loses its `text`. */
  readonly content?: ScheduledContent;
  /** When it moved from `scheduled` to `sending`. A default validity counts from here, also in a redo. */
  readonly releasedAt?: Date;
  /** The grouped claim that took it last, by which the claimer reads again what it got. */
  readonly claim?: ClaimId;
}

/**
 * scheduled → sending → sent, or scheduled → cancelled.
 *
 * - `scheduled`: paid. One atomic update decides between release and cancel.
 * - `sending`: its message is being stored, or its batch handed on; if the worker dies, another repeats it (`due`).
 * - `sent`: that is done.
 * - `cancelled`: it never becomes a message; `due` until its credits are back.
 */
export type ScheduleState = 'scheduled' | 'sending' | 'sent' | 'cancelled';

/** An instant given by the caller, or a time from the release on. */
export type Validity =
  | { readonly validUntil: Date; readonly validForMs?: never }
  | { readonly validUntil?: never; readonly validForMs: number };

export type ScheduledMessage = Omit<MessageDraft, '_id' | 'batch' | 'validUntil'> & Validity;

export type ScheduledContent =
  | { readonly kind: 'message'; readonly message: ScheduledMessage }
  | ({
      readonly kind: 'batch';
      readonly total: number;
      /** Absent: 1 for each. */
      readonly credits?: number;
      readonly validity: Validity;
    } & Pick<MessageDraft, 'sender' | 'route' | 'reference' | 'keys'>);

export type Booking = Pick<ScheduleDocument, '_id' | 'at' | 'scheduledFor'> & { readonly content: ScheduledContent };

/** After this time the next worker repeats an unfinished release or refund; side by side they write the same. */
export const REDO_MS = 10_000;

export function priceOfBooking({ content }: Pick<Booking, 'content'>): number {
  return content.kind === 'batch' ? (content.credits ?? content.total) : creditsOf(content.message);
}

/** Pure: booking and a redo after a crash write the same. */
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

export function endOfValidity({ validUntil, validForMs }: Validity, releasedAt: Date): Date {
  return validUntil ?? new Date(releasedAt.getTime() + validForMs);
}

export function scheduledBatchId({ _id, at }: Pick<ScheduleDocument, '_id' | 'at'>): BatchId {
  return releasedId('bat', _id, at);
}

export function scheduledMessageId({ _id, at }: Pick<ScheduleDocument, '_id' | 'at'>): MessageId {
  return releasedId('msg', _id, at);
}

export function scheduleCollection(db: Db): Collection<ScheduleDocument> {
  return db.collection('schedules');
}

/** Existing ones stay as they are, because they may have moved on since. */
async function insertSchedules(db: Db, schedules: readonly ScheduleDocument[]): Promise<void> {
  await insertNew(db, 'schedules', schedules);
}

export async function readSchedule(
  db: Db,
  account: AccountId,
  id: ScheduleId,
  find: FindOne = findNow,
): Promise<ScheduleDocument | undefined> {
  return (await find(scheduleCollection(db), { _id: id, account })) ?? undefined;
}

export async function withoutStored(
  db: Db,
  account: AccountId,
  schedules: readonly ScheduleDocument[],
): Promise<readonly ScheduleDocument[]> {
  if (schedules.length === 0) return [];
  const stored = await scheduleCollection(db)
    .find({ _id: { $in: schedules.map(({ _id }) => _id) }, account }, { projection: { _id: 1 } })
    .batchSize(schedules.length + 1)
    .toArray();
  const ids = new Set(stored.map(({ _id }) => _id));
  return schedules.filter(({ _id }) => !ids.has(_id));
}

/** The time of the first schedule after `after`, up to `until`, that waits to be released. */
export async function nextDue(db: Db, after: Date, until: Date): Promise<Date | undefined> {
  const next = await scheduleCollection(db).findOne(
    { due: { $gt: after, $lte: until }, state: 'scheduled' },
    { sort: { due: 1 }, projection: { due: 1 } },
  );
  return next?.due;
}

export async function isAnyDue(db: Db, upTo: Date): Promise<boolean> {
  const first = await scheduleCollection(db).findOne(
    { due: { $lte: upTo } },
    { sort: { due: 1 }, projection: { due: 1 } },
  );
  return first !== null;
}

/** Due by `upTo` for any reason, the longest due first. */
export function findDue(db: Db, upTo: Date, limit: number): Promise<ScheduleDocument[]> {
  return scheduleCollection(db)
    .find({ due: { $lte: upTo } })
    .sort({ due: 1 })
    .limit(limit)
    .batchSize(limit + 1) // all in one answer: the server's own first batch holds 101
    .toArray();
}

/** The first waiting schedule of the first account after `behind` that has any. */
export async function firstWaiting(
  db: Db,
  behind: AccountId | '',
): Promise<Pick<ScheduleDocument, 'account' | 'at'> | undefined> {
  const first = await scheduleCollection(db).findOne(
    { state: 'scheduled', account: { $gt: behind as AccountId } }, // '' sorts before every id
    { sort: { account: 1, at: 1, _id: 1 }, hint: 'upcoming', projection: { account: 1, at: 1 } },
  );
  return first ?? undefined;
}

export async function firstWaitingOf(db: Db, account: AccountId): Promise<ScheduleId | undefined> {
  const first = await scheduleCollection(db).findOne(
    { state: 'scheduled', account },
    { sort: { at: 1, _id: 1 }, hint: 'upcoming', projection: { _id: 1 } },
  );
  return first?._id;
}

/** The longest due first. While a schedule waits, it is due `at`. */
export function findDueOf(db: Db, account: AccountId, upTo: Date, limit: number): Promise<ScheduleDocument[]> {
  return scheduleCollection(db)
    .find({ state: 'scheduled', account, at: { $lte: upTo } })
    .sort({ at: 1, _id: 1 })
    .hint('upcoming')
    .limit(limit)
    .toArray();
}

export interface ScheduleClaim {
  readonly id: ClaimId;
  readonly now: Date;
  readonly upTo: Date;
  /** When another worker may take over, if it is not finished by then. */
  readonly redoAt: Date;
}

/**
 * Takes schedules that were found due. Each waiting one is released now: `scheduled` → `sending`. For the others it
 * only takes over an unfinished release or refund. Returns the schedules that this claim took, as they are now.
 */
export async function claimDue(
  db: Db,
  found: readonly ScheduleDocument[],
  { id: claim, now, upTo, redoAt }: ScheduleClaim,
): Promise<readonly ScheduleDocument[]> {
  const idsIn = (asked: ScheduleDocument['state']) =>
    found.filter(({ state }) => state === asked).map(({ _id }) => _id);
  const taken = { claim, due: redoAt };
  const released = { ...taken, state: 'sending', releasedAt: now } as const;
  const schedules = scheduleCollection(db);
  // By the stored state: a cancel may have been rolled back since, and its credits would be given back beside the
  // message.
  const updates = (['scheduled', 'sending', 'cancelled'] as const)
    .map((state) => ({
      updateMany: {
        filter: { _id: { $in: idsIn(state) }, state, due: { $lte: upTo } },
        update: { $set: state === 'scheduled' ? released : taken },
      },
    }))
    .filter(({ updateMany }) => updateMany.filter._id.$in.length > 0);
  const { matchedCount } = await schedules.bulkWrite(updates, { ordered: false });
  if (matchedCount === found.length) {
    return found.map((one) => (one.state === 'scheduled' ? { ...one, ...released } : { ...one, ...taken }));
  }
  // Some may have been cancelled, or taken by another worker, since they were found.
  return schedules
    .find({ _id: { $in: found.map(({ _id }) => _id) }, claim })
    .batchSize(found.length + 1)
    .toArray();
}

/** Their messages are stored; nothing is left to do. May be repeated. */
export async function markSent(db: Db, ids: readonly ScheduleId[]): Promise<void> {
  await scheduleCollection(db).updateMany(
    { _id: { $in: ids }, state: 'sending' },
    { $set: { state: 'sent' }, $unset: { due: '', content: '' } },
  );
}

/** The schedule is never released. Undefined when it does not wait (any more). */
export async function markCancelled(
  db: Db,
  account: AccountId,
  id: ScheduleId,
  redoAt: Date,
): Promise<ScheduleDocument | undefined> {
  const cancelled = await scheduleCollection(db).findOneAndUpdate(
    { _id: id, account, state: 'scheduled' },
    { $set: { state: 'cancelled', due: redoAt } },
    { returnDocument: 'after' },
  );
  return cancelled ?? undefined;
}

/** Their credits are refunded; nothing is left to do. May be repeated. */
export async function markRefunded(db: Db, ids: readonly ScheduleId[]): Promise<void> {
  await scheduleCollection(db).updateMany(
    { _id: { $in: ids }, state: 'cancelled' },
    { $unset: { due: '', 'content.message.text': '' } },
  );
}

/** Follow-up of the debit, for schedules and their batches. May be repeated, also long afterwards. */
export async function storeBooked(db: Db, schedules: readonly ScheduleDocument[]): Promise<void> {
  await insertSchedules(db, schedules);
  await markBooked(
    db,
    schedules.flatMap(({ batch }) => batch ?? []),
  );
}
