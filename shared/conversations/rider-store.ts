import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../messages/chat-message.ts';
import { isDuplicateKey } from '../mongo/errors.ts';

/** Version of a message that came too late, until it is removed again. The versions of other messages begin at 0. */
export const TOO_LATE_V = -1;

/**
 * Stores a free message before `payBy` of the store's time, or never, however long it is delayed. An insert cannot check the
 * clock. So when it comes too late, it stores a message that can never leave, and removes it again. False when it was too late.
 * May be repeated when the answer was lost.
 */
export async function insertBy(db: Db, message: ChatMessageDocument, payBy: Date): Promise<boolean> {
  const messages = db.collection<ChatMessageDocument>('messages');
  const { _id, ...rest } = message;
  const inTime = { $lt: ['$$NOW', payBy] };
  const fields = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, { $literal: value }]));
  const stored = {
    ...fields,
    v: { $cond: [inTime, message.v, TOO_LATE_V] },
    state: { $cond: [inTime, message.state, 'rejected'] },
  };
  let found: Pick<ChatMessageDocument, 'v'> | null;
  try {
    found = await messages.findOneAndUpdate({ _id, v: { $exists: false } }, [{ $set: stored }], {
      upsert: true,
      returnDocument: 'after',
      projection: { v: 1 },
    });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    found = await messages.findOne({ _id }, { projection: { v: 1 } });
  }
  if (found !== null && found.v !== TOO_LATE_V) return true;
  await messages.deleteOne({ _id, v: TOO_LATE_V });
  return false;
}
