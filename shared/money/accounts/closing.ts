import type { Db } from 'mongodb';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, Closed } from './account.ts';

/** What becomes of the credits that are left: the customer was paid for them, or they are forfeited. */
export const REMAINING = ['paid_out', 'forfeited'] as const satisfies readonly Closed['remaining'][];

/** Closes an account for good. Returns it as closed; undefined when there is none, or it was closed before. */
export async function closeAccount(
  db: Db,
  id: AccountId,
  closed: Pick<Closed, 'at' | 'by' | 'reason' | 'remaining'>,
): Promise<AccountDocument | undefined> {
  const changed = await accounts(db).findOneAndUpdate(
    { _id: id, status: { $ne: 'closed' } },
    { $set: { status: 'closed', held: true, closed: { ...closed, settleAt: closed.at } } },
    { returnDocument: 'after', projection: { pending: 0 } },
  );
  return changed ?? undefined;
}

/** Closed accounts that are due to be settled, the longest due first. */
export function findUnsettled(db: Db, now: Date): Promise<AccountDocument[]> {
  return accounts(db)
    .find(
      { 'closed.at': { $exists: true, $lte: now }, 'closed.settleAt': { $lte: now } },
      { projection: { pending: 0 } },
    )
    .sort({ 'closed.at': 1 })
    .limit(50)
    .toArray();
}

/** Something of it still waits: it is looked at again then. */
export async function settleLater(db: Db, id: AccountId, at: Date): Promise<void> {
  await accounts(db).updateOne(
    { _id: id, 'closed.settledAt': { $exists: false } },
    { $set: { 'closed.settleAt': at } },
  );
}

export async function markSettled(db: Db, id: AccountId, now: Date): Promise<void> {
  await accounts(db).updateOne({ _id: id }, { $set: { 'closed.settledAt': now }, $unset: { 'closed.settleAt': '' } });
}

/** Accounts that were closed and settled before `before`, and are not erased yet. */
export function findErasable(db: Db, before: Date): Promise<AccountDocument[]> {
  return accounts(db)
    .find(
      { 'closed.at': { $lt: before }, 'closed.settledAt': { $exists: true }, 'closed.erasedAt': { $exists: false } },
      { projection: { pending: 0 } },
    )
    .limit(50)
    .toArray();
}

/** The last step of erasing: no name, no settings, and a ledger of no entries. What is left says that there was an account. */
export async function markErased(
  db: Db,
  { _id, currency, createdAt, closed }: AccountDocument,
  now: Date,
): Promise<void> {
  if (closed === undefined) throw new Error('only a closed account can be erased');
  const { at, by, remaining, settledAt } = closed;
  await accounts(db).replaceOne(
    { _id, status: 'closed' },
    {
      ...{
        name: 'erased',
        status: 'closed',
        balance: 0,
        seq: 0,
        credits: 0,
        currency,
        expiryDate: '1970-01-01',
      },
      ...{ senders: 'registered', createdAt },
      closed: { at, by, reason: '', remaining, ...(settledAt && { settledAt }), erasedAt: now },
    },
  );
}

function accounts(db: Db) {
  return db.collection<AccountDocument>('accounts');
}
