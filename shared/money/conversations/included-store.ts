import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { findCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { NOW_MS } from '../../platform/mongo/store-time.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';

/**
 * Version of a placeholder: a document with the id of a message that came too late, and nothing else of it. It belongs to no
 * account, is shown to nobody, and is removed with the messages of its age. The versions of messages begin at 0.
 */
export const TOO_LATE_V = -1;

/** A final state, so that it is removed with old messages. */
const TOO_LATE = { v: TOO_LATE_V, state: 'rejected' } as const satisfies Partial<ChatMessageDocument>;

/**
 * Stores a free message before `payBy` of the store's time, or never, however long it is delayed. When it comes too late it stores
 * a placeholder, so that an earlier attempt that is still on its way finds the id taken, also on a server whose clock is behind.
 * False when it was too late. May be repeated when the answer was lost.
 */
export async function insertBy(db: Db, message: ChatMessageDocument, payBy: Date): Promise<boolean> {
  const messages = db.collection<ChatMessageDocument>('messages');
  const { _id, ...rest } = message;
  const inTime = { $lt: [NOW_MS, payBy.getTime()] };
  const fields = Object.entries(rest).map(([name, value]) => [
    name,
    { $cond: [inTime, { $literal: value }, '$$REMOVE'] },
  ]);
  const stored = {
    ...Object.fromEntries(fields),
    v: { $cond: [inTime, message.v, TOO_LATE.v] },
    state: { $cond: [inTime, message.state, TOO_LATE.state] },
  };
  let found: Pick<ChatMessageDocument, 'v'> | null;
  try {
    found = await messages.findOneAndUpdate({ _id, v: { $exists: false } }, [{ $set: stored }], {
      upsert: true,
      returnDocument: 'after',
      projection: { v: 1 },
    });
    // Some servers say nothing to one of two that insert it together.
    found ??= await findCommitted(messages, { _id }, { v: 1 });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    found = await findCommitted(messages, { _id }, { v: 1 });
  }
  return found !== null && found.v !== TOO_LATE_V;
}

/**
 * Stores a placeholder unless the message is stored: from then on nobody stores it. Do not call it for a message that is paid for
 * and not stored yet. May be repeated.
 */
export async function neverStore(db: Db, id: MessageId): Promise<void> {
  await insertNew(db, 'messages', [{ _id: id, ...TOO_LATE }]);
}
