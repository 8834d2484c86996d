import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { placementOf } from '../../shared/carriers/routing/placement.ts';
import { readTable } from '../../shared/carriers/routing/routes.ts';
import { releaseBooked } from '../../shared/messages/batch-store.ts';
import { queuedMessage } from '../../shared/messages/document/draft.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { readQueued, requeue } from '../../shared/messages/queue/queue-store.ts';
import { endOfValidity, REDO_MS, type ScheduleDocument, scheduledMessageId } from '../../shared/messages/schedule.ts';
import { claimDue, markSent } from '../../shared/messages/schedule-store.ts';
import { refundCancelled } from '../../shared/money/payment/cancel-schedule.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import type { DueTurns } from './due-turns.ts';

export interface ReleaseDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly turns: DueTurns;
}

/** How many schedules a group had, and how many of them it released. */
export interface Release {
  readonly found: number;
  readonly released: number;
}

/**
 * Works off one group of due schedules. One atomic update claims them: from then on they count as released and cannot
 * be cancelled. Then their messages are stored, with ids that were fixed at booking, or their batches are handed on.
 * If a dead worker left a release or a refund, it is repeated and writes the same.
 */
export async function releaseDue({ db, clock, turns }: ReleaseDeps, upTo: Date): Promise<Release> {
  const found = await turns.next(upTo);
  if (found.length === 0) return { found: 0, released: 0 };
  const now = clock.now();
  const claim = { id: newId('clm', now.getTime()), now, upTo, redoAt: new Date(now.getTime() + REDO_MS) };
  const claimed = await claimDue(db, found, claim);

  if (claimed.length > 0) crashPoint('release:claimed');
  const sending = claimed.filter(({ state }) => state === 'sending');
  const table = await readTable(db);
  // The routes may have changed since it was booked.
  const messages = sending.flatMap(releasedMessage).map((message) => ({ ...message, ...placementOf(table, message) }));
  // Stored first, so that those that a dead worker released, and that have left, get no lines.
  await requeue(db, await readQueued(db, messages));
  for (const schedule of sending) await releaseBatch(db, schedule);
  if (sending.length > 0) crashPoint('release:inserted');
  if (sending.length > 0) {
    await markSent(
      db,
      sending.map(({ _id }) => _id),
    );
  }
  await refundCancelled(
    db,
    claimed.filter(({ state }) => state === 'cancelled'),
  );
  return { found: found.length, released: sending.length };
}

/** The schedule's message. Empty if the schedule has a batch. Pure: every call gives the same message. */
function releasedMessage(schedule: ScheduleDocument): readonly MessageDocument[] {
  const { account, group, content, releasedAt } = schedule;
  assert(content !== undefined && releasedAt !== undefined, 'what is being sent was claimed and has its content');
  if (content.kind !== 'message') return [];
  const { validUntil: _, validForMs: __, ...words } = content.message;
  const validUntil = endOfValidity(content.message, releasedAt);
  return [queuedMessage(account, group, { ...words, _id: scheduledMessageId(schedule), validUntil })];
}

async function releaseBatch(db: Db, { batch, group, content, releasedAt }: ScheduleDocument): Promise<void> {
  if (batch === undefined || content?.kind !== 'batch') return;
  assert(releasedAt !== undefined, 'what is being sent was claimed');
  await releaseBooked(db, batch, group, endOfValidity(content.validity, releasedAt));
}
