import type { Db } from 'mongodb';
import type { MessageDraft } from '../../shared/messages/document/message.ts';
import { type Booking, bookedSchedule } from '../../shared/messages/schedule.ts';
import { debitEach } from '../../shared/money/payment/debit.ts';
import { isoDate } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId, type ScheduleId } from '../../shared/platform/runtime/ids.ts';

const HOURS_48_MS = 48 * 3_600_000;

export function makeBooking(
  at: Date,
  { validUntil, ...words }: Partial<Omit<MessageDraft, '_id' | 'batch'>> = {},
): Booking {
  const validity = validUntil === undefined ? { validForMs: HOURS_48_MS } : { validUntil };
  return {
    _id: newId('sch'),
    at,
    scheduledFor: `${at.toISOString().slice(0, 19)}+00:00`,
    content: {
      kind: 'message',
      message: {
        to: '919876543210',
        sender: 'HARKRA',
        route: 'transactional',
        path: 'transactional',
        lane: 1,
        text: 'hello',
        encoding: 'GSM7',
        segments: 1,
        ...words,
        ...validity,
      },
    },
  };
}

/** As a gateway leaves it that dies right after the debit: paid for, not stored. */
export async function paySchedule(db: Db, account: AccountId, at: Date): Promise<ScheduleId> {
  const group = newId('grp');
  const schedule = bookedSchedule(account, group, makeBooking(at));
  await debitEach(db, [{ account, group, messages: [], schedules: [schedule], today: isoDate(new Date()), done: [] }]);
  return schedule._id;
}
