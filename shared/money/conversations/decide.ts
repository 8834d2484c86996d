import assert from 'node:assert/strict';
import { CHAT_LANE, CHAT_PATH, type ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { firstDue } from '../../messages/document/message.ts';
import { isoDate } from '../../platform/runtime/clock.ts';
import { defined } from '../../platform/runtime/defined.ts';
import { type AccountId, type ConversationId, idDay, newId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, PaidConversation } from '../accounts/account.ts';
import { chatPrice, type PriceList, type Starter } from '../accounts/prices.ts';
import { afterSpending, chargesOf, type KeyCaps, type Payer, type Refusal, refusalOf } from '../ledger/spending.ts';
import {
  type ConversationDocument,
  conversationKey,
  conversationUntil,
  isSessionOpen,
  sessionUntil,
  starterAt,
} from './conversation.ts';
import { type ConversationDocuments, personOf, sessionOf } from './person.ts';

export type ChatAcceptOutcome =
  /** `credits`: the price of this message, 0 inside a paid conversation. `balance`: present when it paid. */
  | {
      readonly kind: 'accepted';
      readonly conversation: ConversationId;
      readonly credits: number;
      readonly balance?: number;
    }
  /** `mayStillPay`: the answer to an attempt was lost, and it may still pay until `payBy`. */
  | ((Refusal | SessionClosed | ConversationLimitReached) & { readonly mayStillPay?: true })
  | { readonly kind: 'outcome_unknown' };

export interface SessionClosed {
  readonly kind: 'session_closed';
  /** Undefined: the customer never wrote. */
  readonly closedAt: Date | undefined;
}

/** The conversation has as many messages of ours as the account allows. */
export interface ConversationLimitReached {
  readonly kind: 'conversation_limit_reached';
  readonly most: number;
}

export const OUTCOME_UNKNOWN = { kind: 'outcome_unknown' } as const;

export type ChatDraft = Pick<
  ChatMessageDocument,
  '_id' | 'from' | 'to' | 'content' | 'replyTo' | 'validUntil' | 'reference' | 'verification' | 'keys' | 'fallback'
>;

/** Pure: accept and a redo after a crash write the same. */
export function queuedChatMessage(
  account: AccountId,
  draft: ChatDraft,
  { id, opener, group, credits, customer }: PaidConversation,
): ChatMessageDocument {
  const { replyTo, reference, verification, keys, fallback } = draft;
  return {
    _id: draft._id,
    channel: 'chatapp',
    direction: 'out',
    account,
    day: idDay(draft._id),
    conversation: id,
    ...(opener === draft._id ? { opened: { group, credits } } : { includedWith: opener }),
    from: draft.from,
    to: draft.to,
    ...(customer !== draft.to && { customer }),
    path: CHAT_PATH,
    lane: CHAT_LANE,
    content: draft.content,
    ...defined({ replyTo, reference, verification, keys, fallback }),
    state: 'queued',
    v: 0,
    due: firstDue(account, draft),
    validUntil: draft.validUntil,
    tries: 0,
    history: [],
  };
}

/** The fields that decide about payment. Free-form messages may be sent only in an open session. */
export interface ChatOrder extends Pick<ChatDraft, '_id' | 'to' | 'from' | 'content'> {
  /** The caps of the keys that it counts for. */
  readonly caps: readonly KeyCaps[];
}

/** A message to be accepted (open.ts). `payBy`: from this moment of the store's time on, it is no longer accepted. */
export interface Arrival extends ChatDraft, ChatOrder {
  readonly payBy: Date | undefined;
}

/** `failed`: nothing happened to the arrival, for this reason. */
export type Answer = ChatAcceptOutcome | { readonly kind: 'failed'; readonly error: unknown };

export type Answered = readonly [Arrival, Answer];

/** The account is read first: an opening that has left its `opening` is then in the conversations. */
export interface ChatState {
  readonly account:
    | (Payer & Pick<AccountDocument, '_id' | 'chats' | 'opening' | 'prices' | 'conversationMessages'>)
    | null;
  readonly conversations: ConversationDocuments;
}

export type ChatDecision =
  /** The message goes in a conversation that is paid for, or that an earlier decision of this list opens. */
  | { readonly kind: 'included'; readonly conversation: PaidConversation }
  | { readonly kind: 'open'; readonly opening: PaidConversation }
  | { readonly kind: 'session_closed'; readonly closedAt: Date | undefined }
  | Refusal;

/**
 * Decides which messages open a conversation and pay for it, and which go in one. The messages are of one account, in
 * their order. The openings are valid only if no other conversation of the account is opened meanwhile (`chats`
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
    if (order.content.kind !== 'template' && !isSessionOpen(session, now)) {
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
    // A user id gets no document where the person has one: a reader by the other names would not see it.
    const hasOwn = person.documents.some(({ customer }) => customer === order.to);
    const customer = hasOwn ? order.to : (person.documents[0]?.customer ?? order.to);
    const opening: PaidConversation = {
      id: newId('cnv', now.getTime()),
      number: chats,
      by,
      credits,
      opener: order._id,
      group: newId('grp', now.getTime()),
      openedAt: now,
      until: conversationUntil(now),
      customer,
    };
    opened.set(customer, opening);
    return { kind: 'open', opening };
  });
}

/** The conversation that is paid for under this name, whether its document has it already or not. */
function openConversation(
  customer: string,
  pending: Readonly<Record<string, PaidConversation>> = {},
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

/** In credits: settings HARKARA_CHAT_USER_CREDITS and HARKARA_CHAT_BUSINESS_CREDITS. */
export interface ChatPrices {
  readonly userCredits: number;
  readonly businessCredits: number;
  readonly countryOf?: (to: string) => string | undefined;
}

/**
 * By the account's price list, or else the settings, depending on who started the conversation (docs/decisions/0016).
 * It is charged once, with our message that opens it. Customers' messages are never charged.
 */
function conversationPrice(by: Starter, prices: ChatPrices, to = '', list?: PriceList): number {
  const own = list && chatPrice(list, by, prices.countryOf?.(to));
  if (own !== undefined) return own;
  return by === 'user' ? prices.userCredits : prices.businessCredits;
}

export interface PlannedOpener {
  readonly arrival: Arrival;
  readonly opening: PaidConversation;
}

export interface PlannedInclusion {
  readonly arrival: Arrival;
  readonly conversation: PaidConversation;
}

/** In order. Leaves out arrivals that must wait until this group has paid for their conversation. */
export function planOf(arrivals: readonly Arrival[], decisions: readonly ChatDecision[]) {
  const openers: PlannedOpener[] = [];
  const included: PlannedInclusion[] = [];
  const refused: Answered[] = [];
  arrivals.forEach((arrival, i) => {
    const decision = decisions[i];
    if (decision?.kind === 'open') openers.push({ arrival, opening: decision.opening });
    else if (decision?.kind !== 'included') refused.push([arrival, decision ?? OUTCOME_UNKNOWN]);
    else if (!openers.some(({ opening }) => opening.id === decision.conversation.id)) {
      included.push({ arrival, conversation: decision.conversation });
    }
  });
  return { openers, included, refused };
}
