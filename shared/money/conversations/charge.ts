import type { Db } from 'mongodb';
import type { ChatMessageDocument, FallbackEnd } from '../../messages/document/chat-message.ts';
import { mayHaveLeft } from '../../messages/document/copies.ts';
import { storeTrouble } from '../../platform/mongo/errors.ts';
import { findCommitted, findEachCommitted } from '../../platform/mongo/find-one.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import { type AccountId, type ConversationId, idTime, type MessageId } from '../../platform/runtime/ids.ts';
import { applyCredits, type Credit } from '../ledger/change.ts';
import { isApplied } from '../ledger/store.ts';
import {
  type ConversationDocument,
  type ConversationKey,
  conversationCollection,
  conversationKey,
  ensureConversations,
  markRefunded,
  passOn,
  readConversations,
} from './conversation.ts';

export interface Member {
  readonly _id: MessageId;
  /** Never left, and never will; or refused by the provider, at once or by a later status. */
  readonly isRefused: boolean;
}

export type Verdict =
  | { readonly kind: 'stands' }
  /** The opener failed, and this message was taken, or still may be. It becomes the opener; nothing is refunded. */
  | { readonly kind: 'passes_on'; readonly successor: MessageId }
  /** The provider certainly accepted no message of the conversation, and none waits. */
  | { readonly kind: 'refunded' };

/**
 * A conversation's charge stays paid while any of its messages was taken or may be taken; it is refunded when certainly
 * none was, and none will be (docs/decisions/0016). `opener`: the message that it is charged with now; undefined when
 * not stored, which proves nothing. `others`: the possible successors in order.
 */
export function judgeCharge(opener: Member | undefined, others: readonly Member[]): Verdict {
  if (opener?.isRefused !== true) return { kind: 'stands' };
  const successor = others.find(({ isRefused }) => !isRefused);
  return successor === undefined ? { kind: 'refunded' } : { kind: 'passes_on', successor: successor._id };
}

/**
 * Whether a message ended and was certainly not taken: not claimed, outcome known, no earlier copy in doubt. One whose
 * SMS went counts as refused, whatever is heard of it later, because the SMS is paid for.
 */
export function wasRefused(
  message: Pick<ChatMessageDocument, 'state' | 'parts' | 'earlier'> & {
    readonly fallback?: { readonly ended?: Pick<FallbackEnd, 'kind'> };
  },
): boolean {
  if (message.fallback?.ended?.kind === 'sent') return true;
  const { state, parts = [] } = message;
  if (mayHaveLeft(message) || parts.some((part) => part.state !== 'refused')) return false;
  return state === 'rejected' || state === 'expired' || (state === 'failed' && parts.length > 0);
}

export interface Charge {
  readonly account: AccountId;
  /** The name that the conversation was opened under. */
  readonly customer: string;
  readonly conversation: ConversationId;
  /** The message that it was charged with; undefined when an older version stored the message that leads here. */
  readonly charged: MessageId | undefined;
}

/** `in_question`: its opener failed, and `settleCharge` has not decided about the charge yet. */
export type ChargeState = 'stands' | 'refunded' | 'in_question';

/** How many other decisions about a customer's conversations may come in between: each means another failed opener. */
const TRIES_MAX = 1_000;
/** Page size for a conversation's other messages; most need not be read. */
const PAGE = 100;

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

/** By conversation. `documents`: the customers' documents, read just before. Costs one more read for all charges. */
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
      const failed = opener !== undefined && openers.get(opener)?.isRefused === true;
      return [charge.conversation, failed ? 'in_question' : 'stands'];
    }),
  );
}

/**
 * Decides about the charge of a conversation whose opener failed, by `judgeCharge`: another message becomes its
 * successor, or the conversation is refunded. The caller refunds the credits. Several processes may do it at once, and
 * it may be repeated after a crash.
 *
 * Why it is safe while messages are leaving: a sender first claims its message, then looks at the charge (depart.ts).
 * Here the opener's failure is stored before the other messages are read. So either this code sees the claimed message
 * as perhaps taken, or the sender sees that the charge is in question and asks here. When two ask at once, the
 * compare-and-set on the customer's document lets one decide. What "refunded" rests on is read from a majority
 * (platform/mongo/find-one.ts), because the credits go back by it.
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
    const others = member?.isRefused ? await readOthers(db, conversation, member._id) : [];
    const verdict = judgeCharge(member, others);
    if (verdict.kind === 'stands') return 'stands';
    if (verdict.kind === 'refunded') {
      if (await markRefunded(db, document, conversation)) return 'refunded';
      continue;
    }
    // So long ago that the customer's document has forgotten the refund.
    if (await isApplied(db, account, refundOf(charge))) return 'refunded';
    if (await passOn(db, document, { conversation, opener: verdict.successor })) crashPoint('chat:passed_on');
  }
  throw storeTrouble(
    `${TRIES_MAX} other decisions about the conversations of ${account} with one customer came between`,
  );
}

const SHOWN = { state: 1, parts: 1, earlier: 1, 'fallback.ended.kind': 1 } as const;
type Read = Parameters<typeof wasRefused>[0] & Pick<ChatMessageDocument, '_id'>;

function memberOf(message: Read): Member {
  return { _id: message._id, isRefused: wasRefused(message) };
}

async function readMembers(db: Db, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, Member>> {
  if (ids.length === 0) return new Map();
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find<Read>({ _id: { $in: [...new Set(ids)] } }, { projection: SHOWN })
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
 * The first other message of a conversation that was not refused, or else all of them, read from a majority. Those
 * accepted after `opener` come first: when openers fail one after the other, none reads again what failed before it.
 */
async function readOthers(db: Db, conversation: ConversationId, opener: MessageId): Promise<readonly Member[]> {
  const refused: MessageId[] = [];
  for (const side of [{ $gt: opener }, { $lt: opener }]) {
    const found = db
      .collection<ChatMessageDocument>('messages')
      .find<Read>(
        { conversation, _id: side },
        { projection: SHOWN, hint: { conversation: 1, _id: 1 }, batchSize: PAGE },
      )
      .sort({ _id: 1 });
    for await (const message of found) {
      const [member] = wasRefused(message) ? [] : await readCommitted(db, [message._id]);
      if (member?.isRefused === false) return [member];
      refused.push(message._id);
    }
  }
  return readCommitted(db, refused);
}

/**
 * Follow-up for the conversations of messages that may have ended without being taken. If an opener failed, another
 * message becomes its successor. If all were refused, the conversation is first marked as refunded, so that later
 * messages pay for a new one; then its credits go back as `ref_<conversation>`, exactly once. `messages`: as stored.
 * May be repeated after a crash.
 */
export async function giveBackRefused(db: Db, messages: readonly ChatMessageDocument[]): Promise<void> {
  const refused = messages.filter(wasRefused).map(chargeOf);
  if (refused.length === 0) return;
  const charges = [...new Map(refused.map((charge) => [charge.conversation, charge])).values()];
  const states = await lookAtCharges(db, charges, await readConversations(db, charges.map(keyOfCharge)));
  const lost: Charge[] = [];
  for (const charge of charges) {
    if (states.get(charge.conversation) === 'stands') continue;
    if ((await settleCharge(db, charge)) === 'stands') continue;
    crashPoint('chat:refund_decided');
    lost.push(charge);
  }
  await giveBack(db, lost);
}

async function giveBack(db: Db, charges: readonly Charge[]): Promise<void> {
  if (charges.length === 0) return;
  const paid = await readPaid(db, charges);
  const byAccount = new Map<AccountId, Credit[]>();
  for (const { account, conversation, charged } of charges) {
    const opener = charged === undefined ? undefined : paid.get(charged);
    if (opener?.opened === undefined) continue;
    const credits = byAccount.get(account) ?? [];
    credits.push({
      id: refundOf({ conversation }),
      amount: opener.opened.credits,
      reason: 'refund',
      reference: conversation,
      paid: { by: opener.opened.group, keys: opener.keys },
    });
    byAccount.set(account, credits);
  }
  for (const [account, credits] of byAccount) await applyCredits(db, account, credits);
}

async function readPaid(
  db: Db,
  charges: readonly Charge[],
): Promise<ReadonlyMap<MessageId, Pick<ChatMessageDocument, '_id' | 'opened' | 'keys'>>> {
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find({ _id: { $in: charges.flatMap(({ charged }) => charged ?? []) } }, { projection: { opened: 1, keys: 1 } })
    .toArray();
  return new Map(found.map((message) => [message._id, message]));
}
