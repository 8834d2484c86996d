import type { Collection, Db, Document } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { findCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { untilAnswered } from '../../platform/mongo/until-answered.ts';
import { type SingleUpdate, updateEach } from '../../platform/mongo/update-each.ts';
import { isoDate } from '../../platform/runtime/clock.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { AccountId, GroupId } from '../../platform/runtime/ids.ts';
import { errorFields } from '../../platform/runtime/log.ts';
import type { AccountDocument, PaidConversation, PendingChange } from '../accounts/account.ts';
import { chargesOf, type KeyCharge, payerFilter, spending } from '../ledger/spending.ts';
import { enterInLedger, ledgerEntryOf } from '../ledger/store.ts';
import { declareOver, earliest, inTime } from '../payment/debit.ts';
import { DECIDED, type Decided, encodeOpening, openingEntry } from '../payment/pending.ts';
import { conversationKey, ensureConversations } from './conversation.ts';
import { type Answered, type Arrival, OUTCOME_UNKNOWN, type PlannedOpener, queuedChatMessage } from './decide.ts';
import type { ChatDeps } from './include.ts';

export interface OpenersToPay {
  readonly account: AccountId;
  /** The value of `accounts.chats` that the decision was based on. */
  readonly chats: number | undefined;
  readonly openers: readonly PlannedOpener[];
  /** Groups of the account whose follow-up is complete: this debit clears them. */
  readonly done: readonly GroupId[];
  /** Gets the openers that an attempt with a lost answer may still pay for. */
  readonly mayStillPay: Set<Arrival>;
}

export interface PaidOpeners {
  /** Openers without an answer must be decided again: another opening, the account or a `payBy` came between. */
  readonly answers: readonly Answered[];
  readonly done: readonly GroupId[];
}

/**
 * Opens conversations: the account pays for all of them in one update, or for none; then they are stored with their
 * messages. Rejects with the store's error when nothing was paid; then the next debit must still clear all of `done`.
 */
export async function payForOpeners(
  deps: ChatDeps,
  { account, chats, openers, done, mayStillPay }: OpenersToPay,
): Promise<PaidOpeners> {
  const [first] = openers;
  if (first === undefined) return { answers: [], done };
  const { db, clock, log } = deps;
  const openings = openers.map(({ arrival, opening }) => ({
    arrival,
    opening,
    messages: [queuedChatMessage(account, arrival, opening)],
  }));
  const payBy = earliest(openers.map(({ arrival }) => arrival.payBy));
  const keys = chargesOf(openers.map(({ arrival: { caps }, opening: { credits: amount } }) => ({ caps, amount })));
  const debit = { account, chats, openings, today: isoDate(clock.now()), done, payBy, keys };
  const what = { account, group: first.opening.group };
  const accounts = db.collection<AccountDocument>('accounts');
  let repeated = false;
  const asked = await untilAnswered({ clock, log, what }, () => {
    if (repeated) for (const { arrival } of openers) mayStillPay.add(arrival);
    repeated = true;
    return payForOpenings(accounts, debit);
  });
  // Unless this debit certainly cleared them, the next one clears them (again).
  if (asked === 'unknown') return { answers: openers.map(({ arrival }) => [arrival, OUTCOME_UNKNOWN]), done };
  const { answer: changes } = asked;
  if (changes === undefined) return { answers: payBy ? await tooLate(db, account, openers, payBy) : [], done };
  const paid = openings.flatMap((one, i) => {
    const pending = changes[i];
    return pending === undefined ? [] : [{ ...one, pending }];
  });
  crashPoint('chat:paid');
  const followedUp = await followUp(deps, account, paid);
  crashPoint('chat:stored');
  return {
    answers: paid.map(({ arrival, opening: { id, credits }, pending }) => [
      arrival,
      { kind: 'accepted', conversation: id, credits, balance: pending.balanceAfter },
    ]),
    done: followedUp,
  };
}

/** Answers the openers whose own `payBy` has passed. The update used the earliest; the others are decided again. */
async function tooLate(
  db: Db,
  account: AccountId,
  openers: readonly PlannedOpener[],
  payBy: Date,
): Promise<readonly Answered[]> {
  if (!(await declareOver(db, account, payBy))) return [];
  return openers
    .filter(({ arrival }) => arrival.payBy !== undefined && arrival.payBy <= payBy)
    .map(({ arrival }) => [arrival, { kind: 'too_late' }]);
}

/** The finished groups: all or none. Never rejects: maintenance finishes what is paid for and fails here. */
async function followUp(
  { db, clock, log }: ChatDeps,
  account: AccountId,
  paid: readonly OpeningToStore[],
): Promise<readonly GroupId[]> {
  const groups = paid.map(({ opening }) => opening.group);
  const what = { account, group: groups[0] };
  try {
    const asked = await untilAnswered({ clock, log, what }, () => storeOpenings(db, account, paid));
    return asked === 'unknown' ? [] : groups;
  } catch (error) {
    log.warn('follow_up_failed', { ...what, ...errorFields(error) });
    return [];
  }
}

interface PaidOpening {
  readonly opening: PaidConversation;
  readonly messages: readonly ChatMessageDocument[];
}

interface OpeningDebit extends Pick<OpenersToPay, 'account' | 'chats' | 'done'> {
  /** At least one opening, in the order of their numbers. */
  readonly openings: readonly PaidOpening[];
  /** UTC day, for the expiry of the credits. */
  readonly today: string;
  /** From this moment of the store's time on, the update is refused, however long it was delayed. */
  readonly payBy: Date | undefined;
  readonly keys: readonly KeyCharge[];
}

/**
 * The one atomic update that opens conversations: the account pays for all of them and carries their messages, or
 * nothing happens. May be repeated when the answer was lost: `chats` has risen then, and the change is recognized by
 * its group. Each conversation gets its own ledger entry.
 *
 * Undefined: nothing happened, because somebody else opened a conversation since, the account cannot pay, or `payBy`
 * has passed. Only if the account alone prevented it can the same update still succeed later.
 */
async function payForOpenings(
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

function openingPipeline({ openings, done, today, keys }: OpeningDebit, required: number): Document[] {
  const pending: Record<string, unknown> = {};
  const opening: Record<string, PaidConversation> = {};
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

interface OpeningToStore extends PaidOpening {
  readonly pending: PendingChange;
}

/**
 * Follow-up of paid openings: first the customers' documents, then the messages and the ledger entries, so that anyone
 * who finds a message also finds its conversation. May be repeated, even late: an opening never overwrites a newer one
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
  await enterInLedger(
    db,
    paid.map(({ opening, pending }) => ledgerEntryOf(account, opening.group, pending)),
  );
}

function currentUpdate(account: AccountId, opening: PaidConversation): SingleUpdate {
  const { customer, ...current } = opening;
  return {
    filter: {
      _id: conversationKey(account, customer),
      refunded: { $ne: opening.id },
      $or: [{ openings: { $exists: false } }, { openings: { $lt: opening.number } }],
    },
    update: { $set: { current, openings: opening.number } },
  };
}
