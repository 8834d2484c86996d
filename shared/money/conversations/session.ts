import type { Starter } from '../accounts/opening.ts';
import type { ConversationDocument } from './conversation.ts';

/** "Free-form session window: 24 hours after the customer's last message" ("Limits"). */
export const SESSION_MS = 24 * 3_600_000;
/** A conversation lasts this long from the message that opens it. */
const CONVERSATION_MS = 24 * 3_600_000;

export type Session = Pick<ConversationDocument, 'lastInboundAt'>;

/** When the customer's session ends, or ended; undefined when the customer never wrote. */
export function sessionUntil(conversation: Session | undefined): Date | undefined {
  const last = conversation?.lastInboundAt;
  return last === undefined ? undefined : new Date(last.getTime() + SESSION_MS);
}

/** Whether free-form messages may be written to the customer now. Outside the session only templates may. */
export function isSessionOpen(conversation: Session | undefined, now: Date): boolean {
  const until = sessionUntil(conversation);
  return until !== undefined && now < until;
}

/** Who counts as the starter if our message opens a conversation now. */
export function starterAt(conversation: Session | undefined, now: Date): Starter {
  return isSessionOpen(conversation, now) ? 'user' : 'business';
}

export function conversationUntil(openedAt: Date): Date {
  return new Date(openedAt.getTime() + CONVERSATION_MS);
}
