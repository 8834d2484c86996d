import type { Db } from 'mongodb';
import { mayHaveLeft } from '../../messages/document/copies.ts';
import type { MessageDocument } from '../../messages/document/message.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { creditsOf } from '../accounts/prices.ts';
import { applyCredits, type Credit } from './change.ts';

/**
 * Whether a message is refunded: it ended, and certainly no carrier accepted any part of it (refused before or at submit, or
 * expired before it left). An unknown part or an earlier copy may have been accepted, and what a carrier gave up was: no refund.
 */
export function isRefundable(message: Pick<MessageDocument, 'state' | 'parts' | 'earlier' | 'givenUp'>): boolean {
  if (mayHaveLeft(message) || message.givenUp !== undefined) return false;
  if (message.state !== 'rejected' && message.state !== 'expired') return false;
  return (message.parts ?? []).every((part) => part.state === 'refused');
}

/**
 * Refunds the refundable messages among `messages`, each exactly once by its id; one update per account. Messages that belong to
 * another refund (`refund`) are left to it. May be called again for the same messages after a crash.
 */
export async function refundMessages(db: Db, messages: readonly MessageDocument[]): Promise<void> {
  const byAccount = new Map<AccountId, Credit[]>();
  for (const message of messages) {
    if (!isRefundable(message) || message.refund !== undefined) continue;
    const credits = byAccount.get(message.account) ?? [];
    credits.push({
      id: `ref_${message._id}`,
      amount: creditsOf(message),
      reason: 'refund',
      reference: message._id,
      paid: { by: message.group, keys: message.keys },
    });
    byAccount.set(message.account, credits);
  }
  for (const [account, credits] of byAccount) await applyCredits(db, account, credits);
}
