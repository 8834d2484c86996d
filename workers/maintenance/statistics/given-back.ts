import type { Db } from 'mongodb';
import { fateOf } from '../../../shared/money/conversations/charge.ts';
import { refundOf } from '../../../shared/money/conversations/charge-store.ts';
import { ledgerCollection } from '../../../shared/money/ledger/store.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { Counted } from './tally.ts';

/**
 * The conversations that these messages opened and that were given back. Only the ledger knows: when an opener is refused, the
 * charge may also pass on to another message (shared/money/conversations/give-back.ts). Asked only for such openers, which are few.
 */
export async function givenBack(db: Db, messages: readonly Counted[]): Promise<ReadonlySet<string | undefined>> {
  const refunds = new Map<AccountId, ReturnType<typeof refundOf>[]>();
  for (const message of messages) {
    const { account, conversation, opened } = message;
    if (conversation === undefined || opened === undefined || fateOf(message) !== 'refused') continue;
    refunds.set(account, [...(refunds.get(account) ?? []), refundOf({ conversation })]);
  }
  const found = await Promise.all(
    [...refunds].map(([account, ids]) =>
      ledgerCollection(db)
        .find({ account, change: { $in: ids } }, { projection: { reference: 1 } })
        .toArray(),
    ),
  );
  return new Set(found.flat().map(({ reference }) => reference));
}
