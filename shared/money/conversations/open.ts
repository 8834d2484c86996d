import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { Refusal } from '../ledger/refusal.ts';
import type { KeyCaps } from '../ledger/spending.ts';
import type { ChatAcceptOutcome, ConversationLimitReached, SessionClosed } from './accept-outcome.ts';
import { AccountAccepter, type ChatAccepterDeps } from './account-accepter.ts';
import { newArrival, returningArrival } from './arrival.ts';
import { type ChatPrices, decideChats } from './decide.ts';
import { type ChatDraft, isFreeForm } from './draft.ts';
import { hasPlace } from './places.ts';
import { readChatState } from './read-state.ts';

/**
 * The only way into the product for chat-app messages. The first message to a customer opens a conversation and pays for it; the
 * others go in it for free. If session or account do not allow the message, nothing is stored. Opening is a compare-and-set on
 * the account's counter `chats`, which is read before looking for an open conversation. When two gateways accept the first
 * message to a customer at once, one opens and pays, the other is included (docs/decisions/0016).
 *
 * While one group of an account is in flight, new messages wait and form the next group. If a process dies after the debit, the
 * openings are in the account document, and the maintenance finishes them (workers/maintenance/finish-pending.ts).
 */
export interface ChatAccepter {
  /**
   * Rejects with the store's error when nothing happened. With `payBy`, it is accepted before that moment of the store's time or
   * never. `caps`: of the keys that ask, if they may spend only so much.
   */
  accept(account: AccountId, draft: ChatDraft, payBy?: Date, caps?: readonly KeyCaps[]): Promise<ChatAcceptOutcome>;
  /**
   * Does the same for a message whose conversation has been refunded since. The message goes in another conversation. A refusal is
   * final: no attempt pays after it.
   */
  acceptAgain(message: ChatMessageDocument): Promise<ChatAcceptOutcome>;
}

/**
 * The most accounts that are kept in memory. Above this, idle ones are dropped, and the maintenance clears their last pending changes.
 */
const ACCOUNTS_MAX = 10_000;

export function createChatAccepter(deps: ChatAccepterDeps): ChatAccepter {
  const accepters = new Map<AccountId, AccountAccepter>();

  const accepterOf = (account: AccountId): AccountAccepter => {
    const known = accepters.get(account);
    if (known !== undefined) return known;
    if (accepters.size >= ACCOUNTS_MAX) {
      for (const [id, { idle }] of accepters) if (idle) accepters.delete(id);
    }
    const accepter = new AccountAccepter(account, deps);
    accepters.set(account, accepter);
    return accepter;
  };

  return {
    accept: (account, draft, payBy, caps) => accepterOf(account).accept(newArrival(account, draft, payBy, caps)),
    acceptAgain: (message) => accepterOf(message.account).accept(returningArrival(message)),
  };
}

/** What `accept` would answer now. Stores and charges nothing. */
export async function wouldOpen(
  db: Db,
  account: AccountId,
  draft: Pick<ChatDraft, '_id' | 'from' | 'to' | 'content'>,
  now: Date,
  prices: ChatPrices,
  caps: readonly KeyCaps[],
): Promise<
  { readonly kind: 'would_accept'; readonly credits: number } | Refusal | SessionClosed | ConversationLimitReached
> {
  const order = { _id: draft._id, to: draft.to, from: draft.from, freeForm: isFreeForm(draft), caps };
  const state = await readChatState(db, account, [order]);
  const [decision] = decideChats([order], state, now, prices);
  if (decision === undefined) return { kind: 'would_accept', credits: 0 };
  if (decision.kind === 'included') {
    const { conversationMessages: most } = state.account ?? {};
    const isPlace = most === undefined || (await hasPlace(db, decision.conversation.id, most));
    return isPlace ? { kind: 'would_accept', credits: 0 } : { kind: 'conversation_limit_reached', most };
  }
  return decision.kind === 'open' ? { kind: 'would_accept', credits: decision.opening.credits } : decision;
}
