import type { Db } from 'mongodb';
import { type FindOne, findForSure, findNow } from '../mongo/find-one.ts';
import type { AccountId, ScheduleId } from '../runtime/ids.ts';
import type { ScheduleDocument } from '../schedules/schedule.ts';
import { readSchedule } from '../schedules/store.ts';
import { storeBooked } from '../schedules/store-booked.ts';
import { readPaid } from './read-paid.ts';

/**
 * A schedule that an account has paid for, whether stored or still only in the account's pending changes. Writes nothing: what is
 * shown may be rolled back, and the store may be read-only.
 */
export async function showBooked(db: Db, account: AccountId, id: ScheduleId): Promise<ScheduleDocument | undefined> {
  const pending = await readPending(db, account, id, findNow);
  return (await readSchedule(db, account, id)) ?? pending;
}

/**
 * The same for whoever acts on it: once nobody can pay for it any more, undefined is final. One that is only in the pending changes
 * is stored here, because the caller may cancel it next.
 */
export async function findBooked(db: Db, account: AccountId, id: ScheduleId): Promise<ScheduleDocument | undefined> {
  const pending = await readPending(db, account, id, findForSure);
  if (pending !== undefined) await storeBooked(db, [pending]);
  return readSchedule(db, account, id, findForSure);
}

async function readPending(
  db: Db,
  account: AccountId,
  id: ScheduleId,
  find: FindOne,
): Promise<ScheduleDocument | undefined> {
  const paid = [...(await readPaid(db, account, find)).values()];
  return paid.flatMap(({ schedules }) => schedules).find(({ _id }) => _id === id);
}
