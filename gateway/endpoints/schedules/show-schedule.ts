import { showBooked } from '../../../shared/money/payment/find-booked.ts';
import { isScheduleId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { scheduleRecord } from './schedule-record.ts';

/** GET /v2/schedule/{schedule_id} (extension). Another account's schedule is answered like one that does not exist. */
export function createScheduleState({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const { schedule_id: id } = req.params;
    if (typeof id !== 'string' || !isScheduleId(id)) return sendProblem(res, 'schedule_not_found');
    res.locals.scheduleId = id;
    const schedule = await showBooked(db, callerOf(res).account._id, id);
    if (schedule === undefined) return sendProblem(res, 'schedule_not_found');
    sendJson(res, scheduleRecord(schedule));
  };
}
