import type { Db } from 'mongodb';
import { listCarriers } from '../../../shared/carriers/carrier-store.ts';
import type { RouteDocument, RouteMatch, WeightedCarrier } from '../../../shared/carriers/routing/route.ts';
import { isCountry } from '../../../shared/money/accounts/number-check.ts';
import { findAccounts } from '../../../shared/money/accounts/store.ts';

/** The most carriers in one route. Each more means more paths to read, and one message asks at most three. */
const MOST_CARRIERS = 6;
const MOST_WEIGHT = 1_000;
const MOST_WAIT_SECONDS = 86_400;

/** `field`: what of the route is wrong. `detail`: one sentence. */
export interface RouteFault {
  readonly field: 'name' | 'groups' | 'waitSeconds' | keyof RouteMatch;
  readonly detail: string;
}

/** Each fault of a route, also carriers and accounts that do not exist. */
export async function routeFaults(db: Db, route: Omit<RouteDocument, 'createdAt'>): Promise<readonly RouteFault[]> {
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
