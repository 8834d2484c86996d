import type { Db } from 'mongodb';
import type { CarrierDocument } from '../carriers/carrier.ts';
import { listCarriers } from '../carriers/carrier-store.ts';
import { type ProviderDocument, stopOf, troubleInWords, troublesOf } from '../carriers/providers/provider.ts';
import { providersOf } from '../carriers/providers/store.ts';
import type { RouteDocument } from '../carriers/routing/route.ts';
import { listRoutes } from '../carriers/routing/store.ts';
import type { SenderDocument } from '../carriers/sender.ts';
import { disabledWords, type EndpointDocument } from '../events/webhooks/endpoint.ts';
import { creditsPerDay, readHours } from '../messages/statistics.ts';
import { type HoldDocument, readHolds } from '../messages/traffic/hold.ts';
import type { AccountDocument } from '../money/accounts/account.ts';
import type { AccountId } from '../platform/runtime/ids.ts';
import { type Condition, type Finding, readCarrierConditions, type Subject } from './condition.ts';

export interface AccountSeen {
  readonly now: Date;
  readonly account: Pick<
    AccountDocument,
    '_id' | 'balance' | 'dlt' | 'expiryDate' | 'held' | 'lowBalance' | 'name' | 'senders' | 'status'
  >;
  readonly holds: readonly Pick<HoldDocument, '_id' | 'prefix' | 'state' | 'since' | 'seen'>[];
  /** An approved sender exists, or none is needed. */
  readonly hasSender: boolean;
  readonly hasRoute: boolean;
  /** Since when no carrier takes its SMS. Absent: one may take them, or none is set up. */
  readonly stoppedSince?: Date | undefined;
  readonly webhooks: readonly Pick<EndpointDocument, '_id' | 'url' | 'status' | 'disabledReason' | 'failingSince'>[];
  readonly providers: readonly ProviderDocument[];
  /** How long the balance lasts at last week's rate. Absent: nothing was used, or nobody has counted. */
  readonly lastsDays?: number | undefined;
}

const DAY_MS = 86_400_000;
/** How long before its credits expire an account is told. */
const EXPIRING_DAYS = 14;
const NOTICE_MS = 3 * DAY_MS;
/** Without a threshold of its own, a balance is low when it lasts for fewer days. */
const LOW_DAYS = 2;

export const ACCOUNT_CONDITIONS = {
  'account.suspended': {
    title: 'An account is suspended',
    how: 'An operator has suspended it: its sends are refused.',
    concerns: {
      account: { severity: 'urgent', todo: 'Ask your service provider why, and to activate the account again.' },
    },
    find: (seen) =>
      seen.account.status === 'suspended' ? own(seen, 'The account is suspended: sends are refused.') : [],
  },
  'account.paused': {
    title: 'An account is paused',
    how: 'An operator has paused it: its messages are accepted and wait.',
    concerns: {
      operator: { severity: 'look', todo: 'Resume it when the reason is gone.' },
      account: {
        severity: 'look',
        todo: 'Nothing is lost: messages leave when the account is resumed. Ask your service provider when that is.',
      },
    },
    find: (seen) =>
      seen.account.held === true && seen.account.status === 'active'
        ? own(seen, 'The account is paused: messages are accepted and wait.')
        : [],
  },
  'account.expired': {
    title: 'The credits of an account have expired',
    how: 'Its expiry date is over: its sends are refused.',
    concerns: {
      operator: { severity: 'look', todo: 'Extend the expiry date, or suspend the account.' },
      account: { severity: 'urgent', todo: 'Ask your service provider to extend the expiry date.' },
    },
    find: (seen) =>
      daysLeft(seen) < 0 ? own(seen, `The credits expired after ${seen.account.expiryDate}.`, endOf(seen)) : [],
  },
  'account.expiring': {
    title: 'The credits of an account expire soon',
    how: `Its expiry date is less than ${EXPIRING_DAYS} days away, and it has credits.`,
    concerns: {
      operator: { severity: 'look', todo: 'Ask the customer, and extend the expiry date.' },
      account: { severity: 'look', todo: 'Use the credits, or ask your service provider to extend the expiry date.' },
    },
    find: (seen) => {
      const days = daysLeft(seen);
      if (days < 0 || days >= EXPIRING_DAYS || seen.account.balance === 0) return [];
      const since = new Date(endOf(seen).getTime() - EXPIRING_DAYS * DAY_MS);
      return own(seen, `The credits expire after ${seen.account.expiryDate}.`, since);
    },
  },
  'balance.empty': {
    title: 'An account has no credits',
    how: 'Its balance is 0: its sends are refused.',
    concerns: {
      operator: { severity: 'look', todo: 'Add credits when the customer has paid.' },
      account: { severity: 'urgent', todo: 'Ask your service provider for credits.' },
    },
    find: (seen) => (seen.account.balance === 0 ? own(seen, 'No credits are left.') : []),
  },
  'balance.low': {
    title: 'The balance of an account is low',
    how: `It is not above the account's threshold; without one, it lasts for less than ${LOW_DAYS} days at the rate of the last week.`,
    concerns: {
      operator: { severity: 'look', todo: 'Remind the customer.' },
      account: { severity: 'look', todo: 'Ask your service provider for credits before they are used up.' },
    },
    find: (seen) => {
      const { balance, lowBalance } = seen.account;
      if (balance === 0) return [];
      if (lowBalance !== undefined) {
        return balance <= lowBalance
          ? own(seen, `The balance is not above ${lowBalance.toLocaleString('en-GB')} credits.`)
          : [];
      }
      return seen.lastsDays !== undefined && seen.lastsDays < LOW_DAYS
        ? own(seen, `At the rate of the last week the credits last for less than ${LOW_DAYS} days.`)
        : [];
    },
  },
  'traffic.held': {
    title: 'Traffic that looks like fraud is held',
    how: 'A prefix of an account gets far more messages than in the weeks before, and far fewer of them arrive, or far fewer of their codes are given back (verifications), while others are as ever. Sends to the prefix are refused.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Ask the customer whether it is right, then release it on the page of the account.',
      },
      account: {
        severity: 'urgent',
        todo: 'Look who asks for these messages. If they are right, release the prefix on the page Limits.',
      },
    },
    find: (seen) => heldPrefixes(seen, 'held', 'Sends to them are refused.'),
  },
  'traffic.suspicious': {
    title: 'Traffic looks like fraud',
    how: 'The same, of an account whose brake only watches.',
    concerns: {
      operator: { severity: 'look', todo: 'Ask the customer, and set the brake to hold if it is fraud.' },
      account: { severity: 'look', todo: 'Look who asks for these messages; somebody may be paid for them.' },
    },
    find: (seen) => heldPrefixes(seen, 'watched', 'They are sent.'),
  },
  'account.no_sender': {
    title: 'An account has no approved sender',
    how: 'It may use registered senders only, and none is approved: its SMS are refused.',
    concerns: {
      operator: { severity: 'look', todo: 'Approve or register a sender.' },
      account: { severity: 'look', todo: 'Ask for a sender on the page Senders, and wait for its approval.' },
    },
    find: (seen) => (seen.hasSender ? [] : own(seen, 'No sender is approved, so every SMS is refused.')),
  },
  'account.no_route': {
    title: 'No carrier may take the SMS of an account',
    how: 'No route is open to it; without routes, no carrier has a path.',
    concerns: {
      operator: {
        severity: 'urgent',
        todo: 'Add a route, or give a carrier the path: `npm run ops -- route explain` shows what a message would meet.',
      },
      account: { severity: 'urgent', todo: 'Ask your service provider: no carrier is set up for your SMS.' },
    },
    find: (seen) => (seen.hasRoute ? [] : own(seen, 'No carrier is set up for its SMS.')),
  },
  'account.carriers_stopped': {
    title: 'No carrier takes the SMS of an account',
    how: 'Every carrier that its routes name is down, silent or refuses messages, urgently.',
    concerns: {
      account: {
        severity: 'urgent',
        todo: 'Your messages are accepted and tried again; what cannot leave is refunded. Your service provider sees the reason.',
      },
    },
    find: (seen) =>
      seen.stoppedSince === undefined
        ? []
        : own(seen, 'The carrier of your SMS takes no messages, or refuses many.', seen.stoppedSince),
  },
  'webhook.failing': {
    title: 'A webhook fails',
    how: 'No post has been acknowledged since then. After five days of only failures it is disabled.',
    concerns: {
      operator: { severity: 'look', todo: 'Look at its delivery log; tell the customer if the server is theirs.' },
      account: {
        severity: 'look',
        todo: 'The delivery log of the webhook has the answers of your server. Reply 2xx within 15 seconds, then process the event.',
      },
    },
    find: ({ webhooks }) =>
      webhooks.flatMap(({ _id, url, status, failingSince }) =>
        status === 'active' && failingSince !== undefined
          ? { subject: { kind: 'webhook', id: _id }, words: `Every post to ${hostOf(url)} fails.`, since: failingSince }
          : [],
      ),
  },
  'webhook.disabled': {
    title: 'A webhook was disabled',
    how: 'After five days of only failures, because its server answered 410, or by an operator: its events are not posted.',
    concerns: {
      account: {
        severity: 'look',
        todo: 'Correct the server, enable the webhook, and replay what it has missed. Or delete the webhook.',
      },
    },
    find: ({ webhooks }) =>
      webhooks.flatMap(({ _id, url, status, disabledReason }) =>
        status === 'disabled' && disabledReason !== 'account'
          ? {
              subject: { kind: 'webhook', id: _id },
              words: `The webhook to ${hostOf(url)} is disabled. ${disabledWords(disabledReason)}`,
            }
          : [],
      ),
  },
  'provider.stopped': {
    title: 'A chat-app number is stopped',
    how: 'The provider does not allow its token, number or account: its messages do not leave. A payment problem is asked about again by itself, after a minute and then less often; it holds until a message is taken.',
    concerns: {
      operator: {
        severity: 'urgent',
        todo: 'Solve the cause, then start the number again: `npm run ops -- provider resume NUMBER`.',
      },
      account: { severity: 'urgent', todo: 'Ask your service provider. Messages wait meanwhile.' },
    },
    find: ({ providers }) =>
      providers.flatMap((provider) => {
        const reason = stopOf(provider);
        if (reason === undefined) return [];
        const is = provider.trial === undefined ? 'is stopped' : 'was stopped, and one message at a time is tried';
        return [{ subject: providerOf(provider._id), words: `Chat-app number ${provider._id} ${is}: ${reason}` }];
      }),
  },
  'provider.failing': {
    title: 'The provider of a chat-app number fails',
    how: 'Sending, reading statuses or copying templates failed at the last try.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'It is tried again by itself. If it stays, read the reason. The manual, "Chat-app messages wait".',
      },
    },
    find: ({ providers }) =>
      providers
        .filter((one) => one.status !== 'paused' && stopOf(one) === undefined)
        .flatMap((provider) =>
          troublesOf(provider)
            .slice(0, 1)
            .map((trouble) => ({
              subject: providerOf(provider._id),
              words: `Chat-app number ${provider._id}: ${troubleInWords(trouble)}`,
            })),
        ),
  },
  'provider.notice': {
    title: 'A chat-app provider tells something about a number',
    how: 'Within the last three days: its quality, its limits, a restriction or a ban of the business account.',
    concerns: {
      operator: {
        severity: 'look',
        todo: "Read it in the provider's own console. A number that is flagged is blocked if its templates go on being reported.",
      },
      account: {
        severity: 'look',
        todo: 'Send to customers who expect it only. Ask your service provider what follows from it.',
      },
    },
    find: ({ providers, now }) =>
      providers.flatMap(({ _id: number, notice }) =>
        notice === undefined || now.getTime() - notice.at.getTime() > NOTICE_MS
          ? []
          : [
              {
                subject: providerOf(number),
                words: `The provider of chat-app number ${number} tells: ${notice.words}.`,
                since: notice.at,
              },
            ],
      ),
  },
} satisfies Readonly<Record<string, Condition<AccountSeen>>>;

function own({ account }: AccountSeen, words: string, since?: Date): Finding[] {
  return [{ subject: { kind: 'account', id: account._id }, words, since }];
}

function heldPrefixes({ holds }: AccountSeen, state: 'held' | 'watched', what: string): Finding[] {
  return holds
    .filter((one) => one.state === state)
    .map(({ _id, prefix, since, seen }) => ({
      subject: { kind: 'prefix', id: _id },
      words: `Numbers that begin with ${prefix} got ${seen.messages} messages in two hours, at most ${seen.usualMessages} before, and ${percent(seen.delivered)} of them arrived, where ${percent(seen.usualDelivered)} do.${codesOf(seen)} ${what}`,
      since,
    }));
}

function codesOf({ converted, usualConverted }: AccountSeen['holds'][number]['seen']): string {
  if (converted === undefined || usualConverted === undefined) return '';
  return ` Of their codes ${percent(converted)} were given back, where ${percent(usualConverted)} are.`;
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

function providerOf(number: string): Subject {
  return { kind: 'provider', id: number };
}

/** The first moment at which the credits may not be spent any more. */
function endOf({ account }: Pick<AccountSeen, 'account'>): Date {
  return new Date(Date.parse(`${account.expiryDate}T00:00:00Z`) + DAY_MS);
}

/** Whole days until the credits expire, today not counted; negative afterwards. */
export function daysLeft(seen: Pick<AccountSeen, 'account' | 'now'>): number {
  return Math.ceil((endOf(seen).getTime() - seen.now.getTime()) / DAY_MS) - 1;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** The rate of spending is that of the last week, because a day may be a Sunday. */
const RATE_DAYS = 7;
const STOPPING: readonly string[] = ['carrier.down', 'carrier.refusing', 'carrier.silent'];

type Account = AccountSeen['account'];

/** The facts about these accounts: seven reads for all. `perDay`: credits used a day, where known. */
export async function gatherAccounts(
  db: Db,
  accounts: readonly Account[],
  now: Date,
  perDay: (account: AccountId) => number | undefined,
): Promise<readonly AccountSeen[]> {
  const ids = accounts.map(({ _id }) => _id);
  const needSender = accounts.filter(needsSender).map(({ _id }) => _id);
  const [carriers, routes, senders, endpoints, providers, holds, stopped] = await Promise.all([
    listCarriers(db),
    listRoutes(db),
    accountsWithSender(db, needSender),
    db
      .collection<EndpointDocument>('endpoints')
      .find({ account: { $in: ids }, $or: [{ failingSince: { $exists: true } }, { status: 'disabled' }] })
      .toArray(),
    providersOf(db, ids),
    readHolds(db, ids),
    readStoppedCarriers(db),
  ]);
  const serving = carriers.some(({ paths }) => paths.length > 0);
  return accounts.map((account) => ({
    now,
    account,
    hasSender: !needsSender(account) || senders.has(account._id),
    // Without any carrier that is one condition of the installation, not one of each account.
    hasRoute:
      carriers.length === 0 ||
      (routes.length === 0
        ? serving
        : routes.some(({ groups, match }) => groups.length > 0 && (match.accounts?.includes(account._id) ?? true))),
    stoppedSince: stoppedSince(account._id, carriers, routes, stopped),
    holds: holds.filter((one) => one.account === account._id),
    webhooks: endpoints.filter((one) => one.account === account._id),
    providers: providers.filter((one) => one.account === account._id),
    lastsDays: lasting(account.balance, perDay(account._id)),
  }));
}

/** By carrier, as the watch has found it: since when it takes nothing. */
async function readStoppedCarriers(db: Db): Promise<ReadonlyMap<string, Date>> {
  const found = await readCarrierConditions(db);
  const urgent = found.filter(
    ({ name, concerns }) => STOPPING.includes(name) && concerns.operator?.severity === 'urgent',
  );
  return new Map(urgent.map(({ subject, since }) => [subject.id, since]));
}

/** When the last of the carriers of its SMS stopped, if all have. */
function stoppedSince(
  account: AccountId,
  carriers: readonly CarrierDocument[],
  routes: readonly RouteDocument[],
  stopped: ReadonlyMap<string, Date>,
): Date | undefined {
  if (stopped.size === 0) return undefined;
  const open = routes
    .filter(({ match }) => match.accounts?.includes(account) ?? true)
    .toSorted((a, b) => b.order - a.order);
  // A route that takes all its messages leaves none to those below it.
  const last = open.findIndex(({ match }) => Object.keys(match).every((name) => name === 'accounts'));
  const reached = last < 0 ? open : open.filter(({ order }) => order >= (open[last]?.order ?? 0));
  const ids =
    routes.length === 0
      ? carriers.filter(({ paths }) => paths.length > 0).map(({ _id }) => _id)
      : reached.flatMap(({ groups }) => groups.flat().map(({ carrier }) => carrier));
  const times = ids.map((id) => stopped.get(id)?.getTime() ?? Number.POSITIVE_INFINITY);
  const since = Math.max(...times);
  return Number.isFinite(since) ? new Date(since) : undefined;
}

/** In the last week. */
export async function readCreditsPerDay(db: Db, account: AccountId, now: Date): Promise<number> {
  return creditsPerDay(await readHours(db, account, new Date(now.getTime() - RATE_DAYS * DAY_MS)), now);
}

/** For how many whole days a balance lasts. Undefined when nothing is used, or nobody knows. */
export function lasting(balance: number, perDay: number | undefined): number | undefined {
  return perDay === undefined || perDay === 0 ? undefined : Math.floor(balance / perDay);
}

export const ACCOUNT_FIELDS: Readonly<Record<keyof Account, 1>> = {
  ...{ _id: 1, balance: 1, dlt: 1, expiryDate: 1, held: 1, lowBalance: 1, name: 1, senders: 1, status: 1 },
};

function needsSender({ senders, dlt }: Pick<AccountDocument, 'senders' | 'dlt'>): boolean {
  return senders === 'registered' || dlt === 'on';
}

async function accountsWithSender(db: Db, ids: readonly AccountId[]): Promise<ReadonlySet<AccountId>> {
  if (ids.length === 0) return new Set();
  const found = await db
    .collection<SenderDocument>('senders')
    .aggregate<{ _id: AccountId }>([
      { $match: { account: { $in: ids }, status: 'approved' } },
      { $group: { _id: '$account', n: { $sum: 1 } } },
    ])
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}
