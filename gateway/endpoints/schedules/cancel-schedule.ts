import { cancelSchedule } from '../../../shared/money/payment/cancel-schedule.ts';
import { isScheduleId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/**
 * DELETE /v2/schedule/{schedule_id} ("Cancel result"): cancels a schedule and refunds its credits before it answers.
 * A repeated request is answered with 200 and refunds nothing. Another account's schedule is answered like one that
 * does not exist.
 */
export function createCancelSchedule({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (req, res: Reply) => {
    const { schedule_id: id } = req.params;
    if (typeof id !== 'string' || !isScheduleId(id)) return sendProblem(res, 'schedule_not_found');
    res.locals.scheduleId = id;
    const cancelled = await cancelSchedule(db, clock, callerOf(res).account._id, id);
    if (cancelled.kind === 'unknown') return sendProblem(res, 'schedule_not_found');
    if (cancelled.kind === 'released') return sendProblem(res, 'schedule_released');
    const { credits, again } = cancelled;
    const refunded = credits === 1 ? '1 credit was refunded' : `${credits} credits were refunded`;
    const message = again
      ? `The schedule was cancelled before; ${refunded} then.`
      : `The schedule is cancelled; ${refunded}.`;
    sendJson(res, { status: 'success', message });
  };
}
