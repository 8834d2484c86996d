import type { Route } from '../../messages/document/message.ts';

/**
 * What an account pays, in credits. Without a price list it is what the specification says: 1 for each SMS recipient, whatever the
 * number of segments. The first entry that fits decides; where none fits, it is that price too. What a message cost is stored with it,
 * so that a refund gives back what was paid, whatever the list says by then.
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

/** Who started a conversation. */
export type Starter = 'user' | 'business';

/** An account can have a price for each country, and some more. */
export const PRICES_MAX = 300;
export const CREDITS_MAX = 10_000;

/** "Limits": Billing unit, SMS: 1 credit per recipient. */
export const CREDITS_PER_MESSAGE = 1;

/** What an SMS costs. Absent in a message that costs what the specification says. */
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

/** What a conversation costs by the list; undefined where it says nothing. */
export function chatPrice(prices: PriceList = [], by: Starter, country: string | undefined): number | undefined {
  return prices.find(
    (price) =>
      price.channel === 'chatapp' &&
      (price.startedBy ?? by) === by &&
      (price.country === undefined || price.country === country),
  )?.credits;
}

/** The member of a message, batch or schedule that says what it cost. Most have none. */
export function pricedAt(credits: number, preset = CREDITS_PER_MESSAGE): { readonly credits?: number } {
  return credits === preset ? {} : { credits };
}

/** What was paid for a message. */
export function creditsOf({ credits }: { readonly credits?: number }): number {
  return credits ?? CREDITS_PER_MESSAGE;
}
