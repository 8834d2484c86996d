import type { Db } from 'mongodb';
import type { AccountDocument, ChangeId, PendingChange } from '../../shared/money/accounts/account.ts';
import { storeOpenings } from '../../shared/money/conversations/pay.ts';
import { enterInLedger, ledgerEntryOf } from '../../shared/money/ledger/store.ts';
import { storePaid } from '../../shared/money/payment/follow-up.ts';
import { decodeDebits } from '../../shared/money/payment/pending.ts';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { findCommitted } from '../../shared/platform/mongo/find-one.ts';
import { REPEAT_MS } from '../../shared/platform/mongo/until-answered.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';

/**
 * Pending changes younger than this are left alone: no process may still repeat the debit, whose filter relies on the
 * pending change. A living gateway has cleared its own long before.
 */
const MIN_AGE_MS = 5 * REPEAT_MS;
/** Accounts of one read. Each can have some 50 KB of messages. */
const ACCOUNTS_MAX = 50;

type Due = Pick<AccountDocument, '_id' | 'pending'>;
type Payer = Pick<AccountDocument, '_id' | 'pending' | 'opening' | 'seq'>;

/**
 * Finishes what a dead gateway left: inserts the messages, schedules, conversations and ledger entries that were paid
 * for, hands paid batches to the workers, then clears those pending changes. Repeated, or done beside a living gateway,
 * it writes the same. Looks at every due account, because each becomes due 20 s after it has paid, whether or not
 * anything is left. Ends early when `mayGoOn` says so. Returns in how many accounts something was left. An account that
 * fails does not hold up the others: its error is thrown at the end.
 */
export async function finishPending(db: Db, clock: Clock, mayGoOn: () => boolean = () => true): Promise<number> {
  const now = clock.now();
  const before = new Date(now.getTime() - MIN_AGE_MS);
  const failed: AccountId[] = [];
  let firstError: unknown;
  let finished = 0;
  for (let more = true; more && mayGoOn(); ) {
    const due = await dueAccounts(db, before, failed);
    more = due.length === ACCOUNTS_MAX;
    const left = due.filter(({ pending }) => oldEnough(pending, before).length > 0);
    const others = due.filter((account) => !left.includes(account));
    await passOver(
      db,
      others.map(({ _id }) => _id),
      before,
      now,
    );
    for (const { _id } of left) {
      try {
        if (await finish(db, _id, before, now)) finished += 1;
      } catch (error) {
        if (isStoreTrouble(error)) throw error;
        firstError ??= error;
        failed.push(_id);
      }
    }
  }
  if (failed.length > 0) throw firstError;
  return finished;
}

async function dueAccounts(db: Db, before: Date, failed: readonly AccountId[]): Promise<readonly Due[]> {
  return db
    .collection<AccountDocument>('accounts')
    .find<Due>(
      { pendingAt: { $lte: before }, ...(failed.length > 0 && { _id: { $nin: [...failed] } }) },
      { projection: { pending: 1 } },
    )
    .sort({ pendingAt: 1 })
    .limit(ACCOUNTS_MAX)
    .toArray();
}

/** Keys of `pending` are always change ids (payment/debit.ts, ledger/change.ts). */
function oldEnough(pending: AccountDocument['pending'], before: Date): readonly [ChangeId, PendingChange][] {
  const changes = Object.entries(pending ?? {}) as [ChangeId, PendingChange][];
  return changes.filter(([, { at }]) => at <= before);
}

/**
 * For accounts of which nothing is old enough. Most have nothing pending, because their gateway cleared it: they are
 * due no more. The others are due again later. Each command's filter decides by what is stored now, so an account that
 * pays meanwhile stays due.
 */
async function passOver(db: Db, ids: readonly AccountId[], before: Date, now: Date): Promise<void> {
  if (ids.length === 0) return;
  const accounts = db.collection<AccountDocument>('accounts');
  const those = { _id: { $in: [...ids] }, pendingAt: { $lte: before } };
  await accounts.updateMany(
    { ...those, $or: [{ pending: { $exists: false } }, { pending: {} }] },
    { $unset: { pending: '', opening: '', pendingAt: '' } },
  );
  // The others have younger changes, which are looked at when they are old enough.
  await accounts.updateMany(those, { $set: { pendingAt: now } });
}

async function finish(db: Db, id: AccountId, before: Date, now: Date): Promise<boolean> {
  const accounts = db.collection<AccountDocument>('accounts');
  // Other documents, perhaps on other servers, follow from the payment: it must not be rolled back after that.
  const account: Payer | null = await findCommitted(accounts, { _id: id }, { pending: 1, opening: 1, seq: 1 });
  if (account === null) return false;
  const old = oldEnough(account.pending, before);
  const debits = [...decodeDebits(Object.fromEntries(old))];
  await storePaid(
    db,
    debits.map(([group, { messages, schedules, batch }]) => ({
      group,
      messages,
      schedules,
      batch: batch && { id: batch },
    })),
    now,
  );
  const openings = debits.flatMap(([group, { chatMessages }]) => {
    const [opening, pending] = [account.opening?.[group], account.pending?.[group]];
    return opening === undefined || pending === undefined ? [] : [{ opening, messages: chatMessages, pending }];
  });
  await storeOpenings(db, account._id, openings);
  const entries = old.map(([change, pending]) => ledgerEntryOf(account._id, change, pending));
  await enterInLedger(db, entries);
  crashPoint('pending:redone');
  await clear(
    db,
    account,
    old.map(([change]) => change),
    old.length === Object.keys(account.pending ?? {}).length,
    now,
  );
  return old.length > 0;
}

/** A busy account can have younger changes; they are looked at when they are old enough. */
async function clear(db: Db, account: Payer, finished: readonly ChangeId[], all: boolean, now: Date): Promise<void> {
  const accounts = db.collection<AccountDocument>('accounts');
  if (all) {
    const cleared = await accounts.updateOne(
      { _id: account._id, seq: account.seq },
      { $unset: { pending: '', opening: '', pendingAt: '' } },
    );
    if (cleared.matchedCount === 1) return;
  }
  const unset = Object.fromEntries(
    finished.flatMap((change) => [
      [`pending.${change}`, '' as const],
      [`opening.${change}`, '' as const],
    ]),
  );
  const later = { $set: { pendingAt: now } };
  await accounts.updateOne({ _id: account._id }, finished.length > 0 ? { ...later, $unset: unset } : later);
}
