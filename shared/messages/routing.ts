import type { Route } from './message.ts';

/** The values of `route` ("SMS message (request to send)"), the default first. */
export const ROUTES = ['transactional', 'promotional'] as const satisfies readonly Route[];

export const DEFAULT_ROUTE: Route = 'transactional';

export function isRoute(value: string): value is Route {
  return (ROUTES as readonly string[]).includes(value); // widened only to compare
}

/** The routing group of a message, fixed at accept: the carriers that serve it claim from it. */
export function pathOf(route: Route): string {
  return route;
}

/** The queue lane of a single message; a lower lane leaves first (message.ts). */
export function laneOf(route: Route): number {
  return route === 'transactional' ? 1 : 3;
}
