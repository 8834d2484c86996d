import type { Db } from 'mongodb';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { findAccounts } from '../../shared/money/accounts/store.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { FreshCache } from '../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, isTestAccount, liveAccountOf, testAccountOf } from '../../shared/platform/runtime/ids.ts';
import { sendProblem } from '../http/answer.ts';
import { type CallerAccount, type Handler, type Reply, requesterOf } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';

const REMEMBERED_ACCOUNTS = 20_000;

/**
 * The account of a key or user; none for one that is closed. A process reads it at most once per 4 s. A test account has the settings
 * of the live one, and is made when it is asked for first.
 */
export type ReadAccount = (id: AccountId) => Promise<CallerAccount | undefined>;

export function createReadAccount({ db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): ReadAccount {
  const accounts = new FreshCache<AccountId, CallerAccount>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_ACCOUNTS,
    clock,
    readMany: async (ids) => {
      const found = await findAccounts(db, [...new Set([...ids, ...ids.map(liveAccountOf)])]);
      const open = found.filter(({ status, test }) => status !== 'closed' && test === undefined);
      const asked = new Set(ids);
      const tested = open.filter(({ _id }) => asked.has(testAccountOf(_id)));
      const made = new Set(found.map(({ _id }) => _id));
      const missing = tested.filter(({ _id }) => !made.has(testAccountOf(_id)));
      if (missing.length > 0) await makeTestAccounts(db, missing, clock.now());
      const all: readonly CallerAccount[] = [...open, ...tested.map(asTestAccount)];
      return new Map(all.map((account) => [account._id, account]));
    },
  });
  return (id) => accounts.get(id);
}

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
async function makeTestAccounts(db: Db, live: readonly AccountDocument[], now: Date): Promise<void> {
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
function asTestAccount(live: AccountDocument) {
  const { name, senders, dlt, entityId, numberCheck, country, countries, lineBreaks, ctaCheck, texts, secondFactor } =
    live;
  const set = defined({ dlt, entityId, numberCheck, country, countries, lineBreaks, ctaCheck, texts, secondFactor });
  return { _id: testAccountOf(live._id), name, senders, ...set };
}

/**
 * Test keys, and people who look at tests on the dashboard, see and send in the account's test account
 * (see above). What an endpoint declares (`test`) says where that is so.
 */
const MODE_HEADER = 'harkara-mode';

/**
 * Comes after the scopes, at endpoints of accounts. A test key is refused where live and test are the same account; people act on the
 * live one there, whatever they look at.
 */
export function testMode(one: { readonly test?: 'apart' | 'same' }, readAccount: ReadAccount): Handler {
  return async (req, res: Reply, next) => {
    const requester = requesterOf(res);
    const { who, account } = requester;
    const isTestKey = who.kind === 'key' && who.test === true;
    const isTest = isTestKey || (who.kind === 'user' && (req.headers[MODE_HEADER] === 'test' || isInQuery(req.url)));
    if (!isTest || account === undefined) return next();
    if (one.test === undefined && isTestKey) return sendProblem(res, 'live_key_needed');
    if (one.test !== 'apart') return next();
    const tested = await readAccount(testAccountOf(account._id));
    if (tested === undefined) return sendProblem(res, 'account_not_found');
    res.locals.caller = { ...requester, account: tested };
    next();
  };
}

function isInQuery(url: string): boolean {
  const start = url.indexOf('?');
  return start !== -1 && new URLSearchParams(url.slice(start)).get('mode') === 'test';
}
