import type { Db } from 'mongodb';
import { isApplied } from '../credits/applied.ts';
import type { ChatMessageDocument } from '../messages/chat-message.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ConversationId, MessageId } from '../runtime/ids.ts';
import type { ChatAcceptOutcome } from './accept-outcome.ts';
import { conversationKey } from './conversation.ts';
import type { ChatAccepter } from './open.ts';
import { isSessionOpen, sessionUntil } from './session.ts';
import { readConversations } from './store.ts';
import { isRefused } from './void.ts';

/** Whether a message that was accepted earlier may leave now. */
export type Departure =
  | { readonly kind: 'go'; readonly conversation: ConversationId }
  | {
      readonly kind: 'refuse';
      readonly code: 'session_closed' | 'insufficient_credits' | 'account_suspended';
      readonly reason: string;
    };

export interface DepartureDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly accepter: ChatAccepter;
}

/**
 * Looks again at messages that are about to be sent: a session may have closed while one waited, and a conversation that one
 * rode in may have been given back. Then it goes in another one, which it opens and pays for when there is none. Two reads
 * for all. Rejects with the store's error: none of them may leave then; asked again, each pays once.
 *
 * A message whose conversation was given back is changed in the store (`conversation`, `opened`, a new version): a settle
 * that decides from the copy in hand reads it again by itself. Missing in the map: not known, ask again later.
 */
export async function checkDeparture(
  { db, clock, accepter }: DepartureDeps,
  messages: readonly ChatMessageDocument[],
): Promise<Map<MessageId, Departure>> {
  if (messages.length === 0) return new Map();
  const keyOf = ({ account, to }: ChatMessageDocument) => conversationKey(account, to);
  const conversations = await readConversations(db, messages.map(keyOf));
  const now = clock.now();
  const departures = new Map<MessageId, Departure>();
  const moving: ChatMessageDocument[] = [];
  const openerOf = (message: ChatMessageDocument): MessageId | undefined => {
    const current = conversations.get(keyOf(message))?.current;
    return current?.id === message.conversation && current.opener !== message._id ? current.opener : undefined;
  };
  const lost = await lostOpeners(
    db,
    messages.flatMap((message) => openerOf(message) ?? []),
    now,
  );
  for (const message of messages) {
    const opener = openerOf(message);
    if (opener !== undefined && lost.has(opener)) continue;
    const document = conversations.get(keyOf(message));
    const isVoid = document?.voided?.includes(message.conversation) === true;
    if (message.content.kind !== 'template' && !isSessionOpen(document, now)) {
      departures.set(message._id, sessionClosed(sessionUntil(document)));
    } else if (!isVoid) {
      departures.set(message._id, { kind: 'go', conversation: message.conversation });
    } else {
      moving.push(message);
    }
  }
  await Promise.all(
    moving.map(async (message) => {
      const departure = await moveOn(db, accepter, message);
      if (departure !== undefined) departures.set(message._id, departure);
    }),
  );
  return departures;
}

/**
 * Openers that will never leave, or ended without having left: their conversations are about to be given back, by the maintenance
 * perhaps. What rides in one would leave for nothing until then.
 */
async function lostOpeners(db: Db, ids: readonly MessageId[], now: Date): Promise<ReadonlySet<MessageId>> {
  if (ids.length === 0) return new Set();
  const openers = await db
    .collection<ChatMessageDocument>('messages')
    .find(
      { _id: { $in: [...new Set(ids)] }, opened: { $exists: true } },
      { projection: { state: 1, parts: 1, validUntil: 1 } },
    )
    .toArray();
  const lost = openers.filter((opener) => {
    const waits = opener.state === 'queued' || opener.state === 'waiting';
    return isRefused(opener) || (waits && opener.validUntil <= now);
  });
  return new Set(lost.map(({ _id }) => _id));
}

/** Into another conversation. Void comes before the refund, which may be just what is short: until it is there, it is not known. */
async function moveOn(db: Db, accepter: ChatAccepter, message: ChatMessageDocument): Promise<Departure | undefined> {
  const refunded = await isApplied(db, message.account, `ref_${message.conversation}`);
  const outcome = await accepter.acceptAgain(message);
  if (outcome.kind === 'insufficient_credits' && !refunded) return undefined;
  return departureOf(outcome);
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
