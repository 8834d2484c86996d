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
 * Undefined for closed and unknown accounts. A process reads an account at most once per 4 s. A test account has the
 * settings of its live one and is made when it is first asked for.
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
 * A test account owns what test keys make (messages, batches, statistics, a ledger of play credits …), so lists need no
 * filter and the same rules for messages and money apply (docs/decisions/0053). What is registered or set (senders,
 * templates, webhooks, keys, settings) belongs to the live account.
 */

/** The most play credits spent in a day. A test SMS costs one. */
const CREDITS_PER_DAY = 1_000;
/** More than it can ever spend. */
const CREDITS = 1_000_000_000;

/** Makes the test accounts of live accounts with their credits, one document each. Existing ones stay as they are. */
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

export function asLiveAccount<Account extends Pick<AccountDocument, '_id'>>(account: Account): Account {
  return isTestAccount(account._id) ? { ...account, _id: liveAccountOf(account._id) } : account;
}

/** Settings about real traffic and money do not hold for test messages. */
function asTestAccount(live: AccountDocument) {
  const { name, senders, dlt, entityId, numberCheck, country, countries, lineBreaks, ctaCheck, texts, secondFactor } =
    live;
  const set = defined({ dlt, entityId, numberCheck, country, countries, lineBreaks, ctaCheck, texts, secondFactor });
  return { _id: testAccountOf(live._id), name, senders, ...set };
}

/** The dashboard sends it for people who look at tests. `test` of an endpoint says what it then does. */
const MODE_HEADER = 'harkara-mode';

/**
 * Comes after the scopes, at endpoints of accounts. Where live and test are the same account, a test key is refused and
 * people act on the live account in either mode.
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
