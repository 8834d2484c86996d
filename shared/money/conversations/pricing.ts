import type { Starter } from '../accounts/opening.ts';

/** What a conversation costs, in credits: settings CHAT_USER_CREDITS and CHAT_BUSINESS_CREDITS. */
export interface ChatPrices {
  readonly userCredits: number;
  readonly businessCredits: number;
}

/**
 * The only price list of the chat-app channel. A conversation is charged once, with the message of ours that opens it. The price
 * depends on who started the conversation (docs/decisions/0016). Messages from customers are never charged.
 */
export function conversationPrice(by: Starter, prices: ChatPrices): number {
  return by === 'user' ? prices.userCredits : prices.businessCredits;
}
