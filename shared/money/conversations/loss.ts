import type { Collection, Db } from 'mongodb';
import type { AccountId, ConversationId, MessageId } from '../../platform/runtime/ids.ts';

/**
 * A conversation that costs the operator more than it earned: customers pay it once, and the provider takes money for each message.
 * Written by whoever counts the hours (workers/maintenance/statistics/losses.ts).
 */
export interface LossDocument {
  /** Ids have the time at which a conversation was opened. */
  readonly _id: ConversationId;
  readonly account: AccountId;
  /** The message that opened it. */
  readonly opener: MessageId;
  /** Messages that the provider took money for. */
  readonly messages: number;
  readonly credits: number;
  /** The rest in millionths of `currency`. */
  readonly currency: string;
  readonly earned: number;
  readonly cost: number;
  readonly countedAt: Date;
  readonly expiresAt: Date;
}

export function lossCollection(db: Db): Collection<LossDocument> {
  return db.collection('conversation_losses');
}

/** The newest conversations first, of one account or of all. */
export async function listLosses(
  db: Db,
  account: AccountId | undefined,
  before: ConversationId | undefined,
  limit: number,
): Promise<readonly LossDocument[]> {
  return lossCollection(db)
    .find({ ...(account && { account }), ...(before && { _id: { $lt: before } }) })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}
