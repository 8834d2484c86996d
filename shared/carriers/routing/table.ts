import type { Attempt, MessageDocument, Routed } from '../../messages/document/message.ts';
import { type Daytime, type Priority, pathOf, ROUTES } from '../../messages/document/routing.ts';
import { defined } from '../../platform/runtime/defined.ts';
import { isTestAccount } from '../../platform/runtime/ids.ts';
import type { CarrierDocument } from '../carrier.ts';
import { codeLength, countryOf } from './country.ts';
import {
  DEFAULT_WAIT_SECONDS,
  listOfPath,
  MAX_CARRIERS,
  pathOfList,
  type RouteDocument,
  senderKind,
  TEST_PATH,
  type WeightedCarrier,
} from './route.ts';

export type Routable = Pick<MessageDocument, 'account' | 'to' | 'sender' | 'route' | 'lane'>;

/** `no_route`: no carrier will ever take the message. `route`: the one that matched, if any. */
type Resolution =
  | { readonly kind: 'path'; readonly path: string; readonly route?: RouteDocument }
  | { readonly kind: 'no_route'; readonly why: string; readonly route?: RouteDocument };

interface Entry {
  readonly route: RouteDocument;
  /** Digits that it matches. A country counts a little more than its calling code, which it may share. */
  readonly length: number;
}

const MOST_DIGITS = 15;
const COUNTRY_BONUS = 0.5;

/**
 * All routes, indexed by destination. If several match a message, one counts: the highest `order`; then one for the
 * account; then the longest prefix; then one for the sender, for the kind of sender, for the priority, for the routing
 * group; then the first by name.
 */
export class RouteTable {
  readonly routes: readonly RouteDocument[];
  readonly #carriers: readonly Pick<CarrierDocument, '_id' | 'paths'>[];
  readonly #byPrefix = new Map<string, Entry[]>();
  readonly #byCountry = new Map<string, Entry[]>();
  #served: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(routes: readonly RouteDocument[], carriers: readonly Pick<CarrierDocument, '_id' | 'paths'>[]) {
    this.routes = routes;
    this.#carriers = carriers;
    for (const route of routes) {
      const { prefixes, countries } = route.match;
      const anywhere = prefixes === undefined && countries === undefined ? [''] : [];
      for (const prefix of prefixes ?? anywhere) put(this.#byPrefix, prefix, { route, length: prefix.length });
      for (const country of countries ?? []) {
        put(this.#byCountry, country, { route, length: codeLength(country) + COUNTRY_BONUS });
      }
    }
  }

  resolve(message: Routable): Resolution {
    if (isTestAccount(message.account)) return { kind: 'path', path: TEST_PATH };
    // Without routes, the carriers' own `paths` decide, and messages wait until a carrier has their path.
    if (this.routes.length === 0) return { kind: 'path', path: pathOf(message.route) };
    const [best] = this.matches(message);
    if (best === undefined) return { kind: 'no_route', why: 'no route matches it' };
    if (best.groups.length === 0) return { kind: 'no_route', why: `the route ${best._id} refuses it`, route: best };
    return { kind: 'path', path: pathFor(best, message.to), route: best };
  }

  /** The one that counts is first. */
  matches(message: Routable): readonly RouteDocument[] {
    const found = this.#entriesFor(message.to).filter(({ route }) => isMatch(route, message));
    return found.sort(byRank).map(({ route }) => route);
  }

  /** The daytime of the route that decided the message's path. */
  daytimeOf({ routed }: Pick<MessageDocument, 'routed'>): Daytime | undefined {
    return routed && this.routes.find(({ _id }) => _id === routed.route)?.daytime;
  }

  /** The path of the remaining carriers after `carrier` refused a message of `path`. Undefined if none is left. */
  after(path: string, carrier: string): string | undefined {
    const { waitSeconds, carriers } = listOfPath(path) ?? this.#groupAsList(path, carrier);
    const others = carriers.filter((other) => other !== carrier);
    return others.length === 0 ? undefined : pathOfList({ waitSeconds, carriers: others });
  }

  /** `path` without the carriers in `tried`, which refused the message. Undefined if none is left. */
  without(path: string, tried: readonly string[]): string | undefined {
    return tried.reduce<string | undefined>((left, one) => left && this.after(left, one), path);
  }

  /** By path on which a message may wait now: the carriers that may take from it, in order. */
  get served(): ReadonlyMap<string, readonly string[]> {
    this.#served ??= this.#findServed();
    return this.#served;
  }

  #findServed(): Map<string, readonly string[]> {
    const found = new Map<string, readonly string[]>();
    let fresh = [...ROUTES.map(pathOf), ...this.routes.flatMap(pathsOf)];
    for (let refusals = 0; refusals < MAX_CARRIERS && fresh.length > 0; refusals++) {
      const next = new Set<string>();
      for (const path of fresh) {
        const carriers = listOfPath(path)?.carriers ?? this.#ofGroup(path);
        found.set(path, carriers);
        for (const carrier of carriers) {
          const left = this.after(path, carrier);
          if (left !== undefined && !found.has(left)) next.add(left);
        }
      }
      fresh = [...next];
    }
    return found;
  }

  #ofGroup(path: string): readonly string[] {
    return this.#carriers.filter(({ paths }) => paths.includes(path)).map(({ _id }) => _id);
  }

  /** The other carriers, in a circle from the one that refused, so that not all messages go to the same one. */
  #groupAsList(path: string, carrier: string): { readonly waitSeconds: number; readonly carriers: readonly string[] } {
    const all = this.#ofGroup(path);
    const at = all.indexOf(carrier);
    return { waitSeconds: DEFAULT_WAIT_SECONDS, carriers: [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))] };
  }

  #entriesFor(to: string): Entry[] {
    const found: Entry[] = [];
    for (let length = 0; length <= MOST_DIGITS; length++) {
      found.push(...(this.#byPrefix.get(to.slice(0, length)) ?? []));
      if (length >= to.length) break;
    }
    const country = this.#byCountry.size === 0 ? undefined : countryOf(to);
    if (country !== undefined) found.push(...(this.#byCountry.get(country) ?? []));
    return found;
  }
}

function put(map: Map<string, Entry[]>, key: string, entry: Entry): void {
  map.set(key, [...(map.get(key) ?? []), entry]);
}

function isMatch({ match }: RouteDocument, { account, sender, route, lane }: Routable): boolean {
  const has = <T>(wanted: readonly T[] | undefined, value: T | undefined): boolean =>
    wanted === undefined || (value !== undefined && wanted.includes(value));
  return (
    has(match.routes, route) &&
    has(match.senders, sender) &&
    has(match.accounts, account) &&
    has(match.senderKinds, match.senderKinds && senderKind(sender)) &&
    has(match.priorities, priorityOf(lane))
  );
}

/** Lanes 0 to 2 are the priorities of transactional messages (messages/document/routing.ts). */
function priorityOf(lane: number): Priority | undefined {
  return (['otp', 'normal', 'low'] as const)[lane];
}

function byRank(one: Entry, other: Entry): number {
  const [a, b] = [one.route.match, other.route.match];
  const named = (first: unknown, second: unknown): number => Number(second !== undefined) - Number(first !== undefined);
  return (
    other.route.order - one.route.order ||
    named(a.accounts, b.accounts) ||
    other.length - one.length ||
    named(a.senders, b.senders) ||
    named(a.senderKinds, b.senderKinds) ||
    named(a.priorities, b.priorities) ||
    named(a.routes, b.routes) ||
    (one.route._id < other.route._id ? -1 : 1)
  );
}

/**
 * Which carrier of a group is first depends only on the recipient's number, so that a conversation keeps its carrier.
 * The number is hashed to a point between 0 and 1; the weights divide that line. The group's other carriers follow in a
 * circle, those of weight 0 last.
 */
function pathFor(route: RouteDocument, to: string): string {
  return pathAt(route, pointOf(to));
}

/** Every path that the route can give: one for each piece of the line between two borders of any group. */
function pathsOf(route: RouteDocument): readonly string[] {
  const starts = new Set([0, ...route.groups.flatMap(borders)]);
  return [...new Set([...starts].filter((start) => start < 1).map((start) => pathAt(route, start)))];
}

function pathAt({ groups, waitSeconds }: RouteDocument, point: number): string {
  const carriers = new Set(groups.flatMap((group) => inOrder(group, point)));
  return pathOfList({ waitSeconds, carriers: [...carriers] });
}

function inOrder(group: readonly WeightedCarrier[], point: number): readonly string[] {
  const first = borders(group).findIndex((border) => point < border);
  const at = Math.max(first, 0);
  const circle = [...group.slice(at), ...group.slice(0, at)];
  return circle.sort((a, b) => Number(a.weight === 0) - Number(b.weight === 0)).map(({ carrier }) => carrier);
}

/** Where on the line each carrier's piece ends. */
function borders(group: readonly WeightedCarrier[]): readonly number[] {
  const total = group.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  return group.map(({ weight }) => {
    sum += weight;
    return sum / total;
  });
}

/** FNV-1a, with the last step of MurmurHash3, because numbers often differ in their last digits only. */
function pointOf(to: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < to.length; i++) hash = Math.imul(hash ^ to.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** For messages that lost their route after accept: they wait here until they expire, and are refunded. */
export const NOWHERE = pathOfList({ waitSeconds: 0, carriers: [] });

/** The current path of a message that was paid for earlier. A carrier that refused it is not asked again. */
export function placementOf(
  table: RouteTable,
  message: Routable & Pick<MessageDocument, 'path'> & { readonly attempts?: readonly Pick<Attempt, 'carrier'>[] },
): Pick<MessageDocument, 'path' | 'routed'> {
  if (isTestAccount(message.account)) return { path: TEST_PATH };
  const tried = (message.attempts ?? []).map(({ carrier }) => carrier);
  const { path, route } = table.routes.length === 0 ? inGroup(message) : placeOf(table.resolve(message));
  const left = path === undefined ? undefined : table.without(path, tried);
  return { path: left ?? NOWHERE, ...(route === undefined ? {} : { routed: routedOf(route) }) };
}

export function routedOf({ _id, price, costs, receiptFailoverSeconds }: RouteDocument): Routed {
  return { route: _id, ...defined({ price, costs, receiptFailoverSeconds }) };
}

interface Place {
  readonly path?: string;
  readonly route?: RouteDocument;
}

/** No path if no carrier will ever take the message. */
function placeOf(resolution: ReturnType<RouteTable['resolve']>): Place {
  return resolution.kind === 'path' ? resolution : {};
}

/** A message whose list was made by routes that no longer exist returns to its routing group. */
function inGroup({ path, route }: Pick<MessageDocument, 'path' | 'route'>): Place {
  return { path: listOfPath(path) === undefined ? path : pathOf(route) };
}
