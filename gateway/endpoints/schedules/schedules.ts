import type { Db } from 'mongodb';
import { z } from 'zod';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import { type ScheduleDocument, scheduledMessageId } from '../../../shared/messages/schedule.ts';
import { cancelSchedule as cancel } from '../../../shared/money/payment/cancel-schedule.ts';
import { showBooked, showUnstored } from '../../../shared/money/payment/pending.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime, isScheduleId, type ScheduleId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { flag, id, named, success, text, time, whole } from '../../api/shapes.ts';
import { Fault, optional, string } from '../../http/fields/field.ts';
import { cursorOf, limit, mergePage, pageOfFound, readsPer } from '../../http/fields/query.ts';
import type { Rule } from '../../http/fields/request.ts';
import { MessageId } from '../messages/shapes.ts';
import { ScheduledFor } from '../sms/schedule.ts';

const ScheduleIdShape = id('sch', 'Id of the schedule.', 'sch_01m7znjn7hdb5pft3awkb6pgvz');
const IN_PATH = { schedule_id: ScheduleIdShape.describe('Id of a schedule.') };

const WHILE_SHOWN = 'While it waits and when it was cancelled.';

const Schedule = named('Schedule', {
  schedule_id: ScheduleIdShape,
  state: z.enum(['scheduled', 'sending', 'sent', 'cancelled']).meta({ example: 'sent' }),
  scheduled_for: ScheduledFor,
  created_at: time(undefined, '2026-11-21T10:00:00+00:00'),
  credits: whole('Credits that were debited; a cancel refunds them.', { minimum: 0, example: 1 }),
  kind: z.enum(['message', 'batch']).meta({ description: 'What it becomes.' }),
  to: text('Recipient of a message, while it waits and when it was cancelled.', {
    pattern: '^[1-9][0-9]{7,14}$',
  }).optional(),
  sender: text(WHILE_SHOWN).optional(),
  route: z.enum(ROUTES).meta({ description: WHILE_SHOWN }).optional(),
  reference: text(WHILE_SHOWN).optional(),
  total: whole('Recipients of a batch, while it waits and when it was cancelled.', { minimum: 1 }).optional(),
  message_id: MessageId.optional(),
  batch_id: id('bat', 'Id of the batch.').optional(),
});

type Place = Pick<ScheduleDocument, 'at' | '_id'>;

interface List {
  order(a: Place, b: Place): number;
  /** Reads only stored schedules. Those just paid for are merged in. */
  read(db: Db, account: AccountId, after: Place | undefined, limit: number): Promise<ScheduleDocument[]>;
}

const LISTS: Readonly<Record<'all' | 'scheduled', List>> = {
  all: { order: (a, b) => (a._id < b._id ? 1 : -1), read: readAll },
  scheduled: {
    order: (a, b) => a.at.getTime() - b.at.getTime() || (a._id > b._id ? 1 : -1),
    read: readUpcoming,
  },
};

const QUERY = {
  state: optional(
    string<'scheduled'>({ description: 'Only what waits for its time.', enum: ['scheduled'] }, (text) =>
      text === 'scheduled'
        ? text
        : new Fault('invalid_value', 'The only value is `scheduled`. Leave it out for all schedules.'),
    ),
  ),
  limit,
  cursor: cursorOf('schedules', isPlace),
};

const cursorOfThisList: Rule<typeof QUERY> = ({ state = 'all', cursor }, _has, problems) => {
  if (cursor === undefined || cursor.startsWith(`${state}:`)) return;
  problems.add('cursor', 'invalid_value', 'It must be the `next_cursor` of an earlier page of this list.');
};

export const schedules = endpoint({
  id: 'schedules',
  call: 'schedules.list',
  method: 'get',
  path: '/v2/schedules',
  tag: 'Reading back',
  summary: 'Schedules of the account',
  description:
    'Extension. All schedules, the newest booking first; with `state=scheduled` those that wait, the next to be sent first. A page counts as one request for each 100 of `limit`.',
  scopes: ['read'],
  test: 'apart',
  query: QUERY,
  queryRules: [cursorOfThisList],
  reads: readsPer(100),
  answer: named('SchedulePage', 'Schedules.', {
    data: z.array(Schedule).meta({
      example: [
        {
          schedule_id: 'sch_01m7znjn7hdb5pft3awkb6pgvz',
          state: 'scheduled',
          scheduled_for: '2026-11-22T10:00:00+05:30',
          created_at: '2026-11-21T10:00:00+00:00',
          credits: 1,
          kind: 'message',
          to: '919876543210',
          sender: 'HARKRA',
          route: 'transactional',
        },
      ],
    }),
    next_cursor: text('Send it as `cursor` to get the next page; null at the end.').nullable(),
    has_more: flag('Whether there may be more.'),
  }),
  async handle({ db }, { caller, query: { state, limit, cursor } }) {
    const account = caller.account._id;
    const list = state ?? 'all';
    const { order, read } = LISTS[list];
    const after = placeOf(cursor);
    const unstored = await showUnstored(db, account);
    const stored = await read(db, account, after, limit + 1);
    const behind = unstored.filter((one) => after === undefined || order(one, after) > 0);
    const found = mergePage(stored, behind, order, limit + 1);
    return pageOfFound('schedules', found, limit, scheduleRecord, (last) => placeText(list, last));
  },
});

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

type PlaceText = `${keyof typeof LISTS}:${number}:${ScheduleId}`;

function placeText(list: keyof typeof LISTS, { at, _id }: Place): PlaceText {
  return `${list}:${at.getTime()}:${_id}`;
}

function placeOf(text: PlaceText | undefined): Place | undefined {
  if (text === undefined) return undefined;
  const [, atMs, id] = text.split(':');
  return { at: new Date(Number(atMs)), _id: id as ScheduleId }; // the text was checked
}

function isPlace(text: string): text is PlaceText {
  const [list = '', atMs = '', id = '', ...more] = text.split(':');
  return Object.hasOwn(LISTS, list) && /^\d{1,15}$/.test(atMs) && isScheduleId(id) && more.length === 0;
}

export const scheduleState = endpoint({
  id: 'scheduleState',
  call: 'schedules.get',
  method: 'get',
  path: '/v2/schedule/{schedule_id}',
  tag: 'Reading back',
  summary: 'A schedule',
  description: 'Extension.',
  scopes: ['read'],
  test: 'apart',
  params: IN_PATH,
  answer: Schedule,
  problems: ['schedule_not_found'],
  async handle({ db }, { caller, params, told }) {
    const id = params.schedule_id;
    if (!isScheduleId(id)) return refused('schedule_not_found');
    told.scheduleId = id;
    const found = await showBooked(db, caller.account._id, id);
    return found === undefined ? refused('schedule_not_found') : scheduleRecord(found);
  },
});

export const cancelSchedule = endpoint({
  id: 'cancelSchedule',
  call: 'schedules.cancel',
  method: 'delete',
  path: '/v2/schedule/{schedule_id}',
  tag: 'SMS',
  summary: 'Cancel a schedule',
  description: 'The credits are refunded before the answer. A second request has the same answer and refunds nothing.',
  scopes: ['send'],
  test: 'apart',
  params: IN_PATH,
  answer: success('CancelResult', {
    message: text(undefined, { example: 'The schedule is cancelled; 1 credit was refunded.' }),
  }),
  problems: ['schedule_not_found', 'schedule_released'],
  async handle({ db, clock }, { caller, params, told }) {
    const id = params.schedule_id;
    if (!isScheduleId(id)) return refused('schedule_not_found');
    told.scheduleId = id;
    const cancelled = await cancel(db, clock, caller.account._id, id);
    if (cancelled.kind === 'unknown') return refused('schedule_not_found');
    if (cancelled.kind === 'released') return refused('schedule_released');
    const { credits, again } = cancelled;
    const refunded = credits === 1 ? '1 credit was refunded' : `${credits} credits were refunded`;
    const message = again
      ? `The schedule was cancelled before; ${refunded} then.`
      : `The schedule is cancelled; ${refunded}.`;
    return done({ message });
  },
});

/** Has its content while it waits and when it was cancelled. Once sent, its message or batch has it. */
function scheduleRecord(schedule: ScheduleDocument): Shown<typeof Schedule> {
  const { _id, state, scheduledFor, credits } = schedule;
  return {
    schedule_id: _id,
    state,
    scheduled_for: scheduledFor,
    created_at: isoTimestamp(idTime(_id)),
    credits,
    kind: schedule.batch === undefined ? 'message' : 'batch',
    ...contentOf(schedule),
    ...(state === 'sent' ? sentAs(schedule) : {}),
  };
}

function contentOf({ content }: ScheduleDocument) {
  if (content === undefined) return {};
  const { sender, route, reference } = content.kind === 'batch' ? content : content.message;
  const whom = content.kind === 'batch' ? { total: content.total } : { to: content.message.to };
  return { ...whom, sender, route, reference };
}

/** The id is shown once the message is stored, because the customer may ask for its status next. */
function sentAs(schedule: ScheduleDocument) {
  return schedule.batch === undefined ? { message_id: scheduledMessageId(schedule) } : { batch_id: schedule.batch };
}
