import type { Db } from 'mongodb';
import { providersOf } from '../../shared/carriers/providers/store.ts';
import { type Change, entryAt } from '../../shared/messages/document/change.ts';
import type { BusinessNumber, ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { mayHaveLeft, NOT_REFUNDED, UNCONFIRMED } from '../../shared/messages/document/copies.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { queuedFromOthers } from './claim.ts';
import type { HeldPartition } from './held-partition.ts';

/**
 * Ends what waits to leave from numbers that the account has no more: nothing would send it. It was never claimed, so it is refunded
 * where no earlier copy may have left. `known`: the account's numbers as they were read last; they are read again before anything is
 * refused, because one of them may be new. Returns how many messages ended. More may wait.
 */
export async function refuseRemoved(
  db: Db,
  clock: Clock,
  partition: Pick<HeldPartition, 'unknowns'>,
  account: AccountId,
  known: readonly BusinessNumber[],
): Promise<number> {
  if ((await queuedFromOthers(db, account, known)).length === 0) return 0;
  const own = await providersOf(db, [account]);
  const stray = await queuedFromOthers(
    db,
    account,
    own.map(({ _id }) => _id),
  );
  const now = clock.now();
  const settled = await partition.unknowns.settle(
    stray.map((message) => ({ message, decide: (stored: ChatMessageDocument) => removed(stored, now) })),
  );
  return settled.filter((message) => message !== undefined).length;
}

/** Undefined when it does not wait any more. */
function removed(message: ChatMessageDocument, now: Date): Change | undefined {
  if (message.state !== 'queued') return undefined;
  const mayHave = mayHaveLeft(message);
  const state = mayHave ? 'failed' : 'rejected';
  const reason = `The account's number ${message.from} was removed before the message could leave.`;
  return {
    state,
    set: {
      errorCode: mayHave ? UNCONFIRMED : 'number_removed',
      errorReason: mayHave ? `${reason} ${NOT_REFUNDED}` : reason,
    },
    unset: ['due'],
    entries: [entryAt(state, now, message.history)],
  };
}
