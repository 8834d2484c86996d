import type { Db } from 'mongodb';
import { markBooked } from './batch-store.ts';
import type { ScheduleDocument } from './schedule.ts';
import { insertSchedules } from './schedule-store.ts';

/**
 * Follow-up of the debit that paid for schedules: they are stored, and the batches of bulk ones become booked. Repeating it
 * changes nothing, also long afterwards.
 */
export async function storeBooked(db: Db, schedules: readonly ScheduleDocument[]): Promise<void> {
  await insertSchedules(db, schedules);
  await markBooked(
    db,
    schedules.flatMap(({ batch }) => batch ?? []),
  );
}
