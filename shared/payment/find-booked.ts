import type { Db } from 'mongodb';
import { type FindOne, findNow } from '../mongo/find-one.ts';
import type { AccountId, ScheduleId } from '../runtime/ids.ts';
import type { ScheduleDocument } from '../schedules/schedule.ts';
import { readSchedule } from '../schedules/store.ts';
import { storeBooked } from '../schedules/store-booked.ts';
import { readPaid } from './read-paid.ts';

/**
 * A schedule that an account has paid for, whether stored or still only in the account's pending changes. In the latter case it
 * is stored here, because the caller may cancel it next. With `findForSure`, undefined is final once nobody
 * can pay for it any more.
 */
export async function findBooked(
  db: Db,
  account: AccountId,
  id: ScheduleId,
  find: FindOne = findNow,
): Promise<ScheduleDocument | undefined> {
  for (const { schedules } of (await readPaid(db, account, find)).values()) {
    const pending = schedules.find((schedule) => schedule._id === id);
    if (pending !== undefined) await storeBooked(db, [pending]);
  }
  return readSchedule(db, account, id, find);
}
