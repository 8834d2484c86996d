import { type ScheduleDocument, scheduledMessageId } from '../../../shared/messages/schedule.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime } from '../../../shared/platform/runtime/ids.ts';

/**
 * A schedule as the API shows it. Its content is shown while it waits and when it was cancelled. Once it is sent, its message or
 * batch shows it.
 */
export function scheduleRecord(schedule: ScheduleDocument): object {
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

function contentOf({ content }: ScheduleDocument): object {
  if (content === undefined) return {};
  const { sender, route, reference } = content.kind === 'batch' ? content : content.message;
  const whom = content.kind === 'batch' ? { total: content.total } : { to: content.message.to };
  return { ...whom, sender, route, reference };
}

/** Shows the id only after the message is stored, because the customer may ask for its status next. */
function sentAs(schedule: ScheduleDocument): object {
  return schedule.batch === undefined ? { message_id: scheduledMessageId(schedule) } : { batch_id: schedule.batch };
}
