import type { Db } from 'mongodb';
import type { ChatContent, ChatMessageDocument } from '../../shared/messages/chat-message.ts';
import type { MessageDocument } from '../../shared/messages/message.ts';
import { readPaid } from '../../shared/payment/read-paid.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { type AccountId, idTime, type MessageId } from '../../shared/runtime/ids.ts';
import type { TextlessChatMessage, TextlessSms } from './view.ts';

/**
 * How long after its acceptance a message may be paid for and not stored. Usually milliseconds; longer when its gateway died: then
 * the sweep stores it within a minute. Gateways' clocks may differ by some of this.
 */
const YOUNG_MS = 5 * 60_000;

export interface JustAcceptedDeps {
  readonly db: Db;
  readonly clock: Clock;
}

/**
 * The result of `readStored`. If a message was accepted a moment ago and is not stored yet (its caller got the 200 before), the
 * message as the account's pending changes have it. For an older id `readStored` is the only read.
 */
export async function readAccepted<T>(
  { db, clock }: JustAcceptedDeps,
  account: AccountId,
  id: MessageId,
  readStored: () => Promise<T | undefined>,
): Promise<T | TextlessSms | TextlessChatMessage | undefined> {
  const stored = await readStored();
  if (stored !== undefined || Math.abs(clock.now().getTime() - idTime(id).getTime()) > YOUNG_MS) return stored;
  for (const { messages, chatMessages } of (await readPaid(db, account)).values()) {
    const paid = [...messages, ...chatMessages].find(({ _id }) => _id === id);
    if (paid !== undefined) return withoutText(paid);
  }
  // What is no longer pending is stored.
  return readStored();
}

function withoutText(paid: MessageDocument | ChatMessageDocument): TextlessSms | TextlessChatMessage {
  if (paid.channel === 'chatapp') return { ...paid, content: shownContent(paid.content) };
  const { text: _, ...textless } = paid;
  return textless;
}

function shownContent(content: ChatContent): TextlessChatMessage['content'] {
  const { kind } = content;
  if (kind === 'template') return { kind, name: content.name, language: content.language };
  return kind === 'media' ? { kind, type: content.type } : { kind };
}
