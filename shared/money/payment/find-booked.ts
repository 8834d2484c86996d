import type { Db } from 'mongodb';
import type { ScheduleDocument } from '../../messages/schedule.ts';
import { readSchedule, storeBooked, withoutStored } from '../../messages/schedule-store.ts';
import { type FindOne, findCommitted, findNow } from '../../platform/mongo/find-one.ts';
import type { AccountId, ScheduleId } from '../../platform/runtime/ids.ts';
import { readPaid } from './pending.ts';

/**
 * A schedule that an account has paid for, whether stored or still only in the account's pending changes. Writes nothing: what is
 * shown may be rolled back.
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
  const pending = await readPending(db, account, id, findCommitted);
  if (pending !== undefined) await storeBooked(db, [pending]);
  return readSchedule(db, account, id, findCommitted);
}

async function readPending(
  db: Db,
  account: AccountId,
  id: ScheduleId,
  find: FindOne,
): Promise<ScheduleDocument | undefined> {
  return (await readAllPending(db, account, find)).find(({ _id }) => _id === id);
}

async function readAllPending(db: Db, account: AccountId, find: FindOne): Promise<readonly ScheduleDocument[]> {
  const paid = [...(await readPaid(db, account, find)).values()];
  return paid.flatMap(({ schedules }) => schedules);
}

/**
 * Every schedule that an account has paid for and that is not stored yet. Writes nothing. Read this before what is stored: one that
 * is stored meanwhile is in both then. The other way round it would be in none.
 */
export async function showUnstored(db: Db, account: AccountId): Promise<readonly ScheduleDocument[]> {
  return withoutStored(db, account, await readAllPending(db, account, findNow));
}
