import { DEFAULT_WAIT_SECONDS } from '../../shared/carriers/routing/route.ts';
import { perform, type Request, type Told, type Values } from './act.ts';
import { type Context, daytime, Failure, optional, required, words } from './command.ts';

/** A route's form on the command line. */

/** `airtel:70,jio:30;backup`: `;` between groups, `,` between carriers, `:` before a weight. `none`: no group. */
const groups = {
  value: 'GROUPS',
  form: 'carriers like airtel:70,jio:30;backup (groups with ;, weights behind :), or none',
  parse(text: string) {
    if (text === 'none') return [];
    if (!/^[a-z0-9-]+(:\d+)?([,;][a-z0-9-]+(:\d+)?)*$/.test(text)) return undefined;
    return text.split(';').map((group) =>
      group.split(',').map((one) => {
        const [carrier = '', weight = '1'] = one.split(':');
        return { carrier, weight: Number(weight) };
      }),
    );
  },
};

/** `airtel=0.10 INR,jio=0.09 INR`, each carrier once. */
const costs = {
  value: 'COSTS',
  form: 'what each carrier costs, like airtel=0.10 INR,jio=0.09 INR (each once), or none',
  parse(text: string) {
    if (text === 'none') return {};
    const pairs = text.split(',').map((pair) => pair.trim().split('='));
    const all = new Map(pairs.flatMap(([carrier = '', cost]) => (cost === undefined ? [] : [[carrier, cost]])));
    return all.size === pairs.length ? Object.fromEntries(all) : undefined;
  },
};

/** Words separated by commas. `any` removes the condition. */
const several = (value: string, about: string) => {
  const parse = (text: string): readonly string[] | 'any' =>
    text === 'any' ? 'any' : [...new Set(text.split(',').map((word) => word.trim()))];
  return optional({ value, form: 'words with commas, or any', parse }, about);
};

const CONDITIONS = {
  country: several('COUNTRIES', 'recipients in these countries, like IN'),
  prefix: several('PREFIXES', 'recipients that begin so; the longest prefix wins. With --country: either'),
  sender: several('SENDERS', 'from these senders'),
  senderKind: several('KINDS', 'from a name, a number or a short code (up to 8 digits)'),
  account: several('ACCOUNTS', 'of these accounts'),
  route: several('GROUPS', 'of these routing groups: transactional, promotional'),
  priority: several('PRIORITIES', 'transactional ones of these priorities; those of batches are low'),
};
const MEMBERS: Readonly<Record<keyof typeof CONDITIONS, string>> = {
  ...{ country: 'countries', prefix: 'prefixes', sender: 'senders', senderKind: 'senderKinds', account: 'accounts' },
  ...{ route: 'routes', priority: 'priorities' },
};

const CARRIERS_ABOUT = 'who takes them, in order; none refuses them';
const MORE = {
  ...CONDITIONS,
  daytime: optional(daytime, "when its messages may leave, by the clock of the recipient's country; otp always may"),
  price: optional(words('PRICE', 'like 0.12 INR, or none', /^.+$/), 'what a message is sold for, for reports'),
  costs: optional(costs, 'what it costs at each carrier, for reports'),
};
export const NEW_ROUTE = { carriers: required(groups, CARRIERS_ABOUT), ...MORE };
export const CHANGED_ROUTE = { carriers: optional(groups, CARRIERS_ABOUT), ...MORE };

/** The endpoint replaces the whole route, so options left out are filled from the stored one. */
export async function wholeRoute(asked: Request, given: Values, before: Told = {}): Promise<Request> {
  const matches = new Map<string, unknown>(Object.entries(before.matches ?? {}));
  for (const [name, member] of Object.entries(MEMBERS)) {
    if (given[name] === 'any') matches.delete(member);
    else if (given[name] !== undefined) matches.set(member, given[name]);
  }
  const price = given.price ?? before.price ?? 'none';
  const hours = given.daytime ?? before.daytime ?? {};
  const body = {
    matches: Object.fromEntries(matches),
    groups: given.carriers ?? before.groups,
    order: given.order ?? before.order ?? 0,
    wait_seconds: given.wait_seconds ?? before.wait_seconds ?? DEFAULT_WAIT_SECONDS,
    receipt_failover_seconds: given.receipt_failover_seconds ?? before.receipt_failover_seconds ?? 0,
    costs: given.costs ?? before.costs ?? {},
    ...(price !== 'none' && { price }),
    ...(Object.keys(hours).length > 0 && { daytime: hours }),
  };
  return { ...asked, body };
}

export async function findRoute(context: Context, id: unknown): Promise<Told> {
  const { routes } = await perform(context, 'operatorRoutes');
  return routes.find(({ route_id }: Told) => route_id === id);
}

export async function existingRoute(context: Context, id: unknown): Promise<Told> {
  const found = await findRoute(context, id);
  if (found === undefined) throw new Failure(`There is no route "${id}": \`route list\` shows them.`);
  return found;
}

function daytimeText({ from, to, countries: some = [] }: Told): string {
  return `from ${from} to ${to} of the recipient${some.length === 0 ? '' : ` in ${some.join(' and ')}`}`;
}

export function routeText(
  {
    route_id,
    words,
    groups: all,
    wait_seconds,
    receipt_failover_seconds: seconds,
    order,
    daytime: hours,
    price,
    costs: each,
  }: Told,
  done = '',
): string {
  const details = [
    words,
    ...(all.length === 0 ? [] : [`the next one after ${wait_seconds} s`]),
    ...(seconds > 0 ? [`the next one by a receipt within ${seconds} s`] : []),
    ...(order === 0 ? [] : [`order ${order}`]),
    ...(hours === null ? [] : [daytimeText(hours)]),
    ...(price === null ? [] : [`sold for ${price}`]),
    ...Object.entries(each ?? {}).map(([carrier, cost]) => `${carrier} costs ${cost}`),
  ];
  return `${route_id}${done}: ${details.join(', ')}.`;
}
