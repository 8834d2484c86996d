import type { Db } from 'mongodb';
import { untilAnswered } from '../../platform/mongo/until-answered.ts';
import { type Clock, isoDate } from '../../platform/runtime/clock.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { AccountId, GroupId } from '../../platform/runtime/ids.ts';
import { errorFields, type Log } from '../../platform/runtime/log.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { chargesOf } from '../ledger/spending.ts';
import { declareOver, earliest } from '../payment/pay-by.ts';
import { OUTCOME_UNKNOWN } from './accept-outcome.ts';
import type { Answered, Arrival } from './arrival.ts';
import { type OpeningToStore, payForOpenings, storeOpenings } from './opening-store.ts';
import type { PlannedOpener } from './plan.ts';

export interface PayDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenersToPay {
  readonly account: AccountId;
  /** The value of `accounts.chats` that the decision was based on. */
  readonly chats: number | undefined;
  /** In the order of their opening numbers. */
  readonly openers: readonly PlannedOpener[];
  /** Groups of the account whose follow-up is complete: this debit clears them. */
  readonly done: readonly GroupId[];
  /** Gets the openers that an attempt with a lost answer may still pay for, whatever becomes of them here. */
  readonly mayStillPay: Set<Arrival>;
}

export interface PaidOpeners {
  /**
   * Openers without an answer must be decided again: somebody else opened a conversation, the account does not pay now, or the
   * time of another opener was over.
   */
  readonly answers: readonly Answered[];
  /** The groups that the next debit must clear. */
  readonly done: readonly GroupId[];
}

/**
 * Opens conversations: the account pays for all of them in one update, or for none. Then they are stored with their messages.
 * Rejects with the store's error when nothing was paid; then the next debit must still clear all of `done`.
 */
export async function payForOpeners(
  deps: PayDeps,
  { account, chats, openers, done, mayStillPay }: OpenersToPay,
): Promise<PaidOpeners> {
  const [first] = openers;
  if (first === undefined) return { answers: [], done };
  const { db, clock, log } = deps;
  const openings = openers.map(({ arrival, opening }) => ({
    arrival,
    opening,
    messages: arrival.again ? [] : [arrival.messageIn(opening)],
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

/**
 * Answers the openers whose own `payBy` has passed. The update used the earliest one; openers with time left are decided again.
 */
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

/**
 * Returns the groups whose follow-up is complete: all or none. Never rejects: what is paid for is stored in the account document,
 * and the maintenance finishes what fails here.
 */
async function followUp(
  { db, clock, log }: PayDeps,
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
