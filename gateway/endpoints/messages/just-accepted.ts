import type { Db } from 'mongodb';
import type { ChatContent, ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { findInQueue } from '../../../shared/messages/queue/queue-store.ts';
import { readPaid } from '../../../shared/money/payment/pending.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { TextlessChatMessage, TextlessSms } from './view.ts';

/**
 * The result of `readStored`. If the message is not stored yet (its caller got the 200 before), as it was accepted: the account's
 * pending changes have it, or its line in the queue. Each place is read after the one that it comes from.
 */
export async function readAccepted<T, Unstored = TextlessSms | TextlessChatMessage>(
  db: Db,
  account: AccountId,
  id: MessageId,
  readStored: () => Promise<T | undefined>,
  shown: (message: MessageDocument | ChatMessageDocument) => Unstored,
): Promise<T | Unstored | undefined> {
  const stored = await readStored();
  if (stored !== undefined) return stored;
  for (const { messages, chatMessages } of (await readPaid(db, account)).values()) {
    const paid = [...messages, ...chatMessages].find(({ _id }) => _id === id);
    if (paid !== undefined) return shown(paid);
  }
  const waiting = await findInQueue(db, account, id);
  return waiting === undefined ? readStored() : shown(waiting);
}

export function withoutText(paid: MessageDocument | ChatMessageDocument): TextlessSms | TextlessChatMessage {
  if (paid.channel === 'chatapp') return { ...paid, content: shownContent(paid.content) };
  const { text: _, ...textless } = paid;
  return textless;
}

function shownContent(content: ChatContent): TextlessChatMessage['content'] {
  const { kind } = content;
  if (kind === 'template') return { kind, name: content.name, language: content.language };
  if (kind === 'reaction') return { kind, reactsTo: content.reactsTo };
  return 'type' in content ? { kind, type: content.type } : { kind };
}
