import type { Db } from 'mongodb';
import { isApplied } from '../ledger/applied.ts';
import type { ChatMessageDocument } from '../messages/chat-message.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import type { AccountId, ConversationId, MessageId } from '../runtime/ids.ts';
import { fateOf, judgeCharge, type Member } from './charge.ts';
import { type ConversationDocument, type ConversationKey, conversationKey } from './conversation.ts';
import { ensureConversations, passOn, readConversations, voidConversation } from './store.ts';

/** What was paid for one conversation. */
export interface Charge {
  readonly account: AccountId;
  /** The customer's number, digits. */
  readonly customer: string;
  readonly conversation: ConversationId;
  /** The message that it was charged with; undefined when the message that told of it was stored by an older version. */
  readonly charged: MessageId | undefined;
}

/** `in_question`: its opener failed, and what becomes of it is to be decided (`settleCharge`). */
export type ChargeState = 'stands' | 'void' | 'in_question';

/** Decisions about one customer's conversations that may come between; each is another opener that failed. */
const TRIES_MAX = 1_000;
/** Of a conversation's other messages, most of which need not be read. */
const PAGE = 100;

/** Of the conversation that the message goes in. */
export function chargeOf({ _id, account, to, conversation, opened, rides }: ChatMessageDocument): Charge {
  return { account, customer: to, conversation, charged: opened === undefined ? rides : _id };
}

export function keyOfCharge({ account, customer }: Charge): ConversationKey {
  return conversationKey(account, customer);
}

/** The id of the change that gives it back. */
export function refundOf({ conversation }: Pick<Charge, 'conversation'>): `ref_${ConversationId}` {
  return `ref_${conversation}`;
}

/** Who stands for it now, as the customer's document says. */
export function openerOf(
  { conversation, charged }: Charge,
  document: ConversationDocument | undefined,
): MessageId | undefined {
  return document?.heirs?.findLast((heir) => heir.conversation === conversation)?.opener ?? charged;
}

/** How charges stand, by their conversations. `documents` are the customers', as they were just read. One more read for all. */
export async function lookAtCharges(
  db: Db,
  charges: readonly Charge[],
  documents: ReadonlyMap<ConversationKey, ConversationDocument>,
): Promise<ReadonlyMap<ConversationId, ChargeState>> {
  const documentOf = (charge: Charge) => documents.get(keyOfCharge(charge));
  const openers = await readMembers(
    db,
    charges.flatMap((charge) => openerOf(charge, documentOf(charge)) ?? []),
  );
  return new Map(
    charges.map((charge) => {
      const document = documentOf(charge);
      if (document?.voided?.includes(charge.conversation)) return [charge.conversation, 'void'];
      const opener = openerOf(charge, document);
      const failed = opener !== undefined && openers.get(opener)?.fate === 'refused';
      return [charge.conversation, failed ? 'in_question' : 'stands'];
    }),
  );
}

/**
 * Decides what becomes of a conversation whose opener failed, by the one rule (charge.ts), until somebody stands for it or it is
 * void; giving the credits back is the caller's. May be done by many at once, and again after a crash.
 *
 * What makes it safe beside messages that are leaving: each is claimed first and looks at the charge then (depart.ts), and
 * here the opener's failure is stored first and the others are read then. So either it is seen here as perhaps taken, or it
 * sees there that the charge is in question, and asks here. Of two who ask, the customer's document lets one decide.
 */
export async function settleCharge(db: Db, charge: Charge): Promise<'stands' | 'void'> {
  const { account, customer, conversation } = charge;
  const key = keyOfCharge(charge);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const document = (await readConversations(db, [key])).get(key);
    if (document === undefined) {
      await ensureConversations(db, [{ account, customer }]);
      continue;
    }
    if (document.voided?.includes(conversation)) return 'void';
    // In this order: who was refused before the others are read is seen by each of them that leaves afterwards.
    const opener = openerOf(charge, document);
    const member = opener === undefined ? undefined : (await readMembers(db, [opener])).get(opener);
    const others = member?.fate === 'refused' ? await readOthers(db, conversation, member._id) : [];
    const verdict = judgeCharge(member, others);
    if (verdict.kind === 'stands') return 'stands';
    if (verdict.kind === 'void') {
      if (await voidConversation(db, document, conversation)) return 'void';
      continue;
    }
    // So long ago that the document has forgotten it.
    if (await isApplied(db, account, refundOf(charge))) return 'void';
    if (await passOn(db, document, { conversation, opener: verdict.heir })) crashPoint('chat:passed_on');
  }
  throw new Error(`${TRIES_MAX} other decisions about the conversations of ${account} with one customer came between`);
}

const FATE = { state: 1, parts: 1, earlier: 1 } as const;
type Read = Pick<ChatMessageDocument, '_id' | keyof typeof FATE>;

function memberOf(message: Read): Member {
  return { _id: message._id, fate: fateOf(message) };
}

async function readMembers(db: Db, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, Member>> {
  if (ids.length === 0) return new Map();
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find<Read>({ _id: { $in: [...new Set(ids)] } }, { projection: FATE })
    .toArray();
  return new Map(found.map((message) => [message._id, memberOf(message)]));
}

/**
 * The other messages of a conversation, those accepted after `opener` first, up to the first that was taken: when openers fail
 * one after the other, none of them reads again what failed before it.
 */
async function readOthers(db: Db, conversation: ConversationId, opener: MessageId): Promise<readonly Member[]> {
  const others: Member[] = [];
  for (const side of [{ $gt: opener }, { $lt: opener }]) {
    const found = db
      .collection<ChatMessageDocument>('messages')
      .find<Read>({ conversation, _id: side }, { projection: FATE, hint: { conversation: 1, _id: 1 }, batchSize: PAGE })
      .sort({ _id: 1 });
    for await (const message of found) {
      const member = memberOf(message);
      others.push(member);
      if (member.fate === 'taken') return others;
    }
  }
  return others;
}
