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
 * The maintenance finishes a pending change only after this age. By then no process can still be repeating the debit, whose
 * filter relies on the pending change. A living gateway has cleared its own changes long before.
 */
const MIN_AGE_MS = 5 * REPEAT_MS;
/** The most accounts that are read at once. Each can have some 50 KB of messages. */
const ACCOUNTS_MAX = 50;

/** The fields that are read of every due account (`Due`), and of an account in which something is left (`Payer`). */
type Due = Pick<AccountDocument, '_id' | 'pending'>;
type Payer = Pick<AccountDocument, '_id' | 'pending' | 'opening' | 'seq'>;

/**
 * Finishes what a dead gateway left: inserts the messages, schedules, conversations and ledger entries that were paid
 * for, hands paid batches to the workers, then clears those pending changes. Repeating it, or doing it at the same
 * time as a living gateway, writes the same. Looks at every account that is due. Each account is due 20 s after it has
 * paid, whether anything is left in it or not, so an account with something left may be behind many without. Ends early
 * when `mayGoOn` says so. Returns in how many accounts something was left. An account that fails does not hold up the others: its
 * error is thrown at the end.
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

/** The accounts that have waited longest. */
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

/** The pending changes that are old enough. Keys of `pending` are always change ids (payment/debit.ts, ledger/change.ts). */
function oldEnough(pending: AccountDocument['pending'], before: Date): readonly [ChangeId, PendingChange][] {
  const changes = Object.entries(pending ?? {}) as [ChangeId, PendingChange][];
  return changes.filter(([, { at }]) => at <= before);
}

/**
 * For accounts of which nothing is old enough. Most have nothing pending any more, because their gateway has cleared it: they leave
 * the maintenance. The others are due again later. One command for each kind; its filter decides by what is stored now, so an
 * account that pays meanwhile stays in its turn.
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

/** Finishes what is old enough of one account. Returns whether something was left. */
async function finish(db: Db, id: AccountId, before: Date, now: Date): Promise<boolean> {
  const accounts = db.collection<AccountDocument>('accounts');
  // What follows goes to other documents, perhaps on other servers: the payment must not be rolled back behind it.
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

/** Removes the finished changes. A busy account can have younger ones; they are looked at when they are old enough. */
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
