import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { PaidConversation } from '../accounts/opening.ts';
import type { KeyCaps } from '../ledger/spending.ts';
import type { ChatAcceptOutcome } from './accept-outcome.ts';
import type { ChatOrder } from './decide.ts';
import { type ChatDraft, isFreeForm, queuedChatMessage } from './draft.ts';

/** A message that is to be accepted (account-accepter.ts). */
export interface Arrival extends ChatOrder {
  /** From this moment of the store's time on, it is no longer accepted. */
  readonly payBy: Date | undefined;
  /** Makes the document to store when the message goes in `conversation`. */
  messageIn(conversation: PaidConversation): ChatMessageDocument;
}

/** The answer to an arrival. `failed`: nothing happened to it, for this reason. */
export type Answer = ChatAcceptOutcome | { readonly kind: 'failed'; readonly error: unknown };

export type Answered = readonly [Arrival, Answer];

/** An arrival for a new message. */
export function newArrival(
  account: AccountId,
  draft: ChatDraft,
  payBy: Date | undefined,
  caps: readonly KeyCaps[] = [],
): Arrival {
  return {
    caps,
    _id: draft._id,
    to: draft.to,
    from: draft.from,
    freeForm: isFreeForm(draft),
    payBy,
    messageIn: (conversation) => queuedChatMessage(account, draft, conversation),
  };
}

/**
 * An arrival for a message that was accepted earlier. The conversation that it belonged to has been refunded since, so it needs
 * another one before it can be sent. The message itself is stored already: it is updated, not inserted.
 */
export function returningArrival(message: ChatMessageDocument): Arrival {
  return {
    _id: message._id,
    to: message.to,
    from: message.from,
    freeForm: isFreeForm(message),
    again: true,
    // It counts for the keys again, but their caps do not refuse what was accepted once.
    caps: (message.keys ?? []).map((key) => ({ key })),
    payBy: undefined,
    messageIn: () => message,
  };
}
