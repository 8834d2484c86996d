import { z } from 'zod';
import { promotionalHours } from '../../../shared/messages/document/routing.ts';
import {
  type Booking,
  endOfValidity,
  type ScheduleDocument,
  scheduledBatchId,
  type Validity,
} from '../../../shared/messages/schedule.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { declareOver } from '../../../shared/money/payment/debit.ts';
import { findBooked } from '../../../shared/money/payment/pending.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Gateway, type Shown } from '../../api/endpoint.ts';
import { id, success, text } from '../../api/shapes.ts';
import type { Caller, JsonObject } from '../../http/context.ts';
import { messageOrTemplate } from '../../http/fields/message-fields.ts';
import { type ReadRequest, readRequest, request, whole as wholeRequest } from '../../http/fields/request.ts';
import {
  AHEAD_MAX_MS,
  HOUR_MS,
  SCHEDULE_FIELDS,
  TIME_WITH_OFFSET,
  validAfterSchedule,
} from '../../http/fields/times.ts';
import { type Accepted, notAccepted, type Refused } from '../../http/idempotency/action.ts';
import { refusal } from '../../http/payment-refusal.ts';
import { withinRecipientLimit } from '../limits/recipients.ts';
import {
  BULK_EITHER,
  BULK_FIELDS,
  BULK_RULES,
  BulkDryRun,
  type BulkOrder,
  bulkDryRun,
  newBatch,
  orderBulk,
} from './bulk-order.ts';
import {
  DRY_RUN,
  daytimeOf,
  deferral,
  dryRun,
  MESSAGE_FIELDS,
  MESSAGE_RULES,
  type MessageOrder,
  messageDryRun,
  orderMessage,
  REFUSALS,
  SendDryRun,
} from './message-order.ts';
import { payForBatch } from './paid-batch-store.ts';
import { predicted } from './scrubbing/facts.ts';

const SCHEDULE_MESSAGE = request(
  { ...MESSAGE_FIELDS, ...SCHEDULE_FIELDS },
  [messageOrTemplate],
  [...MESSAGE_RULES, validAfterSchedule],
);
const SCHEDULE_BULK = request({ ...BULK_FIELDS, ...SCHEDULE_FIELDS }, BULK_EITHER, [...BULK_RULES, validAfterSchedule]);

export const ScheduledFor = text(undefined, {
  pattern: TIME_WITH_OFFSET,
  format: 'date-time',
  example: '2026-12-01T10:00:00+05:30',
});

const ScheduleResult = success('ScheduleResult', 'A schedule was booked.', {
  schedule_id: id('sch', 'Id of the schedule.', 'sch_01m7znjn7hdb5pft3awkb6pgvz'),
  scheduled_for: ScheduledFor.describe('`schedule_time` in its own offset.'),
});

const ScheduleDryRun = z
  .object({
    ...DRY_RUN,
    units: SendDryRun.shape.units.optional(),
    unicode_characters: SendDryRun.shape.unicode_characters.optional(),
    total: BulkDryRun.shape.total.optional(),
    duplicates: BulkDryRun.shape.duplicates,
    skipped: BulkDryRun.shape.skipped,
    scheduled_for: text(undefined, { pattern: TIME_WITH_OFFSET, format: 'date-time' }),
  })
  .meta({ id: 'ScheduleDryRun', description: 'The answer to `dry_run`.' });

const ScheduleAnswer = z.union([ScheduleResult, ScheduleDryRun]).meta({
  id: 'ScheduleAnswer',
  description: '`ScheduleResult`, or `ScheduleDryRun` to a request with `dry_run`: it alone has the member `dry_run`.',
});

/** Idempotency-Keys are remembered for a day after `schedule_time`. Refused requests are not stored or charged. */
export const schedule = endpoint({
  id: 'schedule',
  call: 'sms.schedule',
  method: 'post',
  path: '/v2/schedule',
  tag: 'SMS',
  summary: 'Send later',
  description: 'Takes every field of /v2/send or of /v2/send-bulk, and `schedule_time`. The credits are debited now.',
  scopes: ['send'],
  test: 'apart',
  forms: { ScheduleRequest: SCHEDULE_MESSAGE, ScheduleBulkRequest: SCHEDULE_BULK },
  bodyMax: 'bulk',
  answer: ScheduleAnswer,
  problems: [...REFUSALS, 'too_much_unpaid'],
  examples: {
    body: {
      plain: {
        to: '919876543210',
        message: 'Your appointment is at 5',
        sender: 'HARKRA',
        schedule_time: '2026-12-01T10:00:00+05:30',
      },
    },
  },
  newId: ({ clock }) => newId('sch', clock.now().getTime()),
  action(deps) {
    const { accepter, config, db } = deps;
    return {
      aheadMs: AHEAD_MAX_MS,
      async act({ caller, json, told }, { id, payBy }) {
        const account = caller.account._id;
        const { read, order } = await readOrder(deps, caller, json);
        if (order.kind === 'refused') return order;
        const { schedule_time: time, valid_until: validUntil, dry_run: dry } = wholeRequest(read);
        const credits = order.kind === 'bulk' ? (order.batch.credits ?? order.batch.total) : creditsOf(order.message);
        const { recipients, placeOf, lane } = order.held;
        // The validity begins at the time of sending.
        const validity = validUntil === undefined ? { validForMs: config.validityHours * HOUR_MS } : { validUntil };
        const waits = await daytimeOf(order.held, { at: time.at, validUntil: endOfValidity(validity, time.at) });
        if (waits.kind === 'refused') return waits;
        // Checked before a batch is stored, so that accounts without credits cannot fill the disk.
        if (dry || order.kind === 'bulk') {
          const about = order.kind === 'bulk' ? { ...order.batch, template: order.batch.content.dltId } : order.message;
          const facts = { missing: order.missing, at: time.at };
          const refusals = dry ? await predicted(deps, caller.account, about, facts) : {};
          const foreseen = { ...refusals, ...deferral(promotionalHours(config), lane, time.at, waits.until) };
          const shown = order.kind === 'bulk' ? bulkDryRun(order, foreseen) : messageDryRun(order.message, foreseen);
          const body: Shown<typeof ScheduleDryRun> = { ...shown, scheduled_for: time.scheduledFor };
          const verdict = await dryRun(deps, { caller, id, credits, recipients, placeOf }, body);
          if (dry || verdict.kind === 'refused') return verdict;
        }

        told.scheduleId = id;
        const booking = { _id: id, ...time };
        const outcome = await withinRecipientLimit(deps, caller.account, recipients, placeOf, () => {
          if (order.kind === 'bulk') return bookBatch(deps, caller, booking, order, validity, payBy);
          const content = { kind: 'message', message: { ...order.message, ...validity } } as const;
          return accepter.book(account, { ...booking, content }, payBy, caller.caps);
        });
        if (outcome.kind === 'refused') return outcome;
        if (outcome.kind === 'accepted') return accepted(booking);
        return notAccepted(outcome, (shown) => refusal(shown, id));
      },
      end: (account, _id, payBy) => declareOver(db, account, payBy),
      async recover(account, id) {
        const booked = await findBooked(db, account, id);
        return booked && accepted(booked);
      },
    };
  },
});

interface ScheduleOrder {
  readonly read: ReadRequest<typeof SCHEDULE_FIELDS & Pick<typeof MESSAGE_FIELDS, 'dry_run'>>;
  readonly order: MessageOrder | BulkOrder | Refused;
}

async function readOrder(deps: Gateway, caller: Caller, body: JsonObject): Promise<ScheduleOrder> {
  const { clock, config } = deps;
  const context = { account: caller.account, now: clock.now(), config };
  if (Array.isArray(body.to) || Object.hasOwn(body, 'recipients')) {
    const read = await readRequest(SCHEDULE_BULK, body, context);
    return { read, order: await orderBulk(deps, caller, read) };
  }
  const read = await readRequest(SCHEDULE_MESSAGE, body, context);
  return { read, order: await orderMessage(deps, caller, read) };
}

/** Stores the recipients before the debit, as /v2/send-bulk does. */
async function bookBatch(
  deps: Gateway,
  { account: { _id: account }, caps }: Caller,
  booking: Omit<Booking, 'content'>,
  order: BulkOrder,
  validity: Validity,
  payBy: Date | undefined,
): ReturnType<typeof payForBatch> {
  const batch = newBatch(scheduledBatchId(booking), account, order, endOfValidity(validity, booking.at));
  const { total, credits, sender, route, reference, keys } = order.batch;
  const named = { sender, route, ...defined({ credits, reference, keys }) };
  const content = { kind: 'batch', total, validity, ...named } as const;
  return payForBatch(deps, batch, order.entries, payBy, (latest) =>
    deps.accepter.book(account, { ...booking, content }, latest, caps),
  );
}

/** "Scheduled message": exactly these three fields. */
function accepted({ _id, at, scheduledFor }: Pick<ScheduleDocument, '_id' | 'at' | 'scheduledFor'>): Accepted {
  const body: Shown<typeof ScheduleResult> = { status: 'success', schedule_id: _id, scheduled_for: scheduledFor };
  return { kind: 'accepted', body, keptFrom: at };
}
