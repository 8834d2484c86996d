import type { OpenConversation } from '../accounts/opening.ts';
import type { ChatMessageDocument } from '../messages/chat-message.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { ChatAcceptOutcome } from './accept-outcome.ts';
import type { ChatOrder } from './decide.ts';
import { type ChatDraft, isFreeForm, queuedChatMessage } from './draft.ts';

/** A message that wants to be accepted (account-accepter.ts). */
export interface Arrival extends ChatOrder {
  /** By the store's time: from then on it is not accepted any more. */
  readonly payBy: Date | undefined;
  /** As it is stored when it goes in `conversation`. */
  messageIn(conversation: OpenConversation): ChatMessageDocument;
}

/** What an arrival is told; `failed`: nothing happened to it, for this reason. */
export type Answer = ChatAcceptOutcome | { readonly kind: 'failed'; readonly error: unknown };

export type Answered = readonly [Arrival, Answer];

/** It comes for the first time. */
export function newArrival(account: AccountId, draft: ChatDraft, payBy: Date | undefined): Arrival {
  return {
    _id: draft._id,
    to: draft.to,
    freeForm: isFreeForm(draft),
    payBy,
    messageIn: (conversation) => queuedChatMessage(account, draft, conversation),
  };
}

/** It was accepted, in a conversation that was given back since. It is stored, so it is updated, never inserted again. */
export function returningArrival(message: ChatMessageDocument): Arrival {
  return {
    _id: message._id,
    to: message.to,
    freeForm: isFreeForm(message),
    again: true,
    payBy: undefined,
    messageIn: () => message,
  };
}
