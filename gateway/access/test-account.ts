import type { Db } from 'mongodb';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { isTestAccount, liveAccountOf, testAccountOf } from '../../shared/platform/runtime/ids.ts';

/**
 * A test account has what test keys do: messages, batches, schedules, events, statistics, and a ledger of play credits. So nothing of a
 * live account is touched, no list of one needs a filter, and all that decides about messages and money decides here too
 * (docs/decisions/0053). Whatever is registered or set is the live account's: senders, templates, webhooks, keys, settings.
 */

/** The most play credits that one spends in a day: so many SMS, since each costs one. */
const CREDITS_PER_DAY = 1_000;
/** More than it can ever spend. */
const CREDITS = 1_000_000_000;

/** Makes the test accounts of live accounts, each with its credits, by one document each. Those that exist stay as they are. */
export async function makeTestAccounts(db: Db, live: readonly AccountDocument[], now: Date): Promise<void> {
  await insertNew(
    db,
    'accounts',
    live.map(({ _id, name, currency }): AccountDocument => {
      const topUp = {
        seq: 1,
        amount: CREDITS,
        balanceAfter: CREDITS,
        reason: 'top_up',
        reference: 'test',
        at: now,
      } as const;
      return {
        _id: testAccountOf(_id),
        test: true,
        name,
        status: 'active',
        balance: CREDITS,
        seq: 1,
        credits: 1,
        currency,
        expiryDate: '9999-12-31',
        senders: 'registered',
        caps: { day: CREDITS_PER_DAY },
        pending: { crd_test: topUp },
        pendingAt: now,
        createdAt: now,
      };
    }),
  );
}

/** An account as the one whose senders, templates and provider it uses. */
export function asLiveAccount<Account extends Pick<AccountDocument, '_id'>>(account: Account): Account {
  return isTestAccount(account._id) ? { ...account, _id: liveAccountOf(account._id) } : account;
}

/** What of a live account's settings holds for its test messages too. The rest is about traffic and money that there is none of. */
export function asTestAccount(live: AccountDocument) {
  const { name, senders, dlt, entityId, numberCheck, country, countries, lineBreaks, ctaCheck, texts, secondFactor } =
    live;
  const set = defined({ dlt, entityId, numberCheck, country, countries, lineBreaks, ctaCheck, texts, secondFactor });
  return { _id: testAccountOf(live._id), name, senders, ...set };
}
