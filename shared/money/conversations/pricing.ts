import type { Starter } from '../accounts/opening.ts';
import { chatPrice, type PriceList } from '../accounts/prices.ts';

/** What a conversation costs, in credits: settings HARKARA_CHAT_USER_CREDITS and HARKARA_CHAT_BUSINESS_CREDITS. */
export interface ChatPrices {
  readonly userCredits: number;
  readonly businessCredits: number;
  /** Of a number (carriers/routing/country.ts). */
  readonly countryOf?: (to: string) => string | undefined;
}

/**
 * What a conversation costs: the account's price list, or else the settings. A conversation is charged once, with the message of ours that opens it. The price
 * depends on who started the conversation (docs/decisions/0016). Messages from customers are never charged.
 */
export function conversationPrice(by: Starter, prices: ChatPrices, to = '', list?: PriceList): number {
  const own = list && chatPrice(list, by, prices.countryOf?.(to));
  if (own !== undefined) return own;
  return by === 'user' ? prices.userCredits : prices.businessCredits;
}
