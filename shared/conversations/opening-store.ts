import type { Collection, Db, Document } from 'mongodb';
import type { AccountDocument, PendingChange } from '../accounts/account.ts';
import type { OpenConversation, Opening } from '../accounts/opening.ts';
import { payerFilter } from '../ledger/refusal.ts';
import { enterInLedger, ledgerEntryOf } from '../ledger/store.ts';
import type { ChatMessageDocument } from '../messages/chat-message.ts';
import { insertNew } from '../mongo/insert-new.ts';
import { type SingleUpdate, updateEach } from '../mongo/update-each.ts';
import { DECIDED, type Decided, encodeOpening, openingEntry } from '../payment/pending.ts';
import type { AccountId, GroupId } from '../runtime/ids.ts';
import { conversationKey } from './conversation.ts';
import { ensureConversations } from './store.ts';

/** A conversation to be paid for, with the messages that are stored with it: the opener, and others that ride in it. */
export interface PaidOpening {
  readonly opening: Opening;
  readonly messages: readonly ChatMessageDocument[];
}

export interface OpeningDebit {
  readonly account: AccountId;
  /** `accounts.chats` as the openings were decided from. */
  readonly chats: number | undefined;
  /** In the order of their numbers, one or more. */
  readonly openings: readonly PaidOpening[];
  /** UTC day, for the expiry of the credits. */
  readonly today: string;
  /** Groups of the account that are followed up in full: they are cleared on the way. */
  readonly done: readonly GroupId[];
  /** By the store's time: from then on it is refused, wherever it was held up. */
  readonly payBy: Date | undefined;
}

/**
 * The one atomic update that opens conversations: the account pays for all of them and carries their messages, or nothing
 * happens. Undefined: somebody else opened one since, or the account cannot pay, or `payBy` is over; then it will never
 * happen either, unless the account alone stood in the way. May be asked again when the answer was lost: `chats` has
 * risen then, and the change is recognised by its group. Each conversation is a ledger entry of its own.
 */
export async function payForOpenings(
  accounts: Collection<AccountDocument>,
  debit: OpeningDebit,
): Promise<readonly PendingChange[] | undefined> {
  const { account, chats, openings, today, payBy } = debit;
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
        ...payerFilter(required, today),
        ...(payBy === undefined ? {} : { $expr: { $lt: ['$$NOW', payBy] } }),
      },
      openingPipeline(debit, required),
      { returnDocument: 'after', projection },
    )) ?? (await accounts.findOne({ _id: account }, { projection }));
  const paid = openings.flatMap(({ opening }) => {
    const decided = after?.pending?.[opening.group];
    return decided === undefined ? [] : [{ ...decided, ...openingEntry(opening) }];
  });
  return paid.length === groups.length ? paid : undefined;
}

function openingPipeline({ openings, done }: OpeningDebit, required: number): Document[] {
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
  // One object for all: dotted paths cost the store more (ledger/change.ts).
  const set = {
    $set: {
      balance: { $subtract: ['$balance', required] },
      seq: { $add: ['$seq', openings.length] },
      chats: { $add: [{ $ifNull: ['$chats', 0] }, openings.length] },
      pendingAt: { $ifNull: ['$pendingAt', '$$NOW'] },
      pending: { $mergeObjects: ['$pending', pending] },
      opening: { $mergeObjects: ['$opening', { $literal: opening }] },
    },
  };
  if (done.length === 0) return [set];
  return [set, { $unset: done.flatMap((group) => [`pending.${group}`, `opening.${group}`]) }];
}

/** An opening that was paid for: what the account's update carries of it. */
export interface OpeningToStore extends PaidOpening {
  readonly pending: PendingChange;
}

/**
 * What follows for openings of an account: the customers' documents name them, then the messages and the ledger entries are
 * stored; in this order, so that whoever finds a message finds its conversation too. Doing it twice, also late, writes the
 * same: an opening is never written over a newer one, nor back after it was given back.
 */
export async function storeOpenings(db: Db, account: AccountId, paid: readonly OpeningToStore[]): Promise<void> {
  if (paid.length === 0) return;
  const openings = paid.map(({ opening }) => opening);
  const updates = openings.map((opening) => currentUpdate(account, opening));
  if ((await updateEach(db, 'conversations', updates)) < updates.length) {
    await ensureConversations(
      db,
      openings.map(({ customer }) => ({ account, customer })),
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
      voided: { $ne: opening.id },
      $or: [{ openings: { $exists: false } }, { openings: { $lt: opening.number } }],
    },
    update: { $set: { current, openings: opening.number } },
  };
}

/** The message that opened it was stored before, for another one. Matches once. */
export function openerUpdate({ opener, id, group, credits }: OpenConversation): SingleUpdate {
  return {
    filter: { _id: opener, 'opened.group': { $ne: group } },
    update: { $set: { conversation: id, opened: { group, credits } }, $unset: { rides: '' }, $inc: { v: 1 } },
  };
}
