import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import {
  type Charge,
  chargeOf,
  keyOfCharge,
  lookAtCharges,
  openerOf,
  settleCharge,
} from '../../shared/money/conversations/charge.ts';
import { conversationKey, isSessionOpen, sessionUntil } from '../../shared/money/conversations/conversation.ts';
import { personOf, readCustomers, sessionOf } from '../../shared/money/conversations/person.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { MessageId } from '../../shared/platform/runtime/ids.ts';

export type Departure =
  | { readonly kind: 'go' }
  | {
      readonly kind: 'refuse';
      readonly code: 'session_closed' | 'conversation_refunded' | 'recipient_not_opted_in';
      readonly reason: string;
    };

/**
 * Checks claimed messages again before they are sent. A message may have waited until its session closed. If the opener
 * of its conversation failed, this or another included message becomes the one that the conversation is charged with.
 * If the conversation was refunded already (the message was accepted at that very moment), the message does not leave:
 * nobody pays for it.
 *
 * Two reads for all messages together, one more for customers with aliases. Their claims must be stored first: from
 * then on, decisions about their conversations count them as perhaps sent (charge.ts).
 *
 * Rejects with the store's error. Then none of the messages may leave. Asking again is safe.
 */
export async function checkDeparture(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  messages: readonly ChatMessageDocument[],
): Promise<Map<MessageId, Departure>> {
  if (messages.length === 0) return new Map();
  const documents = await readCustomers(
    db,
    messages.flatMap((message) => [keyOfCharge(chargeOf(message)), conversationKey(message.account, message.to)]),
  );
  const documentOf = (charge: Charge) => documents.get(keyOfCharge(charge));
  // A message that opens its conversation depends on no other message.
  const includedMessages = messages.filter((message) => {
    const charge = chargeOf(message);
    return openerOf(charge, documentOf(charge)) !== message._id;
  });
  const charges = await lookAtCharges(db, includedMessages.map(chargeOf), documents);
  const now = clock.now();
  const departures = messages.map(async (message): Promise<[MessageId, Departure]> => {
    const session = sessionOf(personOf(documents, message.account, message.to), message.from);
    if (message.content.kind !== 'template' && !isSessionOpen(session, now)) {
      return [message._id, sessionClosed(sessionUntil(session))];
    }
    const charge = charges.get(message.conversation) ?? 'stands';
    const settled = charge === 'in_question' ? await settleCharge(db, chargeOf(message)) : charge;
    return [message._id, settled === 'refunded' ? REFUNDED : { kind: 'go' }];
  });
  return new Map(await Promise.all(departures));
}

const REFUNDED: Departure = {
  kind: 'refuse',
  code: 'conversation_refunded',
  reason: 'The message that opened its conversation failed, and the conversation was given back.',
};

function sessionClosed(closedAt: Date | undefined): Departure {
  const when = closedAt === undefined ? '' : ` It closed at ${closedAt.toISOString()}.`;
  return {
    kind: 'refuse',
    code: 'session_closed',
    reason: `The session closed before the message could leave.${when}`,
  };
}
