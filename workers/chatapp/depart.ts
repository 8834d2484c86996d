import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { ChatAcceptOutcome } from '../../shared/money/conversations/accept-outcome.ts';
import {
  type Charge,
  type ChargeState,
  chargeOf,
  keyOfCharge,
  lookAtCharges,
  openerOf,
  refundOf,
  settleCharge,
} from '../../shared/money/conversations/charge-store.ts';
import { conversationKey, isSessionOpen, sessionUntil } from '../../shared/money/conversations/conversation.ts';
import type { ChatAccepter } from '../../shared/money/conversations/open.ts';
import { personOf, readCustomers, sessionOf } from '../../shared/money/conversations/person.ts';
import { readConversations } from '../../shared/money/conversations/store.ts';
import { isApplied } from '../../shared/money/ledger/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { ConversationId, MessageId } from '../../shared/platform/runtime/ids.ts';

/** Whether a claimed message may leave now. */
export type Departure =
  | { readonly kind: 'go'; readonly conversation: ConversationId }
  | {
      readonly kind: 'refuse';
      readonly code: 'session_closed' | 'insufficient_credits' | 'account_suspended' | 'recipient_not_opted_in';
      readonly reason: string;
    };

/**
 * How many conversations a message tries to join in one check. Each of them may be refunded meanwhile. After that the
 * message is undecided, and is checked again later.
 */
const MOVES_MAX = 10;

export interface DepartureDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly accepter: ChatAccepter;
}

/**
 * Checks messages again when they are claimed and about to be sent. A message may have waited until its session
 * closed. A message that goes in a conversation may find that the opener failed. Then this message, or another
 * included message, becomes the one that the conversation is charged with. If the conversation was refunded already, the message
 * joins another conversation, or opens and pays for a new one.
 *
 * Two reads for all messages together, one more for customers with aliases. Their claims must be stored first: from
 * then on, decisions about their conversations count them as perhaps sent (charge-store.ts).
 *
 * Rejects with the store's error. Then none of the messages may leave. Asking again is safe: each message pays once.
 *
 * A message that moved to another conversation is changed in the store (`conversation`, `opened`, a new version). A
 * settle that begins with the old copy reads it again by itself. A message that is missing in the result is
 * undecided; ask again later.
 */
export async function checkDeparture(
  deps: DepartureDeps,
  messages: readonly ChatMessageDocument[],
): Promise<Map<MessageId, Departure>> {
  if (messages.length === 0) return new Map();
  const { db, clock } = deps;
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
  const departures = new Map<MessageId, Departure>();
  await Promise.all(
    messages.map(async (message) => {
      const session = sessionOf(personOf(documents, message.account, message.to), message.from);
      const charge = charges.get(message.conversation) ?? 'stands';
      // If the conversation is refunded, an earlier check may have begun to pay for another one. `leave` finishes that, even if the
      // session has closed since.
      const departure =
        charge !== 'refunded' && message.content.kind !== 'template' && !isSessionOpen(session, now)
          ? sessionClosed(sessionUntil(session))
          : await leave(deps, message, charge);
      if (departure !== undefined) departures.set(message._id, departure);
    }),
  );
  return departures;
}

async function leave(
  deps: DepartureDeps,
  message: ChatMessageDocument,
  charge: ChargeState,
  moves = 0,
): Promise<Departure | undefined> {
  const { db } = deps;
  const settled = charge === 'in_question' ? await settleCharge(db, chargeOf(message)) : charge;
  if (settled !== 'refunded') return { kind: 'go', conversation: message.conversation };
  if (moves === MOVES_MAX) return undefined;
  const outcome = await moveOn(deps, message);
  if (outcome?.kind !== 'accepted' || outcome.credits > 0) return outcome && departureOf(outcome);
  // The message goes in a conversation that another message opened. That opener may have failed before this one
  // was seen.
  const moved = await db.collection<ChatMessageDocument>('messages').findOne({ _id: message._id });
  return moved === null ? undefined : leave(deps, moved, await readCharge(db, moved), moves + 1);
}

/**
 * Moves the message into another conversation. A conversation becomes void before its credits are back. So if credits
 * are short, the decision waits until the refund is there; and also while an attempt whose answer was lost may still pay.
 */
async function moveOn(
  { db, accepter }: DepartureDeps,
  message: ChatMessageDocument,
): Promise<ChatAcceptOutcome | undefined> {
  const refunded = await isApplied(db, message.account, refundOf(message));
  const outcome = await accepter.acceptAgain(message);
  if ('mayStillPay' in outcome) return undefined;
  const isShort = outcome.kind === 'insufficient_credits' || outcome.kind === 'spend_limit_reached';
  return isShort && !refunded ? undefined : outcome;
}

async function readCharge(db: Db, message: ChatMessageDocument): Promise<ChargeState> {
  const charge = chargeOf(message);
  const states = await lookAtCharges(db, [charge], await readConversations(db, [keyOfCharge(charge)]));
  return states.get(charge.conversation) ?? 'stands';
}

function departureOf(outcome: ChatAcceptOutcome): Departure | undefined {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'go', conversation: outcome.conversation };
    case 'session_closed':
      return sessionClosed(outcome.closedAt);
    case 'insufficient_credits':
      return {
        kind: 'refuse',
        code: 'insufficient_credits',
        reason: `The conversation it was in was given back; another one costs ${outcome.required} credits, ${outcome.balance} are available.`,
      };
    case 'credits_expired':
      return {
        kind: 'refuse',
        code: 'insufficient_credits',
        reason: `The conversation it was in was given back, and the credits for another one expired on ${outcome.expiryDate}.`,
      };
    case 'spend_limit_reached':
      return {
        kind: 'refuse',
        code: 'insufficient_credits',
        reason: `The conversation it was in was given back, and another one would go beyond the account's spending cap of ${outcome.cap} credits.`,
      };
    case 'account_suspended':
      return { kind: 'refuse', code: 'account_suspended', reason: 'The account is suspended.' };
    // The limit is not asked about what was accepted before.
    case 'conversation_limit_reached':
    case 'too_late':
    case 'outcome_unknown':
      return undefined;
  }
}

function sessionClosed(closedAt: Date | undefined): Departure {
  const when = closedAt === undefined ? '' : ` It closed at ${closedAt.toISOString()}.`;
  return {
    kind: 'refuse',
    code: 'session_closed',
    reason: `The session closed before the message could leave.${when}`,
  };
}
