import type { Route } from '../../messages/document/message.ts';

/**
 * What an account pays, in credits. The first entry that fits decides. Without an entry it is what the specification
 * says: 1 for each SMS recipient, whatever the number of segments. A message stores its price, so that a refund gives
 * back what was paid.
 */
export type PriceList = readonly Price[];

export interface Price {
  readonly channel: 'sms' | 'chatapp';
  /** SMS. */
  readonly route?: Route;
  /** ISO 3166-1, of the recipient. */
  readonly country?: string;
  /** Chat-app: who started the conversation. */
  readonly startedBy?: Starter;
  /** At least 1. */
  readonly credits: number;
  /** SMS: `credits` are for each segment, not for the message. */
  readonly per?: 'segment';
}

export type Starter = 'user' | 'business';

/** A price for each country, and some more. */
export const PRICES_MAX = 300;
export const CREDITS_MAX = 10_000;

/** "Limits": Billing unit, SMS: 1 credit per recipient. */
export const CREDITS_PER_MESSAGE = 1;

export function smsPrice(
  prices: PriceList | undefined,
  {
    route,
    segments,
    country,
  }: { readonly route: Route; readonly segments: number; readonly country: string | undefined },
): number {
  if (prices === undefined) return CREDITS_PER_MESSAGE;
  const found = prices.find(
    (price) =>
      price.channel === 'sms' &&
      (price.route ?? route) === route &&
      (price.country === undefined || price.country === country),
  );
  if (found === undefined) return CREDITS_PER_MESSAGE;
  return found.per === 'segment' ? found.credits * segments : found.credits;
}

/** Undefined where the list says nothing. */
export function chatPrice(prices: PriceList = [], by: Starter, country: string | undefined): number | undefined {
  return prices.find(
    (price) =>
      price.channel === 'chatapp' &&
      (price.startedBy ?? by) === by &&
      (price.country === undefined || price.country === country),
  )?.credits;
}

/** Part of a message, batch or schedule: what it cost. Most have none. */
export function pricedAt(credits: number, preset = CREDITS_PER_MESSAGE): { readonly credits?: number } {
  return credits === preset ? {} : { credits };
}

export function creditsOf({ credits }: { readonly credits?: number }): number {
  return credits ?? CREDITS_PER_MESSAGE;
}
