import type { Db } from 'mongodb';
import { explainRoute } from '../../shared/carriers/routing/explain.ts';
import {
  DEFAULT_WAIT_SECONDS,
  type RouteDocument,
  type RouteMatch,
  SENDER_KINDS,
} from '../../shared/carriers/routing/route.ts';
import { routeFaults } from '../../shared/carriers/routing/route-form.ts';
import { groupsText, matchText } from '../../shared/carriers/routing/route-text.ts';
import { addRoute, listRoutes, RouteExists, removeRoute, replaceRoute } from '../../shared/carriers/routing/store.ts';
import type { Route } from '../../shared/messages/document/message.ts';
import { laneOf, PRIORITIES, type Priority, ROUTES } from '../../shared/messages/document/routing.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, choice, integer, optional, phoneNumber, required, withDefault, words } from './parameters.ts';
import { explained } from './route-explain.ts';
import { costs, groups, several } from './route-words.ts';
import { table } from './show.ts';

const route = required(words('ROUTE', '1 to 32 of a-z, 0-9 and -', /^[a-z0-9-]{1,32}$/), 'its name');
const oneOf = (choices: readonly string[]): RegExp => new RegExp(`^(${choices.join('|')})$`);

const conditions = {
  country: optional(several<string>('COUNTRIES', 'two letters like IN', /^[A-Z]{2}$/), 'recipients in these countries'),
  prefix: optional(
    several<string>('PREFIXES', 'digits like 9198', /^[1-9][0-9]{0,14}$/),
    'recipients that begin so; the longest prefix wins. With --country: either',
  ),
  sender: optional(several<string>('SENDERS', 'senders', /^[^,]{1,15}$/), 'from these senders'),
  senderKind: optional(
    several<(typeof SENDER_KINDS)[number]>('KINDS', SENDER_KINDS.join(', '), oneOf(SENDER_KINDS)),
    'from a name, a number or a short code (up to 8 digits)',
  ),
  account: optional(several<AccountId>('ACCOUNTS', 'account ids', /^acc_[0-9a-hjkmnp-tv-z]{26}$/), 'of these accounts'),
  route: optional(several<Route>('GROUPS', ROUTES.join(', '), oneOf(ROUTES)), 'of these routing groups'),
  priority: optional(
    several<Priority>('PRIORITIES', PRIORITIES.join(', '), oneOf(PRIORITIES)),
    'transactional ones of these priorities; those of batches are low',
  ),
};
const settings = {
  waitSeconds: optional(
    integer('S', 1, 86_400),
    'the next carrier helps when messages have waited so long for the one before',
  ),
  order: optional(integer('N', -1_000, 1_000), 'a higher one is looked at first, whatever the others match; usually 0'),
  price: optional(
    words('PRICE', 'like 0.12 INR, or none', /^([0-9.]{1,12}( [A-Z]{3})?|none)$/),
    'what a message is sold for, for reports',
  ),
  costs: optional(costs, 'what it costs at each carrier, for reports'),
};
const NOTES =
  'A message goes by one route, the first of: the highest --order; of its account; the longest prefix (a country counts as its code);\n' +
  'of its sender; of its kind of sender; of its priority; of its routing group. When there are routes and none matches, it is refused\n' +
  '(400 no_route): add one without conditions for the rest. The first carrier of a group is chosen by weights and the recipient. The next\n' +
  'one serves while those before it are down, paused, too slow or refuse nearly everything, and takes what they refuse with a code of\n' +
  'class failover (`carrier update --status-class`). Everybody follows a change within 2 s; what waits is routed anew.';

export const ROUTE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'route',
    verb: 'add',
    about: 'Says which carriers take which messages.',
    args: { name: route },
    options: { carriers: required(groups, 'who takes them, in order; none refuses them'), ...conditions, ...settings },
    notes: NOTES,
    async run({ name, carriers, waitSeconds, order, price, costs, ...given }, { db, clock }) {
      const store = await db();
      const made = {
        _id: name,
        order: order ?? 0,
        match: matchOf({}, given),
        groups: carriers,
        waitSeconds: waitSeconds ?? DEFAULT_WAIT_SECONDS,
        ...pricesOf({ price, costs }),
      };
      await check(store, made);
      try {
        return shown(await addRoute(store, clock, made), 'added', await restRefused(store));
      } catch (error) {
        if (error instanceof RouteExists) throw new Failure(`Not added: ${error.message} (see \`route set\`).`);
        throw error;
      }
    },
  }),
  defineCommand({
    noun: 'route',
    verb: 'set',
    about: 'Changes a route. What is left out stays; `any` takes a condition away, `none` a price.',
    args: { name: route },
    options: { carriers: optional(groups, 'who takes them, in order; none refuses them'), ...conditions, ...settings },
    notes: NOTES,
    async run({ name, carriers, waitSeconds, order, price, costs, ...given }, { db }) {
      const all = [carriers, waitSeconds, order, price, costs, ...Object.values(given)];
      if (all.every((one) => one === undefined)) throw new Failure('Nothing to change: see `route set --help`.');
      const store = await db();
      const { price: oldPrice, costs: oldCosts, ...before } = await named(store, name);
      const changed: RouteDocument = {
        ...before,
        match: matchOf(before.match, given),
        ...(carriers === undefined ? {} : { groups: carriers }),
        ...(waitSeconds === undefined ? {} : { waitSeconds }),
        ...(order === undefined ? {} : { order }),
        ...pricesOf({ price: price ?? oldPrice, costs: costs ?? oldCosts }),
      };
      await check(store, changed);
      if (!(await replaceRoute(store, changed))) throw missing(name);
      return shown(changed, 'changed', await restRefused(store));
    },
  }),
  defineCommand({
    noun: 'route',
    verb: 'remove',
    about: 'Removes a route. What waits goes by the others. Without any route the carriers’ own `paths` count again.',
    args: { name: route },
    options: {},
    async run({ name }, { db }) {
      const store = await db();
      if (!(await removeRoute(store, name))) throw missing(name);
      return { text: `${name} is removed. ${await restRefused(store)}`.trim(), json: { name } };
    },
  }),
  defineCommand({
    noun: 'route',
    verb: 'list',
    about: 'Shows all routes.',
    args: {},
    options: {},
    async run(_, { db }) {
      const all = await listRoutes(await db());
      const rows = all.map((one) => [
        one._id,
        String(one.order),
        matchText(one.match),
        groupsText(one.groups),
        `${one.waitSeconds} s`,
        one.price ?? '-',
      ]);
      const empty = 'There are no routes: the carriers’ `paths` say who takes what.';
      return {
        text: table(['ROUTE', 'ORDER', 'MATCHES', 'CARRIERS', 'WAIT', 'PRICE'], rows, empty),
        json: all.map(view),
      };
    },
  }),
  defineCommand({
    noun: 'route',
    verb: 'show',
    about: 'Shows one route.',
    args: { name: route },
    options: {},
    run: async ({ name }, { db }) => shown(await named(await db(), name)),
  }),
  defineCommand({
    noun: 'route',
    verb: 'explain',
    about: 'Says who would carry a message to a number now, and why. Sends nothing.',
    args: { to: required(phoneNumber, 'the recipient') },
    options: {
      account: required(accountId, 'the account'),
      sender: withDefault(words('SENDER', 'a sender', /^.{1,15}$/), 'HARKRA', 'its sender'),
      route: withDefault(choice(ROUTES), 'transactional', 'its routing group'),
      priority: withDefault(choice(PRIORITIES), 'normal', 'its priority; of a batch: low'),
    },
    async run({ to, account, sender, route, priority }, { db, clock }) {
      const store = await db();
      const { dlt } = await existing(store, account);
      return explained(
        await explainRoute(store, { account, to, sender, route, lane: laneOf(route, priority, dlt) }, clock.now()),
      );
    },
  }),
];

type Given = {
  readonly [Name in keyof typeof conditions]: readonly string[] | 'any' | undefined;
};

const MEMBERS: Readonly<Record<keyof Given, keyof RouteMatch>> = {
  country: 'countries',
  prefix: 'prefixes',
  sender: 'senders',
  senderKind: 'senderKinds',
  account: 'accounts',
  route: 'routes',
  priority: 'priorities',
};

function matchOf(before: RouteMatch, given: Given): RouteMatch {
  const members = new Map<string, unknown>(Object.entries(before));
  for (const [name, member] of Object.entries(MEMBERS)) {
    const values = given[name as keyof Given]; // every name of the table is an option
    if (values === 'any') members.delete(member);
    else if (values !== undefined) members.set(member, values);
  }
  return Object.fromEntries(members); // each option has the values of its member
}

/** Without those that are `none`. */
function pricesOf({ price, costs }: GivenPrices): Pick<RouteDocument, 'price' | 'costs'> {
  return {
    ...(price === undefined || price === 'none' ? {} : { price }),
    ...(costs === undefined || costs === 'none' ? {} : { costs }),
  };
}

interface GivenPrices {
  readonly price: string | undefined;
  readonly costs: RouteDocument['costs'] | 'none';
}

async function check(db: Db, made: Omit<RouteDocument, 'createdAt'>): Promise<void> {
  const faults = await routeFaults(db, made);
  if (faults.length > 0) throw new Failure(`Refused. ${faults.map(({ detail }) => detail).join(' ')}`);
}

/** A warning when there are routes, but none without conditions: messages that match no route are then refused. */
async function restRefused(db: Db): Promise<string> {
  const all = await listRoutes(db);
  const whole = all.some(({ match }) => Object.keys(match).length === 0);
  return all.length === 0 || whole
    ? ''
    : 'What no route matches is refused with 400 no_route: add one without conditions for the rest.';
}

async function named(db: Db, name: string): Promise<RouteDocument> {
  const found = (await listRoutes(db)).find(({ _id }) => _id === name);
  if (found === undefined) throw missing(name);
  return found;
}

function missing(name: string): Failure {
  return new Failure(`There is no route "${name}": \`route list\` shows them.`);
}

function shown(one: RouteDocument, done?: string, hint = '') {
  const { _id, match, groups: all, waitSeconds, order, price, costs = {} } = one;
  const details = [
    `${matchText(match)} → ${groupsText(all)}`,
    ...(all.length === 0 ? [] : [`the next one after ${waitSeconds} s`]),
    ...(order === 0 ? [] : [`order ${order}`]),
    ...(price === undefined ? [] : [`sold for ${price}`]),
    ...Object.entries(costs).map(([carrier, cost]) => `${carrier} costs ${cost}`),
  ];
  const lines = [`${_id}${done === undefined ? '' : ` is ${done}`}: ${details.join(', ')}.`, hint];
  return { text: lines.filter((line) => line !== '').join('\n'), json: view(one) };
}

function view({ _id, ...rest }: RouteDocument): object {
  return { name: _id, ...rest };
}
