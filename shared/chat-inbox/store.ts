import type { Collection, Db } from 'mongodb';
import { insertNew } from '../mongo/insert-new.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { InboxItemDocument } from './inbox-item.ts';

/** Items of one command: a post of 3 MB can bring 26,000, and neither we nor the store may be held up by one. */
const SLICE = 250;
/** Longer than a provider posts again: seven days (facts: chat-app). */
const KEPT_MS = 8 * 86_400_000;

/**
 * Stores what a provider posted. Items that are there already are left as they are, also those that were worked off: the same
 * post again adds nothing. May be done again when it failed.
 */
export async function keepItems(db: Db, items: readonly InboxItemDocument[]): Promise<void> {
  for (let first = 0; first < items.length; first += SLICE) {
    await insertNew(db, 'chat_inbox', items.slice(first, first + SLICE));
  }
}

/** Up to `limit` items of these accounts that are to be worked off by now, the longest due first. */
export async function dueItems(
  db: Db,
  accounts: readonly AccountId[],
  now: Date,
  limit: number,
): Promise<InboxItemDocument[]> {
  if (accounts.length === 0) return [];
  return inbox(db)
    .find({ account: { $in: [...accounts] }, due: { $lte: now } })
    .sort({ due: 1 })
    .limit(limit)
    .toArray();
}

/** They are worked off, and kept until no provider posts them again so that they are not taken again. Idempotent. */
export async function finishItems(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await inbox(db).updateMany({ _id: { $in: [...ids] } }, [
    { $set: { expiresAt: { $add: ['$at', KEPT_MS] } } },
    { $unset: 'due' },
  ]);
}

/** It cannot be worked off yet: again at `due`. One that is worked off stays so. */
export async function retryItem(db: Db, id: string, due: Date): Promise<void> {
  await inbox(db).updateOne({ _id: id, due: { $exists: true } }, { $set: { due }, $inc: { tries: 1 } });
}

function inbox(db: Db): Collection<InboxItemDocument> {
  return db.collection('chat_inbox');
}
