import assert from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db, Document } from 'mongodb';
import { mayHaveLeft } from '../../messages/document/copies.ts';
import type { MessageDocument } from '../../messages/document/message.ts';
import { storeTrouble } from '../../platform/mongo/errors.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, ChangeId, CreditNote, LedgerReason, PendingChange } from '../accounts/account.ts';
import { creditsOf } from '../accounts/prices.ts';
import { type GivenBack, givingBack } from './spending.ts';
import {
  enterInLedger,
  findChange,
  isApplied,
  type LedgerEntryDocument,
  ledgerCollection,
  ledgerEntryOf,
} from './store.ts';

/** Happens once, by its id, however often it is requested. */
export interface Credit extends CreditNote {
  readonly id: Exclude<ChangeId, `grp_${string}`>;
  /** Credits, > 0; of a correction also < 0. */
  readonly amount: number;
  readonly reason: Exclude<LedgerReason, 'send' | 'conversation'>;
  /** What the ledger entry refers to, for example the refunded message. */
  readonly reference?: string;
  /** Of a refund: the debit and keys that had paid, so that it makes room in their caps (spending.ts). */
  readonly paid?: GivenBack['paid'];
}

/** Lost races in a row before we give up. Each means that another top-up or refund of this account went through. */
const TRIES_MAX = 100;
/** A replaced primary answers reads for up to 10 s: a hundred tries with this pause outlast it. */
const STALE_PAUSE_MS = 120;

/**
 * Adds `credits` to the account, each exactly once by its id, in one atomic update of the account document. It is a
 * compare-and-set on the counter `credits`, which only top-ups and refunds raise (debits would starve them on `seq`).
 * The counter is read before checking whether an id is pending or in the ledger; if someone applies it in between, the
 * update matches nothing. Then the ledger entries are written, and the pending changes are cleared. After a crash
 * maintenance does both.
 *
 * Returns the ids that this call applied; the others had been applied before. Throws `UnknownAccount`,
 * `BalanceTooLow` when the balance would fall below 0, and the store's errors: then the call may be repeated.
 */
export async function applyCredits(db: Db, account: AccountId, credits: readonly Credit[]): Promise<readonly string[]> {
  const accounts = db.collection<AccountDocument>('accounts');
  const shown = Object.fromEntries(credits.map(({ id }) => [`pending.${id}.seq`, 1]));
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const before = await accounts.findOne({ _id: account }, { projection: { credits: 1, balance: 1, ...shown } });
    if (before === null) throw new UnknownAccount(account);
    const entered = await ledgerCollection(db)
      .find({ account, change: { $in: credits.map(({ id }) => id) } }, { projection: { change: 1 } })
      .toArray();
    const known = new Set<string>([...Object.keys(before.pending ?? {}), ...entered.map((entry) => entry.change)]);
    // For these the call says "applied before", and nobody asks again, so no failover may undo them.
    const sure = credits.filter(({ id }) => known.has(id)).map(({ id }) => isApplied(db, account, id));
    if (!(await Promise.all(sure)).every(Boolean)) {
      // The read came to a primary that was replaced; the driver needs a moment to find the new one.
      await wait(STALE_PAUSE_MS);
      continue;
    }
    // In case the caller gives an id twice.
    const todo = [...new Map(credits.map((credit) => [credit.id, credit])).values()].filter(({ id }) => !known.has(id));
    if (todo.length === 0) return [];
    const sum = todo.reduce((total, { amount }) => total + amount, 0);
    if (before.balance + sum < 0) throw new BalanceTooLow(before.balance);

    const [first] = todo;
    // Debits change the balance between the two commands, so the update checks it once more.
    const enough = sum < 0 ? { balance: { $gte: -sum } } : {};
    const after = await accounts.findOneAndUpdate(
      { _id: account, credits: before.credits, ...enough },
      creditPipeline(todo),
      { returnDocument: 'after', projection: { [`pending.${first?.id}`]: 1 } },
    );
    if (after === null) continue;
    const applied = first === undefined ? undefined : after.pending?.[first.id];
    if (applied === undefined) throw new Error(`the credit ${first?.id} was applied without its pending change`);
    crashPoint('credit:applied');
    await enterInLedger(db, entriesOf(account, todo, applied));
    crashPoint('credit:entered');
    await accounts.updateOne(
      { _id: account },
      { $unset: Object.fromEntries(todo.map(({ id }) => [`pending.${id}`, ''])) },
    );
    return todo.map(({ id }) => id);
  }
  throw storeTrouble(`${TRIES_MAX} other credits of account ${account} came between`);
}

export interface OperatorCredit extends CreditNote {
  readonly kind: 'top_up' | 'correction';
  /** Credits, not 0; of a top-up > 0. */
  readonly amount: number;
  /** Makes it happen once for the account, whatever kind or amount a second request names. */
  readonly id: string;
}

export interface CreditAnswer {
  /** `reused`: the id was applied before, with another kind or amount. */
  readonly kind: 'applied' | 'already' | 'reused';
  readonly balance: number;
  readonly reason: LedgerReason;
  readonly entered: number;
}

/** One id for top-ups and corrections, so that the account document lets only one of them happen. */
export function creditChange(id: string): Credit['id'] {
  return `crd_${id}`;
}

/** Adds credits, or takes them to put a mistake right, once by its id. Throws as `applyCredits` does. */
export async function changeCredits(
  db: Db,
  account: AccountId,
  { kind, amount, id, ...why }: OperatorCredit,
): Promise<CreditAnswer> {
  const change = creditChange(id);
  const applied = await applyCredits(db, account, [{ id: change, amount, reason: kind, reference: id, ...why }]);
  const now = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { balance: 1 } });
  const balance = now?.balance ?? 0;
  if (applied.length > 0) return { kind: 'applied', balance, reason: kind, entered: amount };
  const before = await findChange(db, account, change);
  assert(before, `the credit ${change} is applied and nowhere`);
  const { amount: entered, reason } = before;
  return { kind: reason === kind && entered === amount ? 'already' : 'reused', balance, reason, entered };
}

export function topUp(
  db: Db,
  account: AccountId,
  amount: number,
  id: string,
  why: CreditNote = {},
): Promise<CreditAnswer> {
  return changeCredits(db, account, { kind: 'top_up', amount, id, ...why });
}

/** A correction would take more credits than there are. */
export class BalanceTooLow extends Error {
  readonly code = 'balance_too_low';
  readonly balance: number;

  constructor(balance: number) {
    super(`There are only ${balance} credits.`);
    this.balance = balance;
  }
}

class UnknownAccount extends Error {
  readonly code = 'unknown_account';
  constructor(account: string) {
    super(`There is no account ${account}.`);
  }
}

/** Credits that one update applied together: their entries follow from the first one's pending change. */
function entriesOf(account: AccountId, credits: readonly Credit[], first: PendingChange): LedgerEntryDocument[] {
  let balanceAfter = first.balanceAfter - first.amount;
  return credits.map(({ id, ...credit }, i) => {
    balanceAfter += credit.amount;
    return ledgerEntryOf(account, id, { ...credit, seq: first.seq + i, balanceAfter, at: first.at });
  });
}

/** One object for all: hundreds of dotted paths cost the store ten times as much. */
function creditPipeline(credits: readonly Credit[]): Document[] {
  const changes: Record<string, unknown> = {};
  let sum = 0;
  credits.forEach(({ id, amount, reason, reference, note, by }, i) => {
    sum += amount;
    changes[id] = {
      seq: { $add: ['$seq', i + 1] },
      amount,
      balanceAfter: { $add: ['$balance', sum] },
      reason,
      at: '$$NOW',
      ...(reference === undefined ? {} : { reference: { $literal: reference } }),
      ...(note === undefined ? {} : { note: { $literal: note } }),
      ...(by === undefined ? {} : { by: { $literal: by } }),
    } satisfies { readonly [_ in keyof PendingChange]: unknown };
  });
  return [
    {
      $set: {
        pending: { $mergeObjects: ['$pending', changes] },
        balance: { $add: ['$balance', sum] },
        seq: { $add: ['$seq', credits.length] },
        credits: { $add: ['$credits', 1] },
        pendingAt: { $ifNull: ['$pendingAt', '$$NOW'] },
        ...givingBack(credits),
      },
    },
  ];
}

/**
 * A message is refunded if it ended, and certainly no carrier accepted any part of it (refused, or expired before it
 * left). An unknown part or an earlier copy may have been accepted, and a message that a carrier gave up was: no
 * refund.
 */
export function isRefundable(message: Pick<MessageDocument, 'state' | 'parts' | 'earlier' | 'givenUp'>): boolean {
  if (mayHaveLeft(message) || message.givenUp !== undefined) return false;
  if (message.state !== 'rejected' && message.state !== 'expired') return false;
  return (message.parts ?? []).every((part) => part.state === 'refused');
}

/** Each once by its id; one update per account. Skips messages with another `refund`. May be repeated. */
export async function refundMessages(db: Db, messages: readonly MessageDocument[]): Promise<void> {
  const byAccount = new Map<AccountId, Credit[]>();
  for (const message of messages) {
    if (!isRefundable(message) || message.refund !== undefined) continue;
    const credits = byAccount.get(message.account) ?? [];
    credits.push({
      id: `ref_${message._id}`,
      amount: creditsOf(message),
      reason: 'refund',
      reference: message._id,
      paid: { by: message.group, keys: message.keys },
    });
    byAccount.set(message.account, credits);
  }
  for (const [account, credits] of byAccount) await applyCredits(db, account, credits);
}
