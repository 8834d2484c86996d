import type { Db } from 'mongodb';
import { removeUnreleased } from '../../messages/batch.ts';
import { markCancelled, markRefunded, REDO_MS, readSchedule, type ScheduleDocument } from '../../messages/schedule.ts';
import { findCommitted } from '../../platform/mongo/find-one.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { AccountId, ScheduleId } from '../../platform/runtime/ids.ts';
import { applyCredits, type Credit } from '../ledger/change.ts';
import { findBooked } from './pending.ts';

export type Cancelled =
  /** The schedule never becomes a message, and its credits are refunded. `again`: an earlier call had decided it. */
  | { readonly kind: 'cancelled'; readonly credits: number; readonly again: boolean }
  /** Its release was decided before the cancel. */
  | { readonly kind: 'released' }
  | { readonly kind: 'unknown' };

/**
 * One atomic update decides between cancel and release. The refund follows, once, by the schedule's id, and only when
 * the cancel cannot be rolled back. May be repeated after an error; the schedules worker finishes a refund that is left
 * over.
 */
export async function cancelSchedule(db: Db, clock: Clock, account: AccountId, id: ScheduleId): Promise<Cancelled> {
  const redoAt = new Date(clock.now().getTime() + REDO_MS);
  let decided = await markCancelled(db, account, id, redoAt);
  let schedule = decided ?? (await findBooked(db, account, id));
  if (decided === undefined && schedule?.state === 'scheduled') {
    // Paid for but not stored yet: its gateway died, or told the caller that the outcome was unknown.
    decided = await markCancelled(db, account, id, redoAt);
    schedule = decided ?? (await readSchedule(db, account, id, findCommitted));
  }
  if (decided !== undefined) crashPoint('cancel:decided');
  if (schedule === undefined) return { kind: 'unknown' };
  if (schedule.state !== 'cancelled') return { kind: 'released' };
  // Still due: the process that decided it may have died before the refund.
  if (schedule.due !== undefined) await refundCancelled(db, [schedule]);
  return { kind: 'cancelled', credits: schedule.credits, again: decided === undefined };
}

/** Refunds the credits, once per schedule id, and removes a batch. May be repeated after a crash. */
export async function refundCancelled(db: Db, schedules: readonly ScheduleDocument[]): Promise<void> {
  const byAccount = new Map<AccountId, ScheduleDocument[]>();
  for (const schedule of schedules)
    byAccount.set(schedule.account, [...(byAccount.get(schedule.account) ?? []), schedule]);
  for (const [account, own] of byAccount) {
    const credits = own.map(({ _id, credits: amount, group, content }): Credit => {
      const keys = content?.kind === 'message' ? content.message.keys : content?.keys;
      return { id: `ref_${_id}`, amount, reason: 'refund', reference: _id, paid: { by: group, keys } };
    });
    await applyCredits(db, account, credits);
    for (const { batch } of own) if (batch !== undefined) await removeUnreleased(db, batch);
    await markRefunded(
      db,
      own.map(({ _id }) => _id),
    );
  }
}
