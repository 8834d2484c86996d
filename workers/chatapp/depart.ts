import type { Db } from 'mongodb';
import type { ChatAcceptOutcome } from '../../shared/conversations/accept-outcome.ts';
import {
  type Charge,
  type ChargeState,
  chargeOf,
  keyOfCharge,
  lookAtCharges,
  openerOf,
  refundOf,
  settleCharge,
} from '../../shared/conversations/charge-store.ts';
import type { ChatAccepter } from '../../shared/conversations/open.ts';
import { isSessionOpen, sessionUntil } from '../../shared/conversations/session.ts';
import { readConversations } from '../../shared/conversations/store.ts';
import { isApplied } from '../../shared/ledger/applied.ts';
import type { ChatMessageDocument } from '../../shared/messages/chat-message.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { ConversationId, MessageId } from '../../shared/runtime/ids.ts';

/** Whether a message that was accepted earlier may leave now. */
export type Departure =
  | { readonly kind: 'go'; readonly conversation: ConversationId }
  | {
      readonly kind: 'refuse';
      readonly code: 'session_closed' | 'insufficient_credits' | 'account_suspended';
      readonly reason: string;
    };

/** Conversations that a message may go through in one look, each given back as it comes; then it is asked about again later. */
const MOVES_MAX = 10;

export interface DepartureDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly accepter: ChatAccepter;
}

/**
 * Looks again at messages that are about to be sent, and are claimed: a session may have closed while one waited, and the opener
 * of a conversation that one rides in may have failed. Then it stands for the conversation itself, or another one does; or,
 * when that was given back, it goes in another one, which it opens and pays for when there is none. Two reads for all. The
 * claim must be stored before: who decides about the conversation counts it as perhaps taken from then on (charge-store.ts).
 * Rejects with the store's error: none of them may leave then; asked again, each pays once.
 *
 * A message whose conversation was given back is changed in the store (`conversation`, `opened`, a new version): a settle
 * that decides from the copy in hand reads it again by itself. Missing in the map: not known, ask again later.
 */
export async function checkDeparture(
  deps: DepartureDeps,
  messages: readonly ChatMessageDocument[],
): Promise<Map<MessageId, Departure>> {
  if (messages.length === 0) return new Map();
  const { db, clock } = deps;
  const documents = await readConversations(
    db,
    messages.map((message) => keyOfCharge(chargeOf(message))),
  );
  const documentOf = (charge: Charge) => documents.get(keyOfCharge(charge));
  // Who opens it itself needs nobody else.
  const riders = messages.filter((message) => {
    const charge = chargeOf(message);
    return openerOf(charge, documentOf(charge)) !== message._id;
  });
  const charges = await lookAtCharges(db, riders.map(chargeOf), documents);
  const now = clock.now();
  const departures = new Map<MessageId, Departure>();
  await Promise.all(
    messages.map(async (message) => {
      const document = documentOf(chargeOf(message));
      const departure =
        message.content.kind !== 'template' && !isSessionOpen(document, now)
          ? sessionClosed(sessionUntil(document))
          : await leave(deps, message, charges.get(message.conversation) ?? 'stands');
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
  if (settled !== 'void') return { kind: 'go', conversation: message.conversation };
  if (moves === MOVES_MAX) return undefined;
  const outcome = await moveOn(deps, message);
  if (outcome?.kind !== 'accepted' || outcome.credits > 0) return outcome && departureOf(outcome);
  // It rides in one that another opened, which may have failed before this one was seen in it.
  const moved = await db.collection<ChatMessageDocument>('messages').findOne({ _id: message._id });
  return moved === null ? undefined : leave(deps, moved, await readCharge(db, moved), moves + 1);
}

/** Into another conversation. Void comes before the refund, which may be just what is short: until it is there, it is not known. */
async function moveOn(
  { db, accepter }: DepartureDeps,
  message: ChatMessageDocument,
): Promise<ChatAcceptOutcome | undefined> {
  const refunded = await isApplied(db, message.account, refundOf(message));
  const outcome = await accepter.acceptAgain(message);
  return outcome.kind === 'insufficient_credits' && !refunded ? undefined : outcome;
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
    case 'account_suspended':
      return { kind: 'refuse', code: 'account_suspended', reason: 'The account is suspended.' };
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
