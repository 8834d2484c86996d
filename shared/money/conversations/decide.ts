import assert from 'node:assert/strict';
import type { BusinessNumber } from '../../messages/document/chat-message.ts';
import { isoDate } from '../../platform/runtime/clock.ts';
import { type MessageId, newId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from '../accounts/account.ts';
import type { Opening, PaidConversation, Starter } from '../accounts/opening.ts';
import { chatPrice, type PriceList } from '../accounts/prices.ts';
import { type Payer, type Refusal, refusalOf } from '../ledger/refusal.ts';
import { afterSpending, chargesOf, type KeyCaps } from '../ledger/spending.ts';
import {
  type ConversationDocument,
  conversationKey,
  conversationUntil,
  isSessionOpen,
  sessionUntil,
  starterAt,
} from './conversation.ts';
import { type ConversationDocuments, personOf, sessionOf } from './person.ts';

/** The parts of a message that matter for its payment and the session. */
export interface ChatOrder {
  readonly _id: MessageId;
  /** The customer's number, digits; or a user id. */
  readonly to: string;
  /** The account's number that it leaves from. */
  readonly from: BusinessNumber;
  /** True for everything but templates. Allowed only while the session is open. */
  readonly freeForm: boolean;
  /** The caps of the keys that it counts for. */
  readonly caps: readonly KeyCaps[];
  /** Set when it was accepted before, in a conversation that has been refunded since. */
  readonly again?: true;
}

/**
 * The data that the decision needs. The account must be read first. If an opening is no longer in its `opening` then, the
 * documents of the conversations have it.
 */
export interface ChatState {
  readonly account:
    | (Payer & Pick<AccountDocument, '_id' | 'chats' | 'opening' | 'prices' | 'conversationMessages'>)
    | null;
  /** Of the customers and of all their aliases. */
  readonly conversations: ConversationDocuments;
}

export type ChatDecision =
  /** The message goes in a conversation that is paid for, or that an earlier decision of this list opens. */
  | { readonly kind: 'included'; readonly conversation: PaidConversation }
  | { readonly kind: 'open'; readonly opening: Opening }
  | { readonly kind: 'session_closed'; readonly closedAt: Date | undefined }
  | Refusal;

/**
 * Decides which messages open a conversation and pay for it, and which go in one. The messages are of one account, in their
 * order. Writes nothing. The openings are valid only if no other conversation of the account is opened meanwhile (`chats`
 * unchanged) and the balance is sufficient.
 */
export function decideChats(
  orders: readonly ChatOrder[],
  { account, conversations }: ChatState,
  now: Date,
  prices: ChatPrices,
): ChatDecision[] {
  const today = isoDate(now);
  // An account that may not spend credits may not send free messages either.
  const refusal = refusalOf(account, 0, today);
  if (refusal !== undefined) return orders.map(() => refusal);
  assert(account !== null, 'an account that is not there is refused');
  let { chats = 0 } = account;
  let payer: Payer = account;
  const opened = new Map<string, PaidConversation>();
  return orders.map((order): ChatDecision => {
    const person = personOf(conversations, account._id, order.to);
    const session = sessionOf(person, order.from);
    if (order.freeForm && !isSessionOpen(session, now)) {
      return { kind: 'session_closed', closedAt: sessionUntil(session) };
    }
    const running = person.names.flatMap((name) => {
      const document = conversations.get(conversationKey(account._id, name));
      return opened.get(name) ?? openConversation(name, account.opening, document, now) ?? [];
    });
    const [conversation] = running.sort((a, b) => b.until.getTime() - a.until.getTime());
    if (conversation !== undefined) return { kind: 'included', conversation };
    // Whoever wrote to any number of the account has started it: the number that we answer from makes it no dearer.
    const by = starterAt(sessionOf(person), now);
    const credits = conversationPrice(by, prices, order.to, account.prices);
    const keys = chargesOf([{ caps: order.caps, amount: credits }]);
    const refused = refusalOf(payer, credits, today, keys);
    if (refused !== undefined) return refused;
    payer = afterSpending({ ...payer, balance: payer.balance - credits }, credits, today, keys);
    chats += 1;
    // A user id gets no document where the person has one: who looks by the other names would not see it.
    const hasOwn = person.documents.some(({ customer }) => customer === order.to);
    const customer = hasOwn ? order.to : (person.documents[0]?.customer ?? order.to);
    const opening: Opening = {
      id: newId('cnv', now.getTime()),
      number: chats,
      by,
      credits,
      opener: order._id,
      group: newId('grp', now.getTime()),
      openedAt: now,
      until: conversationUntil(now),
      customer,
      ...(order.again && { again: order.again }),
    };
    opened.set(customer, opening);
    return { kind: 'open', opening };
  });
}

/** The conversation that is paid for under this number, whether its document has it already or not. */
function openConversation(
  customer: string,
  pending: Readonly<Record<string, Opening>> = {},
  document: ConversationDocument | undefined,
  now: Date,
): PaidConversation | undefined {
  const { openings: written = 0, refunded = [], current } = document ?? {};
  // If the document has the opening, the document is used, because it also says whether the opening was refunded.
  const unwritten = Object.values(pending)
    .filter(({ customer: of, number, id }) => of === customer && number > written && !refunded.includes(id))
    .sort((a, b) => a.number - b.number)
    .at(-1);
  const newest = unwritten ?? current;
  return newest !== undefined && now < newest.until ? { ...newest, customer } : undefined;
}

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
function conversationPrice(by: Starter, prices: ChatPrices, to = '', list?: PriceList): number {
  const own = list && chatPrice(list, by, prices.countryOf?.(to));
  if (own !== undefined) return own;
  return by === 'user' ? prices.userCredits : prices.businessCredits;
}
