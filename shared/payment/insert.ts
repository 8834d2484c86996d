import type { Db } from 'mongodb';
import { paidBatch } from '../batches/paid-batch.ts';
import { markPaid } from '../batches/store.ts';
import type { LedgerEntryDocument } from '../ledger/entry.ts';
import type { AnyMessage } from '../messages/any-message.ts';
import { insertNew } from '../mongo/insert-new.ts';
import { Grouper } from '../runtime/grouper.ts';
import type { GroupId } from '../runtime/ids.ts';
import { storeBooked } from '../schedules/store-booked.ts';
import type { DebitRequest } from './debit.ts';

/** Inserts messages; those that are there already are left as they are (they may have moved on since). */
export async function insertMessages(db: Db, messages: readonly AnyMessage[]): Promise<void> {
  await insertNew(db, 'messages', messages);
}

/** What a debit leads to in other documents, beside its ledger entry (enter-debits.ts). */
export type PaidGroup = Pick<DebitRequest, 'group' | 'messages' | 'schedules' | 'batch'>;

/** Groups of different accounts share the round trips too: with many small accounts the debits stay single, the inserts do not. */
const GROUPS_MAX = 200;

/** Writes paid groups, many in one insert each for messages and schedules. Doing it twice writes the same. */
export function paidGroupWriter(db: Db): Grouper<PaidGroup, true> {
  return new Grouper<PaidGroup, true>({
    maxItems: GROUPS_MAX,
    gatherMs: 0,
    run: async (groups) => {
      await Promise.all([
        insertMessages(
          db,
          groups.flatMap((group) => group.messages),
        ),
        storeBooked(
          db,
          groups.flatMap((group) => group.schedules ?? []),
        ),
        ...groups.map(({ group, batch }) => batch && markPaid(db, batch.id, group)),
      ]);
      return groups.map(() => true);
    },
  });
}

/** What follows for the batches that debits paid for; `changes` may have any others among them. */
export async function markBatchesPaid(
  db: Db,
  changes: readonly Pick<LedgerEntryDocument, 'change' | 'reason' | 'reference'>[],
): Promise<void> {
  for (const change of changes) {
    const batch = paidBatch(change);
    if (batch !== undefined) await markPaid(db, batch, change.change as GroupId); // a debit's change is its group (debit.ts)
  }
}
