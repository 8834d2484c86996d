import type { CallbackValue } from './callbacks.ts';
import type { StatusPlan } from './magic-customers.ts';
import type { TakenSend } from './options.ts';
import { USER_ID, waIdOf } from './wa-id.ts';

export const SESSION_MS = 24 * 3_600_000;

/** The callback value that tells the app a message's status. */
export function statusValue(message: TakenSend, { status, error }: StatusPlan): CallbackValue {
  return {
    statuses: [
      {
        id: message.id,
        status,
        timestamp: unixSeconds(),
        ...(USER_ID.test(message.to) ? { recipient_user_id: message.to } : { recipient_id: waIdOf(message.to) }),
        ...(message.opaque === undefined ? {} : { biz_opaque_callback_data: message.opaque }),
        ...(status === 'sent' ? billing(message.to) : {}),
        ...(error === undefined
          ? {}
          : {
              errors: [
                { code: error.code, title: error.title, message: error.title, error_data: { details: error.details } },
              ],
            }),
      },
    ],
  };
}

function billing(to: string): object {
  return {
    conversation: {
      id: `conversation-of-${to}`,
      expiration_timestamp: String(Math.floor((Date.now() + SESSION_MS) / 1000)),
      origin: { type: 'utility' },
    },
    pricing: { billable: true, pricing_model: 'PMP', category: 'utility' },
  };
}

export function unixSeconds(): string {
  return String(Math.floor(Date.now() / 1000));
}
