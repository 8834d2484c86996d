import type { CallbackValue } from './callbacks.ts';
import { object } from './json.ts';
import type { StatusPlan } from './magic-customers.ts';
import type { TakenSend } from './options.ts';
import type { Template } from './templates.ts';
import { USER_ID, waIdOf } from './wa-id.ts';

export const SESSION_MS = 24 * 3_600_000;

/** The callback value that tells the app a message's status. The price is named with `sent` and with `delivered`. */
export function statusValue(message: TakenSend, { status, error }: StatusPlan, category: string): CallbackValue {
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category };
  return {
    statuses: [
      {
        id: message.id,
        status,
        timestamp: unixSeconds(),
        ...(USER_ID.test(message.to) ? { recipient_user_id: message.to } : { recipient_id: waIdOf(message.to) }),
        ...(message.opaque === undefined ? {} : { biz_opaque_callback_data: message.opaque }),
        ...(status === 'sent' || status === 'delivered' ? { pricing } : {}),
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

/** What a message is billed as: the category of its template in small letters, or `service`. */
export function pricingCategory({ body }: TakenSend, templates: readonly Template[]): string {
  const name = object(body.template)?.name;
  return templates.find((template) => template.name === name)?.category.toLowerCase() ?? 'service';
}

export function unixSeconds(): string {
  return String(Math.floor(Date.now() / 1000));
}
