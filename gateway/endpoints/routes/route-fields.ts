import type { Db } from 'mongodb';
import { DEFAULT_WAIT_SECONDS, type RouteDocument, SENDER_KINDS } from '../../../shared/carriers/routing/route.ts';
import { routeFaults } from '../../../shared/carriers/routing/route-form.ts';
import { PRIORITIES, ROUTES } from '../../../shared/messages/document/routing.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, list, number, object, optional, required, withDefault } from '../../http/fields/field.ts';
import { accountId, matching } from '../../http/fields/operator-fields.ts';
import { request } from '../../http/fields/request.ts';

const several = { description: 'One of these is enough.', minItems: 1, maxItems: 1_000 };
const CARRIER = matching('A carrier.', /^[a-z0-9-]{1,32}$/, '1 to 32 of a-z, 0-9 and -');
const PRICE = matching('Like `0.12 INR`. For reports only.', /^[0-9.]{1,12}( [A-Z]{3})?$/, 'like 0.12 INR');

/** Everything of a route but its name. A PUT replaces it whole. */
export const PUT_ROUTE = request({
  groups: required(
    list(
      list(
        object({
          carrier: required(CARRIER),
          weight: withDefault(
            number({ description: "Its part of the group's recipients.", minimum: 0, maximum: 1_000 }),
            1,
          ),
        }),
        { description: 'Carriers that share the recipients by their weights.', minItems: 1, maxItems: 6 },
      ),
      { description: 'Who takes them, in order. Empty: matching messages are refused.', maxItems: 6 },
    ),
  ),
  matches: withDefault(
    object({
      countries: optional(list(matching('Two letters.', /^[A-Z]{2}$/, 'two letters like IN'), several)),
      prefixes: optional(
        list(matching('Digits, country code first.', /^[1-9][0-9]{0,14}$/, 'digits like 9198'), several),
      ),
      senders: optional(list(matching('A sender.', /^[^,]{1,15}$/, '1 to 15 characters without a comma'), several)),
      senderKinds: optional(list(choice(SENDER_KINDS), several)),
      accounts: optional(list(accountId, several)),
      routes: optional(list(choice(ROUTES), several)),
      priorities: optional(list(choice(PRIORITIES), several)),
    }),
    {},
  ),
  order: withDefault(number({ description: 'A higher one is looked at first.', minimum: -1_000, maximum: 1_000 }), 0),
  wait_seconds: withDefault(
    number({ description: 'The next carrier helps when messages have waited so long.', minimum: 1, maximum: 86_400 }),
    DEFAULT_WAIT_SECONDS,
  ),
  price: optional(PRICE),
});

/** Adds what no single field can know: carriers and accounts that do not exist, weights that make no group. */
export async function addRouteFaults(
  db: Db,
  route: Omit<RouteDocument, 'createdAt'>,
  problems: FieldProblems,
): Promise<void> {
  for (const { field, detail } of await routeFaults(db, route)) {
    problems.add(field in route.match ? `matches.${field}` : field, 'invalid_value', detail);
  }
}
