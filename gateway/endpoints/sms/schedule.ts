import {
  type Booking,
  endOfValidity,
  type ScheduleDocument,
  scheduledBatchId,
  type Validity,
} from '../../../shared/messages/schedule.ts';
import { CREDITS_PER_MESSAGE } from '../../../shared/money/ledger/refund.ts';
import { findBooked } from '../../../shared/money/payment/find-booked.ts';
import { declareOver } from '../../../shared/money/payment/pay-by.ts';
import { type AccountId, newId, type ScheduleId } from '../../../shared/platform/runtime/ids.ts';
import { bodyOf, type Caller, callerOf, type JsonObject } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { messageOrTemplate } from '../../http/fields/message-fields.ts';
import { type ReadRequest, readRequest, request, whole } from '../../http/fields/request.ts';
import { AHEAD_MAX_MS, HOUR_MS, SCHEDULE_FIELDS, validAfterSchedule } from '../../http/fields/times.ts';
import type { Accepted, Action, Refused } from '../../http/idempotency/action.ts';
import { notAccepted } from '../../http/idempotency/not-accepted.ts';
import { refusal } from '../../http/payment-refusal.ts';
import { BULK_EITHER, BULK_FIELDS, BULK_RULES, type BulkOrder, bulkDryRun, newBatch, orderBulk } from './bulk-order.ts';
import { dryRun } from './dry-run.ts';
import { MESSAGE_FIELDS, MESSAGE_RULES, type MessageOrder, messageDryRun, orderMessage } from './message-order.ts';
import { payForBatch } from './pay-for-batch.ts';
import type { Sending } from './sending.ts';

export const SCHEDULE_MESSAGE = request(
  { ...MESSAGE_FIELDS, ...SCHEDULE_FIELDS },
  [messageOrTemplate],
  [...MESSAGE_RULES, validAfterSchedule],
);
export const SCHEDULE_BULK = request({ ...BULK_FIELDS, ...SCHEDULE_FIELDS }, BULK_EITHER, [
  ...BULK_RULES,
  validAfterSchedule,
]);

/**
 * POST /v2/schedule: takes the fields of /v2/send (or, if `to` is an array, those of /v2/send-bulk). Debits the
 * credits now and sends at `schedule_time`. A refused request is neither stored nor charged. Its Idempotency-Key is
 * remembered for a day after `schedule_time`.
 */
export function createSchedule(deps: GatewayDeps & Sending): Action<ScheduleId> {
  const { booker, clock, config, db } = deps;

  return {
    name: 'schedule',
    aheadMs: AHEAD_MAX_MS,
    newId: () => newId('sch', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const account = caller.account._id;
      const { read, order } = await readOrder(caller, bodyOf(res));
      if (order.kind === 'refused') return order;
      const { schedule_time: time, valid_until: validUntil, dry_run: dry } = whole(read);
      const credits = (order.kind === 'bulk' ? order.batch.total : 1) * CREDITS_PER_MESSAGE;
      // Checked before a batch is stored, so that accounts without credits cannot fill the disk.
      if (dry || order.kind === 'bulk') {
        const body = order.kind === 'bulk' ? bulkDryRun(order) : messageDryRun(order.message);
        const verdict = await dryRun(deps, { account, id, credits }, { ...body, scheduled_for: time.scheduledFor });
        if (dry || verdict.kind === 'refused') return verdict;
      }

      res.locals.scheduleId = id;
      const booking = { _id: id, ...time };
      // The validity begins at the time of sending.
      const validity = validUntil === undefined ? { validForMs: config.validityHours * HOUR_MS } : { validUntil };
      const outcome =
        order.kind === 'bulk'
          ? await bookBatch(account, booking, order, validity, payBy)
          : await booker.book(
              account,
              { ...booking, content: { kind: 'message', message: { ...order.message, ...validity } } },
              payBy,
            );
      if (outcome.kind === 'accepted') return accepted(booking);
      return notAccepted(outcome, (shown) => refusal(shown, id));
    },
    end: (account, _id, payBy) => declareOver(db, account, payBy),
    async recover(account, id) {
      const schedule = await findBooked(db, account, id);
      return schedule === undefined ? undefined : accepted(schedule);
    },
  };

  async function readOrder(caller: Caller, body: JsonObject): Promise<ScheduleOrder> {
    const context = { account: caller.account, now: clock.now(), config };
    if (isBulk(body)) {
      const read = await readRequest(SCHEDULE_BULK, body, context);
      return { read, order: await orderBulk(deps, caller, read) };
    }
    const read = await readRequest(SCHEDULE_MESSAGE, body, context);
    return { read, order: await orderMessage(deps, caller, read) };
  }

  /** Stores the recipients before the debit, as /v2/send-bulk does. */
  async function bookBatch(
    account: AccountId,
    booking: Omit<Booking, 'content'>,
    order: BulkOrder,
    validity: Validity,
    payBy: Date | undefined,
  ): ReturnType<typeof payForBatch> {
    const batch = newBatch(scheduledBatchId(booking), account, order, endOfValidity(validity, booking.at));
    const { total, sender, route, reference } = order.batch;
    const named = { sender, route, ...(reference === undefined ? {} : { reference }) };
    const content = { kind: 'batch', total, validity, ...named } as const;
    return payForBatch(deps, batch, order.entries, payBy, (latest) =>
      booker.book(account, { ...booking, content }, latest),
    );
  }
}

interface ScheduleOrder {
  readonly read: ReadRequest<typeof SCHEDULE_FIELDS & Pick<typeof MESSAGE_FIELDS, 'dry_run'>>;
  readonly order: MessageOrder | BulkOrder | Refused;
}

function isBulk(body: JsonObject): boolean {
  return Array.isArray(body.to) || Object.hasOwn(body, 'recipients');
}

/** "Scheduled message": exactly these three fields. */
function accepted({ _id, at, scheduledFor }: Pick<ScheduleDocument, '_id' | 'at' | 'scheduledFor'>): Accepted {
  return {
    kind: 'accepted',
    body: { status: 'success', schedule_id: _id, scheduled_for: scheduledFor },
    keptFrom: at,
  };
}
