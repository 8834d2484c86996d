import type { CreateIndexesOptions, Db } from 'mongodb';
import { type Building, buildIndexes } from './build-indexes.ts';

export interface Index {
  readonly collection: string;
  readonly key: Rule['key'];
  readonly options: CreateIndexesOptions & { readonly name: string };
}

/** `where` is the `partialFilterExpression`; the rest are the index's own options. */
interface Rule extends Pick<CreateIndexesOptions, 'unique' | 'sparse' | 'expireAfterSeconds'> {
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly where?: Readonly<Record<string, unknown>>;
}

/** States that few messages of an account reach, with their index. A `delivered` message was never in one of them. */
export const RARE_STATES = {
  expired: 'expired_failed',
  failed: 'expired_failed',
  read: 'read_to_rejected',
  received: 'read_to_rejected',
  rejected: 'read_to_rejected',
} as const;
export type RareState = keyof typeof RARE_STATES;

/** States of a delivery that was not taken at the first try, with their index. */
export const FAILED_STATES = { waiting: 'failed_tries', exhausted: 'failed_tries', discarded: 'discarded' } as const;
export type FailedState = keyof typeof FAILED_STATES;

/** `paid`, `split`, `stopped`, `stopping`. A range, because not every server knows `$in` in an index filter. */
export const SHOWN_BATCHES = { state: { $gte: 'paid', $lte: 'stopping' } } as const;

const there = (field: string) => ({ [field]: { $exists: true } });

const EXPIRY: Rule = { key: { expiresAt: 1 }, expireAfterSeconds: 0 };
/** No two of an account have the same place, so their number is limited (money/accounts/quotas.ts). */
const PLACE: Rule = { key: { account: 1, place: 1 }, unique: true, where: there('place') };
/** Maintenance: what accounts, users and webhooks are to be told. */
const UNANNOUNCED: Rule = { key: { 'unannounced.at': 1 }, where: there('unannounced.0') };

/** By collection and name; each comment names who asks the query. */
const TABLE: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  queue: {
    // smpp claim: what waits on a path and lane, account by account, oldest first.
    open: { key: { path: 1, lane: 1, account: 1, _id: 1 }, where: { open: true } },
    // Maintenance: lines whose messages are to be inserted.
    write_at: { key: { writeAt: 1 }, where: there('writeAt') },
    // Status: a message of an account that is not inserted yet.
    not_inserted: { key: { account: 1, last: 1 }, where: there('writeAt') },
    // smpp take-over: what an earlier holder of the carrier claimed.
    claims: { key: { 'claims.carrier': 1 }, sparse: true },
    // The store removes kept documents a day after their end.
    remove: { key: { removeAt: 1 }, expireAfterSeconds: 0, sparse: true },
  },
  accounts: {
    // Maintenance: accounts that have had something pending for long.
    pending: { key: { pendingAt: 1 }, where: there('pendingAt') },
    // Operators overview: how many accounts are test accounts.
    test: { key: { test: 1 }, where: { test: true } },
    // smpp claim: the held accounts.
    held: { key: { held: 1 }, where: there('held') },
    // smpp claim: the accounts whose SMS leave in the recipient's daytime only.
    daytime: { key: { 'daytime.from': 1 }, where: there('daytime.from') },
    // smpp message log: the accounts that want everything logged.
    log: { key: { log: 1 }, where: { log: 'all' } },
    // Maintenance: closed accounts that are to be settled, or erased.
    closed: { key: { 'closed.at': 1 }, where: there('closed.at') },
    // Maintenance: the accounts whose messages are kept for a shorter time.
    message_days: { key: { messageDays: 1 }, where: there('messageDays') },
    // Maintenance: the accounts whose traffic is watched by prefix.
    brake: { key: { brake: 1 }, where: there('brake') },
  },
  prefix_hours: { expiry: EXPIRY },
  statements: {
    // Statements of months: no two of a financial year have the same number; the last one.
    number: { key: { series: 1, serial: 1 }, unique: true },
  },
  traffic_holds: {
    // Limits of an account: the prefixes that are held.
    account: { key: { account: 1, since: 1 } },
    expiry: EXPIRY,
    unannounced: UNANNOUNCED,
  },
  verifications: {
    // A check that names the number: its newest verification; those of a number; erasing it.
    to: { key: { account: 1, to: 1, _id: -1 } },
    // The verifications of an account, newest first; how many of the newest were approved.
    account: { key: { account: 1, _id: -1 } },
    // A repeated check: the answer that was lost.
    check: { key: { check: 1 }, where: there('check') },
    // Maintenance: the verifications whose time is over.
    pending: { key: { expiresAt: 1 }, where: { state: 'pending' } },
    // Second tries of verifications by the chat app that are due.
    second: { key: { 'second.due': 1, account: 1 }, where: there('second.due') },
    // The store removes verifications of two weeks ago.
    expiry: { key: { removeAt: 1 }, expireAfterSeconds: 0 },
    unannounced: UNANNOUNCED,
  },
  recipient_hours: { expiry: EXPIRY },
  ledger: {
    // Credits: was this change entered already? A second guard that it is entered once.
    change: { key: { account: 1, change: 1 }, unique: true },
    // The entry of a debit that was entered together with others.
    // biome-ignore lint/suspicious/noThenProperty: the name of an index
    then: { key: { account: 1, 'then.change': 1 }, where: there('then.change') },
    // The statement of a month: refunds.
    refunds: { key: { account: 1, at: 1 }, where: { reason: 'refund' } },
  },
  keys: {
    // ops: the keys of an account.
    account: { key: { account: 1 } },
    // Account: its keys, newest first.
    list: { key: { account: 1, _id: 1 } },
    // Account: its active, expired or revoked keys, newest first.
    status: { key: { account: 1, status: 1, _id: 1 } },
    place: PLACE,
    unannounced: UNANNOUNCED,
  },
  users: {
    // Sign-in: the users of a sign-in name, which is unique in an account, and among operators.
    username_account: { key: { username: 1, account: 1 }, unique: true },
    place: PLACE,
    // Sign-in: has anybody of the account signed in from this network before?
    networks: { key: { account: 1, networks: 1 } },
    // The users of an account; the operators, who have none.
    account: { key: { account: 1, _id: 1 } },
    // One-time links: the user of a link.
    link: { key: { 'link.hash': 1 }, where: there('link.hash') },
    unannounced: UNANNOUNCED,
  },
  sign_in_failures: { expiry: EXPIRY },
  sessions: {
    // The sessions of a user, to list them and to end them, the oldest first.
    user_newest: { key: { user: 1, _id: -1 } },
    expiry: EXPIRY,
  },
  senders: {
    // Senders: the registered sender of an account.
    account_sender: { key: { account: 1, sender: 1 }, unique: true },
    // Approvals: the senders that wait, account by account, oldest first.
    queue: { key: { account: 1, createdAt: 1, _id: 1 }, where: { status: 'submitted' } },
    place: PLACE,
    unannounced: UNANNOUNCED,
  },
  ctas: {
    // CTAs of an account: the list, and that it has each once.
    account_value: { key: { account: 1, value: 1 }, unique: true },
    // Approvals: the CTAs that wait, account by account, oldest first.
    queue: { key: { account: 1, createdAt: 1, _id: 1 }, where: { status: 'submitted' } },
    place: PLACE,
    unannounced: UNANNOUNCED,
  },
  templates: {
    // Templates: an account's, or its approved ones, by id.
    account_status: { key: { account: 1, status: 1, dltId: 1 } },
    // Matching: the approved templates of a sender.
    approved: { key: { account: 1, senders: 1 }, where: { status: 'approved' } },
    // smpp claim: the paused templates.
    paused: { key: { paused: 1 }, where: there('paused') },
    // Approvals: the templates that wait, account by account, oldest first.
    queue: { key: { account: 1, createdAt: 1, _id: 1 }, where: { status: 'submitted' } },
    place: PLACE,
    unannounced: UNANNOUNCED,
  },
  template_requests: {
    // Templates: what an account asked for, newest first.
    account: { key: { account: 1, _id: 1 } },
    // Approvals: the requests that wait, account by account, oldest first.
    queue: { key: { account: 1, createdAt: 1, _id: 1 }, where: { status: 'requested' } },
    place: PLACE,
    unannounced: UNANNOUNCED,
  },
  chat_template_requests: {
    // chatapp: due requests to providers, by account.
    due: { key: { account: 1, due: 1 }, where: there('due') },
    place: PLACE,
    unannounced: UNANNOUNCED,
  },
  chat_templates: {
    unannounced: UNANNOUNCED,
  },
  // Every index on `messages` costs several writes per message. Add one only after measuring it.
  messages: {
    // The messages of an account, newest first.
    account: { key: { account: 1, _id: 1 } },
    // Chat-app claim: queued messages of a number of an account, oldest first.
    chat_queue: { key: { account: 1, from: 1, _id: 1 }, where: { channel: 'chatapp', state: 'queued' } },
    // smpp take-over: what an earlier holder of the carrier left unsettled; unknowns an orphan may fit.
    submitting: { key: { 'claim.carrier': 1, _id: 1 }, where: { state: 'submitting' } },
    // Watch: what a carrier refused for now. A message that is never refused for now has no entry.
    retrying: { key: { 'claim.carrier': 1, _id: 1 }, where: { state: 'waiting' } },
    // smpp receipts: the message of a carrier id.
    parts: { key: { 'parts.key': 1 }, sparse: true },
    // smpp receipts: like `parts`, where the receipt has the id in another case.
    parts_caseless: { key: { 'parts.caseless': 1 }, sparse: true },
    // smpp receipts: the message with an earlier copy of this carrier id.
    earlier_parts: { key: { 'earlier.parts.key': 1 }, sparse: true },
    // smpp receipts: more news of a first carrier after the message went to another one.
    given_up_parts: { key: { 'givenUp.parts.key': 1 }, sparse: true },
    // smpp receipts: messages sent again that an orphan of their earlier carrier may fit. The carrier first: one that
    // flaps may leave 100,000 copies in three days, and receipts of all carriers ask.
    earlier_copies: { key: { 'earlier.carrier': 1, 'earlier.at': 1 }, sparse: true },
    // Maintenance: messages whose pause or validity is over; some of each account.
    due_accounts: { key: { due: 1, account: 1 }, where: there('due') },
    // GET /v2/events: the messages of an account that reached certain states between two times. Partial: a message
    // without events needs no entry, and the first event has none to remove.
    events_by_state: { key: { account: 1, 'history.state': 1, 'history.at': -1 }, where: there('history.0') },
    // GET /v2/messages: what failed. Partial: a delivered SMS has no entry. A second index has the other states,
    // because not every server knows `$in` in such an expression, and `queued`, where every message begins, lies
    // between.
    expired_failed: { key: { account: 1, state: 1, _id: 1 }, where: { state: { $gte: 'expired', $lte: 'failed' } } },
    // GET /v2/messages: what customers wrote or have read, and what was refused.
    read_to_rejected: { key: { account: 1, state: 1, _id: 1 }, where: { state: { $gte: 'read', $lte: 'rejected' } } },
    // Conversations: the other messages of one whose opener failed. Chat-app messages only.
    conversation: { key: { conversation: 1, _id: 1 }, where: there('conversation') },
    // Chat-app: messages in whose place an SMS is due.
    fallback: { key: { 'fallback.due': 1, account: 1 }, where: there('fallback.due') },
    // The next three by day and recipient: a day's messages then go to a few pages of the index (docs/decisions/0022).
    // The account comes last, so that operators can search all accounts by it (docs/decisions/0043). Only inserts write
    // to them.
    // GET /v2/messages, GET /v2/admin/messages: what was sent to a number.
    to: { key: { day: 1, to: 1, account: 1, _id: 1 } },
    // GET /v2/messages, GET /v2/admin/messages: what a customer wrote, or was sent from a number of the chat-app.
    from: { key: { day: 1, from: 1, account: 1, _id: 1 }, where: there('from') }, // not SMS to customers
    // GET /v2/messages, GET /v2/admin/messages: messages of a reference.
    by_reference: { key: { day: 1, reference: 1, account: 1, _id: 1 }, where: there('reference') },
  },
  batches: {
    // Batches: what waits for a worker, account by account, oldest first.
    work: { key: { open: 1, account: 1, _id: 1 }, where: there('open') },
    // Batches: what is to be stopped, account by account, also behind many that are not.
    stopping: { key: { state: 1, account: 1, _id: 1 }, where: { state: 'stopping' } },
    // Bulk: what an account has stored and not paid; maintenance: what was never paid.
    unpaid: { key: { account: 1 }, where: { state: 'unpaid' } },
    // GET /v2/batches: the paid batches of an account, newest first.
    shown: { key: { account: 1, _id: 1 }, where: SHOWN_BATCHES },
  },
  schedules: {
    // Schedules: due for release, redo or refund; the seconds that need an alarm.
    due: { key: { due: 1 }, where: there('due') },
    // GET /v2/schedules: the schedules of an account, newest first.
    account: { key: { account: 1, _id: 1 } },
    // GET /v2/schedules?state=scheduled: what waits for its time, the next first; schedules: turns of accounts.
    upcoming: { key: { account: 1, at: 1, _id: 1 }, where: { state: 'scheduled' } },
  },
  endpoints: {
    // Webhooks: the endpoints of an account.
    account: { key: { account: 1 } },
    place: PLACE,
    // The few accounts whose webhooks want receipts as carriers wrote them.
    raw: { key: { raw: 1 }, where: { raw: true } },
  },
  // Every index on `deliveries` costs a write per document.
  deliveries: {
    // Webhooks: the due deliveries of an endpoint; which endpoints have any.
    due: { key: { endpoint: 1, due: 1 }, where: there('due') },
    // Webhooks: waiting deliveries whose next try has come.
    retry: { key: { retryAt: 1 }, where: there('retryAt') },
    // The delivery log of an endpoint, newest first.
    log: { key: { endpoint: 1, _id: 1 } },
    // The delivery log: the few that failed. Partial: a delivery that succeeds at the first try has no entry. By name,
    // `waiting` is the only other state from there on.
    failed_tries: { key: { endpoint: 1, state: 1, _id: 1 }, where: { state: { $gte: 'exhausted' } } },
    // The delivery log: what was not posted, because its endpoint was disabled.
    discarded: { key: { endpoint: 1, state: 1, _id: 1 }, where: { state: 'discarded' } },
    // One event of a group: the delivery log, the timeline of a message, a redo of a settle.
    grouped: { key: { 'items.eventId': 1 }, sparse: true },
  },
  webhook_replays: {
    // Webhooks: the replays to work off; no endpoint has two at a time.
    running: { key: { state: 1, endpoint: 1 }, where: { state: 'running' }, unique: true },
    // Account: the replays of a webhook, newest first.
    list: { key: { endpoint: 1, _id: 1 } },
    // Live numbers: the newest replays of an account.
    account: { key: { account: 1, _id: 1 } },
    expiry: EXPIRY,
  },
  told: { expiry: EXPIRY },
  mails: {
    // Mails that wait, the oldest first.
    due: { key: { due: 1 }, where: there('due') },
    // How many mails an account has had lately.
    account: { key: { account: 1, at: 1 } },
    // Operators: what the mail server said last.
    failed: { key: { failedAt: -1 }, where: there('failedAt') },
    expiry: EXPIRY,
  },
  providers: {
    // Chat-app callback: the number that it belongs to.
    callback: { key: { callback: 1 }, unique: true },
    // Chat-app callback: other numbers of the same app; a number belongs to one account.
    number: { key: { phoneNumberId: 1 }, unique: true },
    // Chat-app: the numbers of an account.
    account: { key: { account: 1 } },
    // Chat-app callback: other business accounts of the same app.
    business: { key: { businessId: 1 } },
  },
  message_log: { expiry: EXPIRY },
  chat_inbox: {
    // chatapp: unprocessed posts of providers, by account.
    due: { key: { account: 1, due: 1 }, where: there('due') },
    expiry: EXPIRY,
  },
  carrier_callbacks: {
    // smpp: the receipts that an HTTP carrier posted and nobody has settled.
    oldest: { key: { carrier: 1, at: 1 } },
    expiry: EXPIRY,
  },
  orphans: {
    // smpp outcome: receipts that came before the answer with their id.
    keys: { key: { carrier: 1, keys: 1 } },
    expiry: EXPIRY,
    // Operators: receipts that fit nothing, newest first. `expiry` has one field, because the store removes by such an
    // index only.
    list: { key: { expiresAt: 1, _id: 1 } },
  },
  inbound: {
    // smpp take-over: received messages that an earlier holder of the carrier did not finish.
    unfinished: { key: { carrier: 1, _id: 1 }, where: there('due') },
    expiry: EXPIRY,
    // Operators: received messages of no account, newest first. Beside `expiry`, as in `orphans`.
    unassigned: { key: { expiresAt: 1, _id: 1 }, where: there('expiresAt') },
  },
  numbers: {
    // smpp inbound: the entries of a number.
    number: { key: { number: 1 } },
    // smpp inbound: the entries of a number.that the carrier writes without its country code.
    national: { key: { national: 1 }, where: there('national') },
    // The numbers of an account, by number and keyword.
    list: { key: { account: 1, _id: 1 } },
  },
  opt_outs: {
    // Sends: which recipients have opted out; the list of an account, by customer.
    customer: { key: { account: 1, customer: 1, scope: 1 }, where: { out: true } },
    // The opt-outs of one number of an account, by customer, among a million of others.
    scope: { key: { account: 1, scope: 1, customer: 1 }, where: { out: true } },
  },
  opt_out_answers: {
    // smpp worker: answers to STOP, START and HELP that are due to customers of a carrier.
    carrier: { key: { carrier: 1, _id: 1 } },
  },
  opt_out_helps: { expiry: EXPIRY },
  rate: {
    // The store removes counts of windows that are over.
    expiry: { key: { 'window.start': 1 }, expireAfterSeconds: 120 },
    // Rate allowances: windows in which somebody was refused.
    recall: { key: { 'window.recall': 1 }, where: { 'window.recall': true } },
  },
  idempotency: { expiry: EXPIRY },
  audit: {
    // Audit list: changes of an account and its things, newest first.
    account: { key: { account: 1, _id: 1 } },
    // Audit list: changes of one thing, newest first.
    subject: { key: { 'subject.kind': 1, 'subject.id': 1, _id: 1 } },
    expiry: EXPIRY,
  },
  erasures: {
    // Maintenance: the numbers that are to be erased.
    due: { key: { due: 1 }, where: there('due') },
    // The erasures of an account, or of operators, newest first.
    account: { key: { account: 1, _id: 1 } },
  },
  conversations: {
    // Inbox: who wrote last; overview: open sessions. Written when a customer writes, not when a message is sent.
    inbox: { key: { account: 1, lastInboundAt: -1, _id: -1 }, where: there('lastInboundAt') },
    // The customers of an account who want no marketing on the chat-app channel.
    marketing_stops: { key: { account: 1, customer: 1 }, where: { 'marketing.stopped': true } },
    // Chat-app: the person with this user id, user name or customer id.
    keys: { key: { keys: 1 }, sparse: true },
  },
  conversation_places: { expiry: EXPIRY },
  conversation_losses: {
    // Operators: the conversations of an account that cost more than they earned, newest first.
    account: { key: { account: 1, _id: -1 } },
    expiry: EXPIRY,
  },
  conditions: {
    // Overview: what is wrong with an account.
    account: { key: { account: 1 } },
    // Operations: what is wrong now, the most urgent first, and what ended lately; the watch and notices: all of it.
    present: { key: { endedAt: 1, 'concerns.operator.severity': -1, since: 1 } },
    expiry: EXPIRY,
  },
  carrier_peaks: { expiry: EXPIRY },
  statistics: { expiry: EXPIRY },
  counted_hours: { expiry: EXPIRY },
  exports: {
    // Quotas: no two exports of an account have the same place; the exports of an account.
    place: { key: { account: 1, place: 1 }, unique: true },
    expiry: EXPIRY,
  },
  export_pieces: { expiry: EXPIRY },
  processes: {
    // The store removes the reports of processes that are gone.
    expiry: { key: { at: 1 }, expireAfterSeconds: 60 },
  },
};

export const INDEXES: readonly Index[] = Object.entries(TABLE).flatMap(([collection, rules]) =>
  Object.entries(rules).map(([name, { key, where, ...more }]) => {
    return { collection, key, options: { name, ...more, ...(where && { partialFilterExpression: where }) } };
  }),
);

/** May run in parallel. Waits for the builds, at times calling `tell`. Throws `StartError` naming a failed index. */
export async function ensureIndexes(
  db: Db,
  tell: (building: Building) => void = () => {},
  only: readonly Index[] = INDEXES,
): Promise<void> {
  const hello = await db.admin().command({ hello: 1 });
  const quorum = hello.setName !== undefined || hello.msg === 'isdbgrid';
  for (const collection of new Set(only.map((index) => index.collection))) {
    const wanted = only.filter((index) => index.collection === collection);
    const indexes = wanted.map(({ key, options }) => ({ key, ...options }));
    await buildIndexes(db, collection, indexes, { quorum, tell });
  }
}
