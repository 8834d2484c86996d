import type { Db } from 'mongodb';
import type { ScheduleDocument } from '../../../shared/messages/schedule.ts';
import { showUnstored } from '../../../shared/money/payment/find-booked.ts';
import { type AccountId, isScheduleId, type ScheduleId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { mergePage, pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { scheduleRecord } from './schedule-record.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;

/** Where a schedule stands in both lists. */
type Place = Pick<ScheduleDocument, 'at' | '_id'>;

/** Each of the two lists has its own order, so a cursor of one is refused by the other. */
interface List {
  readonly name: string;
  order(a: Place, b: Place): number;
  /** Reads only stored schedules. Those just paid for and not stored yet are merged in. */
  read(db: Db, account: AccountId, after: Place | undefined, limit: number): Promise<ScheduleDocument[]>;
}

const ALL: List = { name: 'schedules', order: (a, b) => (a._id < b._id ? 1 : -1), read: readAll };
const UPCOMING: List = {
  name: 'upcoming',
  order: (a, b) => a.at.getTime() - b.at.getTime() || (a._id > b._id ? 1 : -1),
  read: readUpcoming,
};

/**
 * GET /v2/schedules (extension): all schedules of the account, the newest booking first; or with `state=scheduled` those that
 * wait, the next to be sent first.
 */
export function createSchedules({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['state', 'limit', 'cursor'], problems);
    const upcoming = query.state === 'scheduled';
    if (query.state !== undefined && !upcoming)
      problems.add('state', 'invalid_value', 'The only value is `scheduled`. Leave it out for all schedules.');
    const limit = parseLimit(query.limit, problems);
    const account = callerOf(res).account._id;
    const list = upcoming ? UPCOMING : ALL;
    const after = placeOf(parseCursor(query.cursor, list.name, isPlace, problems));
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const unstored = await showUnstored(db, account);
      const stored = await list.read(db, account, after, limit + 1);
      const behind = unstored.filter((one) => after === undefined || list.order(one, after) > 0);
      const found = mergePage(stored, behind, list.order, limit + 1);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return pageOf(list.name, page.map(scheduleRecord), last && placeText(last));
    });
  };
}

function readAll(db: Db, account: AccountId, after: Place | undefined, limit: number): Promise<ScheduleDocument[]> {
  return db
    .collection<ScheduleDocument>('schedules')
    .find({ account, ...(after === undefined ? {} : { _id: { $lt: after._id } }) })
    .sort({ _id: -1 })
    .hint('account')
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

async function readUpcoming(
  db: Db,
  account: AccountId,
  after: Place | undefined,
  limit: number,
): Promise<ScheduleDocument[]> {
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
  const { at, _id } = after;
  // Many can have the same time: first the rest of those with the time of `after`, then later ones.
  const same = await find({ at, _id: { $gt: _id } }, limit);
  return same.length === limit ? same : [...same, ...(await find({ at: { $gt: at } }, limit - same.length))];
}

type PlaceText = `${number}:${ScheduleId}`;

function placeText({ at, _id }: Place): PlaceText {
  return `${at.getTime()}:${_id}`;
}

function placeOf(text: PlaceText | undefined): Place | undefined {
  if (text === undefined) return undefined;
  const [atMs, id] = text.split(':');
  return { at: new Date(Number(atMs)), _id: id as ScheduleId }; // the text was checked
}

function isPlace(text: string): text is PlaceText {
  const [atMs = '', id = '', ...more] = text.split(':');
  return /^\d{1,15}$/.test(atMs) && isScheduleId(id) && more.length === 0;
}
