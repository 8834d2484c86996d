import type { Db } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import type { AccountId, ScheduleId } from '../runtime/ids.ts';
import type { ScheduleDocument } from '../schedules/schedule.ts';
import { readSchedule } from '../schedules/store.ts';
import { storeBooked } from '../schedules/store-booked.ts';
import { paidSchedules } from './debit.ts';

/**
 * A schedule that an account has paid for: stored, or still only in the account's pending changes; then it is stored here,
 * because who is told of it may cancel it next. The account is read first: a schedule that is not pending any more then is
 * stored by now. So, when nobody can pay any more, undefined is final.
 */
export async function findBooked(db: Db, account: AccountId, id: ScheduleId): Promise<ScheduleDocument | undefined> {
  const payer = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { pending: 1 } });
  for (const change of Object.values(payer?.pending ?? {})) {
    const pending = paidSchedules(change).find((schedule) => schedule._id === id);
    if (pending !== undefined) await storeBooked(db, [pending]);
  }
  return readSchedule(db, account, id);
}
