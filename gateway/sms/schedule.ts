import assert from 'node:assert/strict';
import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import { findBooked } from '../../shared/payment/find-booked.ts';
import { type AccountId, newId, type ScheduleId } from '../../shared/runtime/ids.ts';
import {
  type Booking,
  endOfValidity,
  type ScheduleDocument,
  scheduledBatchId,
  type Validity,
} from '../../shared/schedules/schedule.ts';
import { HOUR_MS, parseGivenValidUntil, parseScheduleTime } from '../fields/message-fields.ts';
import type { ScheduleTime } from '../fields/schedule-time.ts';
import { bodyOf, callerOf, type JsonObject } from '../http/context.ts';
import { FieldProblems, refuseUnknown } from '../http/fields.ts';
import { refusal } from '../http/payment-refusal.ts';
import type { Accepted, Action } from '../idempotency/once.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { ApprovedTemplates } from '../templates/approved-templates.ts';
import { BULK_FIELDS, type BulkOrder, bulkRehearsal, createReadBulkOrder, newBatch } from './bulk-order.ts';
import { createReadMessageOrder, MESSAGE_FIELDS, messageRehearsal } from './message-order.ts';
import { payForBatch } from './pay-for-batch.ts';
import { rehearse } from './rehearse.ts';

/**
 * POST /v2/schedule: what /v2/send takes (or, when `to` is an array, what /v2/send-bulk takes), paid for now and sent at
 * `schedule_time`. What is refused is neither stored nor charged. The Idempotency-Key is remembered for a day after its time.
 */
export function createSchedule(deps: GatewayDeps & { readonly templates: ApprovedTemplates }): Action<ScheduleId> {
  const { booker, clock, config, db } = deps;
  const readMessage = createReadMessageOrder(deps);
  const readBulk = createReadBulkOrder(deps);

  return {
    name: 'schedule',
    newId: () => newId('sch', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const [caller, body] = [callerOf(res), bodyOf(res)];
      const problems = new FieldProblems();
      const time = parseScheduleTime(body, clock.now(), problems);
      const validity = parseValidity(body, time, problems);
      const bulk = isBulk(body);
      refuseUnknown(body, [...(bulk ? BULK_FIELDS : MESSAGE_FIELDS), 'schedule_time'], problems);
      const order = await (bulk ? readBulk(caller.account, body, problems) : readMessage(caller, body, problems));
      if (order.kind === 'refused') return order;
      const account = caller.account._id;
      const credits = (order.kind === 'bulk' ? order.batch.total : 1) * CREDITS_PER_MESSAGE;
      // Asked before a batch is stored: who has no credits shall not fill the disk.
      if (order.dryRun || order.kind === 'bulk') {
        const body = order.kind === 'bulk' ? bulkRehearsal(order) : messageRehearsal(order.message);
        const rehearsal = await rehearse(deps, { account, id, credits }, body);
        if (order.dryRun || rehearsal.kind === 'refused') return rehearsal;
      }

      assert(time !== undefined, 'a field is missing without a problem');
      res.locals.scheduleId = id;
      const booking = { _id: id, ...time };
      const outcome =
        order.kind === 'bulk'
          ? await bookBatch(account, booking, order, validity, payBy)
          : await booker.book(
              account,
              { ...booking, content: { kind: 'message', message: { ...order.message, ...validity } } },
              payBy,
            );
      if (outcome.kind === 'accepted') return accepted(booking);
      return { kind: outcome.kind === 'outcome_unknown' ? 'unknown' : 'refused', problem: refusal(outcome, id) };
    },
    async recover(account, id) {
      const schedule = await findBooked(db, account, id);
      return schedule === undefined ? undefined : accepted(schedule);
    },
  };

  /** The recipients are stored before the debit, as those of a batch that is sent now. */
  async function bookBatch(
    account: AccountId,
    booking: Omit<Booking, 'content'>,
    order: BulkOrder,
    validity: Validity,
    payBy: Date | undefined,
  ): ReturnType<typeof payForBatch> {
    const batch = newBatch(scheduledBatchId(booking), account, order, endOfValidity(validity, booking.at));
    const content = { kind: 'batch', total: order.batch.total, validity } as const;
    return payForBatch(deps, batch, order.entries, payBy, (latest) =>
      booker.book(account, { ...booking, content }, latest),
    );
  }

  /** Counts from the time it is sent at. */
  function parseValidity(body: JsonObject, time: ScheduleTime | undefined, problems: FieldProblems): Validity {
    const from = time && { at: time.at, name: '`schedule_time`' };
    const validUntil = parseGivenValidUntil(body, from, problems);
    return validUntil === undefined ? { validForMs: config.validityHours * HOUR_MS } : { validUntil };
  }
}

function isBulk(body: JsonObject): boolean {
  return Array.isArray(body.to) || Object.hasOwn(body, 'recipients');
}

/** "Scheduled message", exactly the three fields of its result. */
function accepted({ _id, at, scheduledFor }: Pick<ScheduleDocument, '_id' | 'at' | 'scheduledFor'>): Accepted {
  return {
    kind: 'accepted',
    body: { status: 'success', schedule_id: _id, scheduled_for: scheduledFor },
    keptFrom: at,
  };
}
