import { CHAT_LANE, CHAT_PATH, type ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { firstDue } from '../../messages/document/draft.ts';
import { type AccountId, idDay } from '../../platform/runtime/ids.ts';
import type { PaidConversation } from '../accounts/opening.ts';

/** A chat-app message as requested: checked, not paid yet. */
export type ChatDraft = Pick<
  ChatMessageDocument,
  '_id' | 'from' | 'to' | 'content' | 'replyTo' | 'validUntil' | 'reference' | 'verification' | 'keys' | 'fallback'
>;

/** The document that an accepted draft becomes. Pure: accept and a redo after a crash write the same. */
export function queuedChatMessage(
  account: AccountId,
  draft: ChatDraft,
  { id, opener, group, credits, customer }: PaidConversation,
): ChatMessageDocument {
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
    ...(draft.replyTo !== undefined && { replyTo: draft.replyTo }),
    ...(draft.reference !== undefined && { reference: draft.reference }),
    ...(draft.verification !== undefined && { verification: draft.verification }),
    ...(draft.keys !== undefined && { keys: draft.keys }),
    ...(draft.fallback !== undefined && { fallback: draft.fallback }),
    state: 'queued',
    v: 0,
    due: firstDue(account, draft),
    validUntil: draft.validUntil,
    tries: 0,
    history: [],
  };
}

/** True for everything but templates. Allowed only inside the customer's session. */
export function isFreeForm({ content }: Pick<ChatDraft, 'content'>): boolean {
  return content.kind !== 'template';
}
