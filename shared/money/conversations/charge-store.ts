import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { storeTrouble } from '../../platform/mongo/errors.ts';
import { findCommitted, findEachCommitted } from '../../platform/mongo/find-one.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import { type AccountId, type ConversationId, idTime, type MessageId } from '../../platform/runtime/ids.ts';
import { isApplied } from '../ledger/store.ts';
import { fateOf, judgeCharge, type Member } from './charge.ts';
import { type ConversationDocument, type ConversationKey, conversationKey } from './conversation.ts';
import { conversationCollection, ensureConversations, markRefunded, passOn } from './store.ts';

/** The charge for one conversation. */
export interface Charge {
  readonly account: AccountId;
  /** The number that the conversation was opened under, digits. */
  readonly customer: string;
  readonly conversation: ConversationId;
  /** The message that it was charged with; undefined when an older version stored the message that leads here. */
  readonly charged: MessageId | undefined;
}

/** `in_question`: its opener failed, and `settleCharge` has not decided about the charge yet. */
export type ChargeState = 'stands' | 'refunded' | 'in_question';

/** How many other decisions about a customer's conversations may come in between. Each of them means another failed opener. */
const TRIES_MAX = 1_000;
/** Page size for a conversation's other messages; most of them need not be read. */
const PAGE = 100;

/** The charge for the conversation of this message. */
export function chargeOf({
  _id,
  account,
  to,
  customer,
  conversation,
  opened,
  includedWith,
}: ChatMessageDocument): Charge {
  return { account, customer: customer ?? to, conversation, charged: opened === undefined ? includedWith : _id };
}

export function keyOfCharge({ account, customer }: Charge): ConversationKey {
  return conversationKey(account, customer);
}

/** The id of the change that refunds the charge. */
export function refundOf({ conversation }: Pick<Charge, 'conversation'>): `ref_${ConversationId}` {
  return `ref_${conversation}`;
}

/** The message that the conversation is charged with now, according to the customer's document. */
export function openerOf(
  { conversation, charged }: Charge,
  document: ConversationDocument | undefined,
): MessageId | undefined {
  return document?.successors?.findLast((successor) => successor.conversation === conversation)?.opener ?? charged;
}

/**
 * The state of each charge, by its conversation. `documents` are the customers' documents and must have been read just before.
 * Costs one more read for all charges.
 */
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
      if (document?.refunded?.includes(charge.conversation)) return [charge.conversation, 'refunded'];
      const opener = openerOf(charge, document);
      const failed = opener !== undefined && openers.get(opener)?.fate === 'refused';
      return [charge.conversation, failed ? 'in_question' : 'stands'];
    }),
  );
}

/**
 * Decides about the charge of a conversation whose opener failed, by the rule in charge.ts: another message becomes its successor, or
 * the conversation is refunded. The caller refunds the credits. Several processes may do it at once, and it may be repeated after a
 * crash.
 *
 * Why it is safe while messages are leaving: a sender first claims its message and then looks at the charge (depart.ts). Here the
 * opener's failure is stored first and the other messages are read afterwards. So either this code sees the claimed message as
 * perhaps taken, or the sender sees that the charge is in question and asks here. When two ask at once, the compare-and-set on
 * the customer's document lets one decide. What "refunded" rests on is read from a majority (platform/mongo/find-one.ts): the credits go back by it.
 */
export async function settleCharge(db: Db, charge: Charge): Promise<'stands' | 'refunded'> {
  const { account, customer, conversation } = charge;
  const key = keyOfCharge(charge);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const document = await findCommitted(conversationCollection(db), { _id: key });
    if (document === null) {
      await ensureConversations(db, [{ account, customer, at: idTime(conversation) }]);
      continue;
    }
    if (document.refunded?.includes(conversation)) return 'refunded';
    // Store the refusal before reading the others: every message that leaves later then sees it.
    const opener = openerOf(charge, document);
    const [member] = opener === undefined ? [] : await readCommitted(db, [opener]);
    const others = member?.fate === 'refused' ? await readOthers(db, conversation, member._id) : [];
    const verdict = judgeCharge(member, others);
    if (verdict.kind === 'stands') return 'stands';
    if (verdict.kind === 'refunded') {
      if (await markRefunded(db, document, conversation)) return 'refunded';
      continue;
    }
    // This was so long ago that the customer's document has forgotten it.
    if (await isApplied(db, account, refundOf(charge))) return 'refunded';
    if (await passOn(db, document, { conversation, opener: verdict.successor })) crashPoint('chat:passed_on');
  }
  throw storeTrouble(
    `${TRIES_MAX} other decisions about the conversations of ${account} with one customer came between`,
  );
}

const FATE = { state: 1, parts: 1, earlier: 1, 'fallback.ended.kind': 1 } as const;
type Read = Parameters<typeof fateOf>[0] & Pick<ChatMessageDocument, '_id'>;

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

async function readCommitted(db: Db, ids: readonly MessageId[]): Promise<readonly Member[]> {
  const found = await findEachCommitted(
    db.collection<ChatMessageDocument>('messages'),
    ids.map((_id) => ({ _id })),
  );
  return found.map(memberOf);
}

/**
 * The other messages of a conversation, up to the first one that was taken. When none was, they are read again from a majority. Those
 * accepted after `opener` come first: when openers fail one after the other, none reads again what failed before it.
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
  return readCommitted(
    db,
    others.map(({ _id }) => _id),
  );
}
