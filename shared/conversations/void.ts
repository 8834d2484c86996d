import type { Db } from 'mongodb';
import { applyCredits, type Credit } from '../credits/change.ts';
import type { ChatMessageDocument } from '../messages/chat-message.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import type { AccountId } from '../runtime/ids.ts';
import { conversationKey } from './conversation.ts';
import { voidConversation } from './store.ts';

/**
 * Gives back the conversations whose opening message, among `messages`, ended without the provider having taken it: each is
 * void, and its credits return by the id `ref_<conversation>`, exactly once whoever does it, and however often. Void
 * first: what would ride in it from now on pays for another one. May be called again for the same messages after a crash.
 */
export async function giveBackRefused(db: Db, messages: readonly ChatMessageDocument[]): Promise<void> {
  const byAccount = new Map<AccountId, Credit[]>();
  for (const message of messages) {
    const { account, conversation, opened } = message;
    if (opened === undefined || !isRefused(message)) continue;
    await voidConversation(db, conversationKey(account, message.to), conversation);
    crashPoint('chat:voided');
    const credits = byAccount.get(account) ?? [];
    credits.push({
      id: `ref_${conversation}`,
      amount: opened.credits,
      reason: 'refund',
      reference: conversation,
    });
    byAccount.set(account, credits);
  }
  for (const [account, credits] of byAccount) await applyCredits(db, account, credits);
}

/** It never left, or the provider said no. What may have been taken (accepted, unknown) opened the conversation. */
export function isRefused({ state, parts = [] }: Pick<ChatMessageDocument, 'state' | 'parts'>): boolean {
  const nothingTaken = parts.every((part) => part.state === 'refused');
  if (state === 'rejected' || state === 'expired') return nothingTaken;
  return state === 'failed' && parts.length > 0 && nothingTaken;
}
