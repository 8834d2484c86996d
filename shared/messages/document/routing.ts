import type { Route } from './message.ts';

/** The values of `route` ("SMS message (request to send)"), the default first. */
export const ROUTES = ['transactional', 'promotional'] as const satisfies readonly Route[];

/** The routing group of a message, fixed at accept: the carriers that serve it claim from it. */
export function pathOf(route: Route): string {
  return route;
}

/** The values of `priority` (extension), the default first. `otp` is for the transactional route. */
export const PRIORITIES = ['normal', 'otp', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

const LANES: Readonly<Record<Route, Readonly<Record<Priority, number>>>> = {
  transactional: { otp: 0, normal: 1, low: 2 },
  // No promotional message is urgent by law, so none gets a lane before the promotional one.
  promotional: { otp: 3, normal: 3, low: 3 },
};

/** Promotional messages of accounts with DLT: a lane of their own, because it is shut at night (daytime.ts). */
export const HOURS_LANE = 4;

/** The lane of a single message; a lower lane leaves first (message.ts). `dlt` is the account's setting. */
export function laneOf(route: Route, priority: Priority = 'normal', dlt: 'on' | 'off' = 'off'): number {
  return dlt === 'on' && route === 'promotional' ? HOURS_LANE : LANES[route][priority];
}
