import type { Db } from 'mongodb';
import { listNumbers, removeNumber } from '../../shared/carriers/numbers/store.ts';
import { removeProvidersOf } from '../../shared/carriers/providers/store.ts';
import { disableEndpoint, listEndpoints } from '../../shared/events/webhooks/endpoint-store.ts';
import { batchCollection, beginStop } from '../../shared/messages/batch.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { firstWaitingOf } from '../../shared/messages/schedule.ts';
import type { AccountDocument, Closed } from '../../shared/money/accounts/account.ts';
import { findAccount, findUnsettled, markSettled, settleLater } from '../../shared/money/accounts/store.ts';
import { BalanceTooLow, changeCredits } from '../../shared/money/ledger/change.ts';
import { cancelSchedule } from '../../shared/money/payment/cancel-schedule.ts';
import { revokeKeysOf } from '../../shared/people/keys/store.ts';
import { disableUser, listUsers } from '../../shared/people/users/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, lowestId } from '../../shared/platform/runtime/ids.ts';

/** Longer than any message may wait: HARKARA_MESSAGE_VALIDITY_HOURS is 168 at most, and a schedule's validity begins with its release. */
const LONGEST_WAIT_MS = 8 * 86_400_000;
/** What was paid just before is a message, or at least a line that is overdue, after this time. */
const LAST_DEBITS_MS = 60_000;
const AGAIN_MS = 10 * 60_000;
const NOTES = {
  paid_out: 'Account closed: the remaining credits were paid out',
  forfeited: 'Account closed: the remaining credits are forfeited',
} as const satisfies Record<Closed['remaining'], string>;

/**
 * What follows from the closing of an account (shared/money/accounts/store.ts). Each step may be done again, so one that a killed process
 * has begun is done by the next. Returns how many accounts were settled.
 */
export async function closeAccounts(db: Db, clock: Clock, mayGoOn: () => boolean): Promise<number> {
  let settled = 0;
  for (const { _id, closed } of await findUnsettled(db, clock.now())) {
    if (!mayGoOn() || closed === undefined) break;
    await switchOff(db, _id);
    await cancelBooked(db, clock, _id, mayGoOn);
    const now = clock.now();
    const isEarly = now.getTime() < closed.at.getTime() + LAST_DEBITS_MS;
    if (isEarly || (await isAnythingWaiting(db, _id, now)) || !(await settle(db, _id, closed))) {
      await settleLater(db, _id, new Date(now.getTime() + (isEarly ? LAST_DEBITS_MS : AGAIN_MS)));
      continue;
    }
    await markSettled(db, _id, now);
    settled += 1;
  }
  return settled;
}

/** Gateways let nobody in since it was closed. This is for those who look at its keys, users, webhooks and numbers later. */
async function switchOff(db: Db, account: AccountId): Promise<void> {
  await revokeKeysOf(db, account);
  for (const { _id, status } of await listUsers(db, account)) if (status !== 'disabled') await disableUser(db, _id);
  for (const { _id } of await listEndpoints(db, account)) await disableEndpoint(db, _id, 'the account is closed');
  for (const { number, keyword } of await listNumbers(db, account, NUMBERS_MAX))
    await removeNumber(db, number, keyword);
  await removeProvidersOf(db, account);
}

/** More than any account has; those beyond it go with the next look. */
const NUMBERS_MAX = 10_000;

/** Schedules are cancelled and batches stopped, each with its refund. */
async function cancelBooked(db: Db, clock: Clock, account: AccountId, mayGoOn: () => boolean): Promise<void> {
  for (let id = await firstWaitingOf(db, account); id !== undefined && mayGoOn(); ) {
    await cancelSchedule(db, clock, account, id);
    id = await firstWaitingOf(db, account);
  }
  const since = lowestId('bat', new Date(clock.now().getTime() - LONGEST_WAIT_MS));
  const batches = batchCollection(db)
    .find({ account, _id: { $gte: since }, state: { $in: ['paid', 'split'] } }, { projection: { _id: 1 } })
    .sort({ _id: 1 });
  for await (const { _id } of batches) await beginStop(db, _id);
}

/** Single messages wait for the end of their validity, and are refunded then. */
async function isAnythingWaiting(db: Db, account: AccountId, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - LONGEST_WAIT_MS);
  const payer = await db.collection<AccountDocument>('accounts').findOne({ _id: account });
  if (Object.keys(payer?.pending ?? {}).length > 0) return true;
  if ((await batchCollection(db).findOne({ state: 'stopping', account })) !== null) return true;
  // Lines become messages within seconds, whosever they are.
  if ((await db.collection('queue').findOne({ writeAt: { $exists: true, $lte: now } })) !== null) return true;
  const message = await db.collection<AnyMessage>('messages').findOne({
    account,
    _id: { $gte: lowestId('msg', since) },
    state: { $in: ['queued', 'submitting', 'waiting'] },
  });
  return message !== null;
}

/** Takes what is left, once. False when a refund came between. */
async function settle(db: Db, account: AccountId, { remaining, by }: Closed): Promise<boolean> {
  const balance = (await findAccount(db, account))?.balance ?? 0;
  if (balance === 0) return true;
  try {
    const credit = { kind: 'correction', amount: -balance, id: 'closing', note: NOTES[remaining], by } as const;
    await changeCredits(db, account, credit);
    return true;
  } catch (error) {
    if (error instanceof BalanceTooLow) return false;
    throw error;
  }
}
