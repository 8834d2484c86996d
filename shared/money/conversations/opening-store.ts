import type { Collection, Db, Document } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { findCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { type SingleUpdate, updateEach } from '../../platform/mongo/update-each.ts';
import type { AccountId, GroupId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, PendingChange } from '../accounts/account.ts';
import type { Opening, PaidConversation } from '../accounts/opening.ts';
import { payerFilter } from '../ledger/refusal.ts';
import { type KeyCharge, spending } from '../ledger/spending.ts';
import { enterInLedger, ledgerEntryOf } from '../ledger/store.ts';
import { inTime } from '../payment/pay-by.ts';
import { DECIDED, type Decided, encodeOpening, openingEntry } from '../payment/pending.ts';
import { conversationKey } from './conversation.ts';
import { ensureConversations } from './store.ts';

/** A conversation to pay for, with the messages stored with it: the opener and the included messages. */
export interface PaidOpening {
  readonly opening: Opening;
  readonly messages: readonly ChatMessageDocument[];
}

export interface OpeningDebit {
  readonly account: AccountId;
  /** The value of `accounts.chats` that the decision was based on. */
  readonly chats: number | undefined;
  /** At least one opening, in the order of their numbers. */
  readonly openings: readonly PaidOpening[];
  /** UTC day, for the expiry of the credits. */
  readonly today: string;
  /** Groups of the account whose follow-up is complete: this update clears them. */
  readonly done: readonly GroupId[];
  /** From this moment of the store's time on, the update is refused, however long it was delayed. */
  readonly payBy: Date | undefined;
  /** What they take of the caps of keys. */
  readonly keys: readonly KeyCharge[];
}

/**
 * The one atomic update that opens conversations: the account pays for all of them and carries their messages, or nothing
 * happens. May be repeated when the answer was lost: `chats` has risen then, and the change is recognized by its group. Each
 * conversation gets its own ledger entry.
 *
 * Undefined means that nothing happened: somebody else has opened a conversation since, the account cannot pay, or `payBy` has
 * passed. Only if the account alone prevented it can the same update still succeed later.
 */
export async function payForOpenings(
  accounts: Collection<AccountDocument>,
  debit: OpeningDebit,
): Promise<readonly PendingChange[] | undefined> {
  const { account, chats, openings, today, payBy, keys } = debit;
  const groups = openings.map(({ opening }) => opening.group);
  const required = openings.reduce((sum, { opening }) => sum + opening.credits, 0);
  const projection = Object.fromEntries(
    groups.flatMap((group) => DECIDED.map((name) => [`pending.${group}.${name}`, 1])),
  );
  const after =
    (await accounts.findOneAndUpdate(
      {
        _id: account,
        chats: chats ?? { $exists: false },
        ...payerFilter(required, today, keys),
        ...inTime(payBy),
      },
      openingPipeline(debit, required),
      { returnDocument: 'after', projection },
    )) ?? (await findCommitted(accounts, { _id: account }, projection));
  const paid = openings.flatMap(({ opening }) => {
    const decided = after?.pending?.[opening.group];
    return decided === undefined ? [] : [{ ...decided, ...openingEntry(opening) }];
  });
  return paid.length === groups.length ? paid : undefined;
}

/**
 * Ends every attempt to open a conversation that was decided with this `chats` or an earlier one and is still on its way. True:
 * those that paid were in the read that showed `chats`, and no other will pay. False when another conversation was opened since.
 * One atomic update of the account; may be repeated.
 */
export async function endAttempts(
  accounts: Collection<AccountDocument>,
  account: AccountId,
  chats: number | undefined,
): Promise<boolean> {
  const { matchedCount } = await accounts.updateOne(
    { _id: account, chats: chats ?? { $exists: false } },
    { $inc: { chats: 1 } },
  );
  return matchedCount === 1;
}

function openingPipeline({ openings, done, today, keys }: OpeningDebit, required: number): Document[] {
  const pending: Record<string, unknown> = {};
  const opening: Record<string, Opening> = {};
  let spent = 0;
  openings.forEach((one, i) => {
    const { group, credits } = one.opening;
    spent += credits;
    const decided = {
      seq: { $add: ['$seq', i + 1] },
      balanceAfter: { $subtract: ['$balance', spent] },
      at: '$$NOW',
    } satisfies Record<Decided, unknown>;
    pending[group] = { ...decided, ...encodeOpening(one.opening, one.messages) };
    opening[group] = one.opening;
  });
  // One object for all: dotted paths are slower in the store (money/ledger/change.ts).
  const set = {
    $set: {
      balance: { $subtract: ['$balance', required] },
      seq: { $add: ['$seq', openings.length] },
      chats: { $add: [{ $ifNull: ['$chats', 0] }, openings.length] },
      pendingAt: { $ifNull: ['$pendingAt', '$$NOW'] },
      pending: { $mergeObjects: ['$pending', pending] },
      opening: { $mergeObjects: ['$opening', { $literal: opening }] },
      ...spending(required, today, keys),
    },
  };
  if (done.length === 0) return [set];
  return [set, { $unset: done.flatMap((group) => [`pending.${group}`, `opening.${group}`]) }];
}

/** A paid opening, as carried by the account's update. */
export interface OpeningToStore extends PaidOpening {
  readonly pending: PendingChange;
}

/**
 * Follow-up of paid openings: first the customers' documents, then the messages and the ledger entries. In this order, anyone who
 * finds a message also finds its conversation. Repeating it writes the same, even late: an opening never overwrites a newer one
 * and never restores a refunded one.
 */
export async function storeOpenings(db: Db, account: AccountId, paid: readonly OpeningToStore[]): Promise<void> {
  if (paid.length === 0) return;
  const openings = paid.map(({ opening }) => opening);
  const updates = openings.map((opening) => currentUpdate(account, opening));
  if ((await updateEach(db, 'conversations', updates)) < updates.length) {
    await ensureConversations(
      db,
      openings.map(({ customer, openedAt: at }) => ({ account, customer, at })),
    );
    await updateEach(db, 'conversations', updates);
  }
  await insertNew(
    db,
    'messages',
    paid.flatMap(({ messages }) => messages),
  );
  const again = openings.filter((opening) => opening.again);
  await updateEach(
    db,
    'messages',
    again.map((opening) => openerUpdate(opening)),
  );
  await enterInLedger(
    db,
    paid.map(({ opening, pending }) => ledgerEntryOf(account, opening.group, pending)),
  );
}

function currentUpdate(account: AccountId, opening: Opening): SingleUpdate {
  const { customer, again: _, ...current } = opening;
  return {
    filter: {
      _id: conversationKey(account, customer),
      refunded: { $ne: opening.id },
      $or: [{ openings: { $exists: false } }, { openings: { $lt: opening.number } }],
    },
    update: { $set: { current, openings: opening.number } },
  };
}

/** The update of an opener that is stored already, in another conversation. It matches only once. */
export function openerUpdate({ opener, id, group, credits, customer }: PaidConversation): SingleUpdate {
  const other = { $cond: [{ $eq: ['$to', customer] }, '$$REMOVE', { $literal: customer }] };
  return {
    filter: { _id: opener, 'opened.group': { $ne: group } },
    update: [
      { $set: { conversation: id, opened: { group, credits }, customer: other, v: { $add: ['$v', 1] } } },
      { $unset: 'includedWith' },
    ],
  };
}
