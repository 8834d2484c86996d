import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { AccountId, MessageId } from '../../platform/runtime/ids.ts';
import { applyCredits, type Credit } from '../ledger/change.ts';
import { fateOf } from './charge.ts';
import { type Charge, chargeOf, keyOfCharge, lookAtCharges, refundOf, settleCharge } from './charge-store.ts';
import { readConversations } from './store.ts';

/**
 * Follow-up for the conversations of messages that may have ended without being taken. If an opener failed, another message that
 * was taken becomes its successor. If certainly no message was taken, the conversation is marked as refunded and its credits go back with the
 * id `ref_<conversation>`: exactly once, whoever does it and however often. It is marked void first, so later messages pay for a
 * new conversation. `messages` as stored. May be repeated after a crash.
 */
export async function giveBackRefused(db: Db, messages: readonly ChatMessageDocument[]): Promise<void> {
  const refused = messages.filter((message) => fateOf(message) === 'refused').map(chargeOf);
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
    if (opener?.opened === undefined || opener.conversation !== conversation) continue;
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

/** The messages that the conversations were charged with. */
async function readPaid(
  db: Db,
  charges: readonly Charge[],
): Promise<ReadonlyMap<MessageId, Pick<ChatMessageDocument, '_id' | 'conversation' | 'opened' | 'keys'>>> {
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find(
      { _id: { $in: charges.flatMap(({ charged }) => charged ?? []) } },
      { projection: { conversation: 1, opened: 1, keys: 1 } },
    )
    .toArray();
  return new Map(found.map((message) => [message._id, message]));
}
