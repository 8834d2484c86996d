import type { CallbackValue } from './callbacks.ts';
import { object } from './json.ts';
import type { StatusPlan } from './magic-customers.ts';
import type { TakenSend } from './options.ts';
import { contactOf, type Person } from './persons.ts';
import type { Template } from './templates.ts';
import { USER_ID } from './wa-id.ts';

export const SESSION_MS = 24 * 3_600_000;

/** The callback value that tells the app a message's status. The price is named with `sent` and with `delivered`. */
export function statusValue(
  message: TakenSend,
  person: Person,
  { status, error }: StatusPlan,
  category: string,
): CallbackValue {
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category };
  const { number, hidden, userId, parentId, username } = person;
  // Of a failure none ("Business-scoped user IDs").
  const tells = username !== undefined && (status === 'delivered' || status === 'read');
  return {
    ...(tells && { contacts: [contactOf(person)] }),
    statuses: [
      {
        id: message.id,
        status,
        timestamp: unixSeconds(),
        ...(number !== undefined && (!hidden || !USER_ID.test(message.to)) && { recipient_id: number }),
        ...(userId !== undefined && { recipient_user_id: userId }),
        ...(parentId !== undefined && { recipient_parent_user_id: parentId }),
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
