import type { Db } from 'mongodb';
import { readPaid } from '../../shared/payment/read-paid.ts';
import { type AccountId, isScheduleId, type ScheduleId } from '../../shared/runtime/ids.ts';
import type { ScheduleDocument } from '../../shared/schedules/schedule.ts';
import { storeBooked } from '../../shared/schedules/store-booked.ts';
import type { ReadingDeps } from '../access/costly-reads.ts';
import { sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { FieldProblems, invalidRequest } from '../http/fields.ts';
import { pageOf, parseCursor, parseLimit } from '../http/page.ts';
import { parseQuery } from '../http/query.ts';
import { scheduleRecord } from './schedule-record.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;

/**
 * GET /v2/schedules (extension): all schedules of the account, the newest booking first; or with `state=scheduled` those that
 * wait, the next to be sent first.
 */
export function createSchedules({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['state', 'limit', 'cursor'], problems);
    const upcoming = query.state === 'scheduled';
    if (query.state !== undefined && !upcoming) problems.add('state', 'invalid_value', 'It must be scheduled.');
    const limit = parseLimit(query.limit, problems);
    const account = callerOf(res).account._id;
    // The two lists have cursors of their own, because they have another order.
    const read = upcoming ? readUpcoming : readAll;
    const place = upcoming
      ? parseCursor(query.cursor, 'upcoming', isPlace, problems)
      : parseCursor(query.cursor, 'schedules', isScheduleId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      for (const { schedules } of (await readPaid(db, account)).values()) await storeBooked(db, schedules);
      const found = await read(db, account, place, limit + 1);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const next = last && (upcoming ? placeOf(last) : last._id);
      return pageOf(upcoming ? 'upcoming' : 'schedules', page.map(scheduleRecord), next);
    });
  };
}

function readAll(db: Db, account: AccountId, after: string | undefined, limit: number): Promise<ScheduleDocument[]> {
  const below = after as ScheduleId | undefined; // the cursor was checked
  return db
    .collection<ScheduleDocument>('schedules')
    .find({ account, ...(below === undefined ? {} : { _id: { $lt: below } }) })
    .sort({ _id: -1 })
    .hint('account')
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

async function readUpcoming(
  db: Db,
  account: AccountId,
  after: string | undefined,
  limit: number,
): Promise<readonly ScheduleDocument[]> {
  const find = (conditions: object, rest: number) =>
    db
      .collection<ScheduleDocument>('schedules')
      .find({ account, state: 'scheduled', ...conditions })
      .sort({ at: 1, _id: 1 })
      .hint('upcoming')
      .limit(rest)
      .batchSize(rest + 1)
      .toArray();
  if (after === undefined) return find({}, limit);
  const [atMs, id] = after.split(':');
  const at = new Date(Number(atMs));
  // Many can have the same time. First those that are left of it.
  const same = await find({ at, _id: { $gt: id } }, limit);
  return same.length === limit ? same : [...same, ...(await find({ at: { $gt: at } }, limit - same.length))];
}

type Place = `${number}:${ScheduleId}`;

function placeOf({ at, _id }: ScheduleDocument): Place {
  return `${at.getTime()}:${_id}`;
}

function isPlace(text: string): text is Place {
  const [atMs = '', id = '', ...more] = text.split(':');
  return /^\d{1,15}$/.test(atMs) && isScheduleId(id) && more.length === 0;
}
