import type { Db } from 'mongodb';
import { z } from 'zod';
import { listCarriers } from '../../../shared/carriers/carrier-store.ts';
import {
  DEFAULT_WAIT_SECONDS,
  type RouteDocument,
  type RouteMatch,
  SENDER_KINDS,
  type WeightedCarrier,
} from '../../../shared/carriers/routing/route.ts';
import { addRoute, listRoutes, removeRoute, replaceRoute } from '../../../shared/carriers/routing/store.ts';
import { laneOf, PRIORITIES, ROUTES } from '../../../shared/messages/document/routing.ts';
import { isCountry } from '../../../shared/money/accounts/number-check.ts';
import { findAccount, findAccounts } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { decimal, flag, named, success, text, time } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { isObject, type JsonObject } from '../../http/context.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import {
  choice,
  Fault,
  list,
  matching,
  number,
  object,
  optional,
  required,
  string,
  withDefault,
} from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { accountId, DaytimeShape, daytimeField, daytimeRecord, NO_SUCH_ACCOUNT } from '../operators/fields.ts';
import { explainRoute, groupsText, matchText } from './explain.ts';

/** Which carriers take which messages. */

const RouteId = text(undefined, { pattern: '^[a-z0-9-]{1,32}$', example: 'india' });
const IN_PATH = { route_id: RouteId.describe('The route.') };
const Texts = z.array(text());

const OperatorRoute = named('OperatorRoute', 'A route: which carriers take which messages.', {
  route_id: RouteId,
  order: decimal(),
  matches: z.strictObject({
    countries: Texts.meta({ example: ['IN'] }).optional(),
    prefixes: Texts.optional(),
    senders: Texts.optional(),
    senderKinds: Texts.optional(),
    accounts: Texts.optional(),
    routes: Texts.optional(),
    priorities: Texts.optional(),
  }),
  groups: z.array(z.array(z.strictObject({ carrier: text(), weight: decimal() }))).meta({
    example: [
      [
        { carrier: 'airtel', weight: 70 },
        { carrier: 'jio', weight: 30 },
      ],
      [{ carrier: 'backup', weight: 1 }],
    ],
  }),
  wait_seconds: decimal(undefined, { example: 30 }),
  receipt_failover_seconds: decimal('0: a receipt sends no message to the next carrier.', { example: 0 }),
  daytime: DaytimeShape.nullable(),
  price: text(undefined, { example: '0.12 INR' }).nullable(),
  costs: z.record(z.string(), text()).nullable(),
  words: text(undefined, { example: 'country IN → airtel:70,jio:30;backup' }),
  created_at: time(undefined, '2026-11-22T10:00:00+00:00'),
});

export const routes = endpoint({
  id: 'operatorRoutes',
  method: 'get',
  path: '/v2/admin/routes',
  tag: 'Operators',
  summary: 'Routes',
  description: 'Extension. Which carriers take which messages. Without routes the carriers’ own `paths` decide.',
  scopes: ['admin:read'],
  answer: named('OperatorRoutes', { routes: z.array(OperatorRoute) }),
  async handle({ db }) {
    return { routes: (await listRoutes(db)).map(routeRecord) };
  },
});

const RECIPIENT = /^[1-9][0-9]{7,14}$/;
const SENDER = /^.{1,15}$/;

export const explain = endpoint({
  id: 'explainRoute',
  method: 'get',
  path: '/v2/admin/routes/explain',
  tag: 'Operators',
  summary: 'Who would carry a message',
  description: 'Extension. Says who would carry a message to a number now, and why. Sends nothing.',
  scopes: ['admin:read'],
  query: {
    to: required(
      string({ description: 'The recipient.', pattern: RECIPIENT.source, example: '919876543210' }, (text) =>
        RECIPIENT.test(text) ? text : new Fault('invalid_phone', 'It must be 8 to 15 digits, country code first.'),
      ),
    ),
    account_id: required(accountId('The account.', 'acc_01m7znjn7hdb5pft3awkb6pgvz')),
    sender: withDefault(
      string({ description: 'Its sender.', pattern: SENDER.source }, (text) =>
        SENDER.test(text) ? text : new Fault('invalid_sender', 'It must have 1 to 15 characters.'),
      ),
      'HARKRA',
    ),
    route: withDefault(choice(ROUTES, 'Its routing group.'), 'transactional'),
    priority: withDefault(choice(PRIORITIES, 'Its priority.'), 'normal'),
  },
  answer: named('RouteExplanation', {
    verdict: text(undefined, { example: 'airtel would carry it.' }),
    by: text(undefined, { example: 'By the route india (country IN): airtel, the next one after 30 s.' }),
    outcome: z.enum(['carried', 'waits', 'refused']),
    route_id: RouteId.nullable(),
    path: text(undefined, { example: '@30:airtel' }).nullable(),
    carriers: z.array(
      z.strictObject({
        carrier_id: text(undefined, { example: 'airtel' }),
        words: text(undefined, { example: 'up' }),
        takes: flag(undefined, true),
      }),
    ),
    others: Texts,
  }),
  async handle({ db, clock }, { query: { to, account_id, sender, route, priority } }) {
    const account = await findAccount(db, account_id);
    if (account === undefined) {
      const problems = new FieldProblems();
      problems.add('account_id', 'invalid_value', NO_SUCH_ACCOUNT);
      return invalid(problems);
    }
    const message = { account: account_id, to, sender, route, lane: laneOf(route, priority, account.dlt) };
    const found = await explainRoute(db, message, clock.now());
    return {
      verdict: found.verdict,
      by: found.by,
      outcome: found.kind,
      route_id: found.route?._id ?? null,
      path: found.path ?? null,
      carriers: found.carriers.map(({ carrier, state, takes }) => ({ carrier_id: carrier, words: state, takes })),
      others: found.others,
    };
  },
});

const several = { description: 'One of these is enough.', minItems: 1, maxItems: 1_000 };
const CARRIER = matching('A carrier.', /^[a-z0-9-]{1,32}$/, '1 to 32 of a-z, 0-9 and -');
const COST = /^[0-9.]{1,12}( [A-Z]{3})?$/;
const PRICE = matching('Like `0.12 INR`. For reports only.', COST, 'like 0.12 INR');

export const putRoute = endpoint({
  id: 'putRoute',
  method: 'put',
  path: '/v2/admin/routes/{route_id}',
  tag: 'Operators',
  summary: 'Make or replace a route',
  description: 'Extension. Everybody follows it within two seconds; what waits is routed anew.',
  scopes: ['admin:routing'],
  confirmed: true,
  params: IN_PATH,
  body: request({
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
        accounts: optional(list(accountId('The account.'), several)),
        routes: optional(list(choice(ROUTES), several)),
        priorities: optional(list(choice(PRIORITIES), several)),
      }),
      {},
    ),
    order: withDefault(number({ description: 'A higher one is looked at first.', minimum: -1_000, maximum: 1_000 }), 0),
    wait_seconds: withDefault(
      number({
        type: 'integer',
        description: 'The next carrier helps when messages have waited so long.',
        minimum: 1,
        maximum: 86_400,
      }),
      DEFAULT_WAIT_SECONDS,
    ),
    receipt_failover_seconds: withDefault(
      number({
        type: 'integer',
        description:
          "So long after its submit, a receipt with an error of the carrier's `receiptFailover` sends a message to the next carrier, once. The recipient may get it twice. 0: never.",
        minimum: 0,
        maximum: 86_400,
      }),
      0,
    ),
    daytime: optional(daytimeField('messages by this route')),
    price: optional(PRICE),
    costs: optional(
      z.custom<JsonObject>(isObject, 'It must be an object').meta({
        type: 'object',
        description:
          'What a message costs at each carrier: `{"airtel": "0.10 INR"}`. For reports only. Absent: as before.',
        additionalProperties: { type: 'string', pattern: COST.source },
      }),
    ),
  }),
  answer: success('OperatorRouteResult', {
    route: OperatorRoute,
    warning: text(undefined, {
      example: 'What no route matches is refused with 400 no_route. Add one without conditions for the rest.',
    }).nullable(),
  }),
  examples: {
    body: {
      example: {
        matches: { countries: ['IN'] },
        groups: [
          [
            { carrier: 'airtel', weight: 70 },
            { carrier: 'jio', weight: 30 },
          ],
        ],
      },
    },
  },
  async handle(deps, { requester, params: { route_id: name }, body, read: { problems } }) {
    const { db, clock } = deps;
    const {
      groups,
      matches,
      order,
      wait_seconds: waitSeconds,
      receipt_failover_seconds: seconds,
      daytime,
      price,
    } = body;
    const before = (await listRoutes(db)).find(({ _id }) => _id === name);
    const costs = (body.costs ?? before?.costs) as RouteDocument['costs']; // each is looked at
    for (const [carrier, cost] of Object.entries(costs ?? {})) {
      if (typeof cost === 'string' && COST.test(cost)) continue;
      problems.add(`costs.${carrier}`, 'invalid_value', 'It must be like 0.12 INR.');
    }
    const wanted: Omit<RouteDocument, 'createdAt'> = {
      ...{ _id: name, order, match: matches, groups, waitSeconds },
      ...defined({ daytime, price, receiptFailoverSeconds: seconds || undefined }),
      ...(Object.keys(costs ?? {}).length > 0 && defined({ costs })),
    };
    // What no single field can know: missing carriers and accounts, weights that make no group.
    for (const { field, detail } of await routeFaults(db, wanted)) {
      problems.add(field in matches ? `matches.${field}` : field, 'invalid_value', detail);
    }
    if (problems.count > 0) return invalid(problems);
    const made = await changeAudited(deps, requester, {
      action: before === undefined ? 'route.add' : 'route.set',
      subject: { kind: 'route', id: name },
      read: async () => before,
      make: async () => {
        if (before === undefined) return addRoute(db, clock, wanted);
        const replaced = { ...wanted, createdAt: before.createdAt };
        await replaceRoute(db, replaced);
        return replaced;
      },
      madeOf: (route) => route,
    });
    return done({ route: routeRecord(made), warning: await restWarning(db) });
  },
});

async function restWarning(db: Db): Promise<string | null> {
  const rest = (await listRoutes(db)).some(({ match }) => Object.keys(match).length === 0);
  return rest ? null : 'What no route matches is refused with 400 no_route. Add one without conditions for the rest.';
}

export const takeRoute = endpoint({
  id: 'removeRoute',
  method: 'delete',
  path: '/v2/admin/routes/{route_id}',
  tag: 'Operators',
  summary: 'Remove a route',
  description: 'Extension. What waits goes by the other routes.',
  scopes: ['admin:routing'],
  confirmed: true,
  params: IN_PATH,
  answer: success('RemovedRoute', {
    route_id: RouteId,
    message: text(undefined, { example: 'The route is removed.' }),
  }),
  problems: ['route_not_found'],
  async handle(deps, { requester, params }) {
    const { db } = deps;
    const found = (await listRoutes(db)).find(({ _id }) => _id === params.route_id);
    if (found === undefined) return refused('route_not_found');
    await changeAudited(deps, requester, {
      action: 'route.remove',
      subject: { kind: 'route', id: found._id },
      read: async () => found,
      make: () => removeRoute(db, found._id),
      madeOf: (removed) => ({ removed }),
    });
    return done({ route_id: found._id, message: 'The route is removed.' });
  },
});

function routeRecord(route: RouteDocument): Shown<typeof OperatorRoute> {
  const { match, groups } = route;
  return {
    route_id: route._id,
    order: route.order,
    matches: match,
    groups,
    wait_seconds: route.waitSeconds,
    receipt_failover_seconds: route.receiptFailoverSeconds ?? 0,
    daytime: daytimeRecord(route.daytime),
    price: route.price ?? null,
    costs: route.costs ?? null,
    words: `${matchText(match)} → ${groupsText(groups)}`,
    created_at: isoTimestamp(route.createdAt),
  };
}

/** Each carrier means more paths to read, and one message asks at most three. */
const MOST_CARRIERS = 6;
const MOST_WEIGHT = 1_000;
const MOST_WAIT_SECONDS = 86_400;

interface RouteFault {
  readonly field: 'name' | 'groups' | 'waitSeconds' | keyof RouteMatch;
  readonly detail: string;
}

/** Includes missing carriers and accounts. */
async function routeFaults(db: Db, route: Omit<RouteDocument, 'createdAt'>): Promise<readonly RouteFault[]> {
  const { _id, match, groups, waitSeconds } = route;
  const carriers = (await listCarriers(db)).map((carrier) => carrier._id);
  const accounts = (await findAccounts(db, match.accounts ?? [])).map((account) => account._id);
  const named = groups.flat().map(({ carrier }) => carrier);
  const unknown = [...new Set(named)].filter((carrier) => !carriers.includes(carrier));
  const strangers = (match.accounts ?? []).filter((account) => !accounts.includes(account));
  const badCountries = (match.countries ?? []).filter((country) => !isCountry(country));
  const badPrefixes = (match.prefixes ?? []).filter((prefix) => !/^[1-9][0-9]{0,14}$/.test(prefix));
  const checks: readonly (readonly [RouteFault['field'], boolean, string])[] = [
    ['name', /^[a-z0-9-]{1,32}$/.test(_id), 'The name is 1 to 32 of a-z, 0-9 and -.'],
    ['groups', unknown.length === 0, `There is no carrier ${unknown.join(', ')}: \`carrier list\` shows them.`],
    ['accounts', strangers.length === 0, `There is no account ${strangers.join(', ')}: \`account list\` shows them.`],
    ['groups', named.length <= MOST_CARRIERS, `A route has at most ${MOST_CARRIERS} carriers.`],
    ['groups', new Set(named).size === named.length, 'Name each carrier once.'],
    [
      'groups',
      groups.every(isGroup),
      `The weights of a group are 0 to ${MOST_WEIGHT}, and one of them is more than 0.`,
    ],
    [
      'priorities',
      match.priorities === undefined || match.routes?.includes('transactional') !== false,
      'Only transactional messages have a priority: it would match nothing.',
    ],
    [
      'countries',
      badCountries.length === 0,
      `No country has the code ${badCountries.join(', ')}: write two letters, like IN.`,
    ],
    [
      'prefixes',
      badPrefixes.length === 0,
      `${badPrefixes.join(', ')}: a prefix is 1 to 15 digits, country code first, without 0 or +.`,
    ],
    [
      'waitSeconds',
      Number.isInteger(waitSeconds) && waitSeconds >= 1 && waitSeconds <= MOST_WAIT_SECONDS,
      `The waiting time is 1 to ${MOST_WAIT_SECONDS} seconds.`,
    ],
  ];
  return checks.flatMap(([field, ok, detail]) => (ok ? [] : [{ field, detail }]));
}

function isGroup(group: readonly WeightedCarrier[]): boolean {
  const inRange = group.every(({ weight }) => Number.isInteger(weight) && weight >= 0 && weight <= MOST_WEIGHT);
  return group.length > 0 && inRange && group.some(({ weight }) => weight > 0);
}
