import type { MessageDraft } from '../../shared/messages/draft.ts';
import { newId } from '../../shared/runtime/ids.ts';
import type { Booking } from '../../shared/schedules/schedule.ts';

const HOURS_48_MS = 48 * 3_600_000;

/** A message that is booked for `at`. */
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
