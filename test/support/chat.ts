import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { recordInbound } from '../../shared/money/conversations/conversation.ts';
import type { ChatDraft } from '../../shared/money/conversations/decide.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { NUMBER } from './chatapp.ts';

export const CHAT_PRICES = { userCredits: 1, businessCredits: 2 };

/** A template message, which may also be sent outside the session. */
export function makeTemplateDraft(overrides: Partial<ChatDraft> = {}): ChatDraft {
  return {
    _id: newId('msg'),
    from: NUMBER,
    to: '919876543210',
    content: { kind: 'template', name: 'order_update', language: 'en', params: ['Asha'] },
    validUntil: new Date(Date.now() + 48 * 3_600_000),
    ...overrides,
  };
}

/** A free-form text, which may only be sent inside the session. */
export function makeTextDraft(overrides: Partial<ChatDraft> = {}): ChatDraft {
  return makeTemplateDraft({ content: { kind: 'text', text: 'hello' }, ...overrides });
}

export async function customerWrites(db: Db, account: AccountId, customer: string, at = new Date()): Promise<void> {
  await recordInbound(db, [{ account, customer, number: NUMBER, at }]);
}

export function chatMessagesOf(db: Db, account: AccountId): Promise<ChatMessageDocument[]> {
  return db.collection<ChatMessageDocument>('messages').find({ account }).sort({ _id: 1 }).toArray();
}
