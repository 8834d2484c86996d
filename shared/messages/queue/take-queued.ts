import type { Db, Filter } from 'mongodb';
import { findEachCommitted } from '../../platform/mongo/find-one.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';
import type { AnyMessage } from '../document/any-message.ts';
import type { Claim } from '../document/message.ts';
import { enter } from '../document/status.ts';

const SUBMITTING = enter('queued', 'submitting');

/**
 * Claims messages that are in `messages`: one update moves those that are still `queued` to `submitting`, and stamps each with the
 * claim. When two workers want the same message, one gets it. Returns the messages that this claim has, as they are after it.
 *
 * May be repeated with the same claim when an answer was lost: what a first try took is returned too, and what was given back since is
 * not taken again. `sure`: for a repeat. What is returned is then stored by a majority, so that no failover undoes the claim and
 * another worker sends the message too.
 */
export async function takeQueued<M extends AnyMessage>(
  db: Db,
  ids: readonly MessageId[],
  claim: Claim,
  { filter = {}, sure = false }: { readonly filter?: Filter<AnyMessage>; readonly sure?: boolean } = {},
): Promise<M[]> {
  if (ids.length === 0) return [];
  const messages = db.collection<AnyMessage>('messages');
  const { modifiedCount } = await messages.updateMany(
    { ...filter, _id: { $in: [...ids] }, state: 'queued', 'claim.id': { $ne: claim.id } },
    { $set: { state: SUBMITTING, claim }, $inc: { v: 1 } },
  );
  if (modifiedCount > 0) crashPoint('claim:taken');
  const taken = { 'claim.id': claim.id, state: SUBMITTING } as const;
  const found = sure || modifiedCount === 0 ? [] : await messages.find({ _id: { $in: [...ids] }, ...taken }).toArray();
  // A primary that was just replaced may show fewer.
  const isAll = !sure && found.length >= modifiedCount;
  const all = isAll
    ? found
    : await findEachCommitted(
        messages,
        ids.map((_id) => ({ _id, ...taken })),
      );
  return all as M[]; // a message never changes its channel
}
