import { findBooked } from '../../shared/payment/find-booked.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { idTime, isScheduleId } from '../../shared/runtime/ids.ts';
import { type ScheduleDocument, scheduledMessageId } from '../../shared/schedules/schedule.ts';
import { sendJson, sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import type { GatewayDeps } from '../process/deps.ts';

/** GET /v2/schedule/{schedule_id} (extension). Another account's schedule is answered like one that does not exist. */
export function createScheduleState({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const { schedule_id: id } = req.params;
    if (typeof id !== 'string' || !isScheduleId(id)) return sendProblem(res, 'schedule_not_found');
    res.locals.scheduleId = id;
    const schedule = await findBooked(db, callerOf(res).account._id, id);
    if (schedule === undefined) return sendProblem(res, 'schedule_not_found');
    sendJson(res, 200, scheduleRecord(schedule));
  };
}

function scheduleRecord(schedule: ScheduleDocument): object {
  const { _id, state, scheduledFor } = schedule;
  return {
    schedule_id: _id,
    state,
    scheduled_for: scheduledFor,
    created_at: isoTimestamp(idTime(_id)),
    ...(state === 'sent' ? sentAs(schedule) : {}),
  };
}

/** Shows the id only after the message is stored, because the customer may ask for its status next. */
function sentAs(schedule: ScheduleDocument): object {
  return schedule.batch === undefined ? { message_id: scheduledMessageId(schedule) } : { batch_id: schedule.batch };
}
