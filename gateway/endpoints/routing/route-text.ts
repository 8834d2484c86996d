import type { RouteDocument, RouteMatch, WeightedCarrier } from '../../../shared/carriers/routing/route.ts';

/** How people read a route. */

export function groupsText(all: RouteDocument['groups']): string {
  if (all.length === 0) return 'none: refused';
  const one = ({ carrier, weight }: WeightedCarrier, alone: boolean): string =>
    alone ? carrier : `${carrier}:${weight}`;
  return all.map((group) => group.map((each) => one(each, group.length === 1)).join(',')).join(';');
}

export function matchText(match: RouteMatch): string {
  const words = Object.entries(match).map(
    ([name, values]: [string, readonly string[]]) => `${NAMES[name] ?? name} ${values.join(',')}`,
  );
  return words.length === 0 ? 'everything' : words.join(' · ');
}

const NAMES: Readonly<Record<string, string>> = {
  routes: 'route',
  countries: 'country',
  prefixes: 'prefix',
  senders: 'sender',
  senderKinds: 'sender kind',
  accounts: 'account',
  priorities: 'priority',
};
