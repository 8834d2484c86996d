import type { Db } from 'mongodb';
import { errorRule, isAccountWide, objectOf } from '../../shared/carriers/providers/graph-error.ts';
import type { PriceList } from '../../shared/carriers/providers/price-list.ts';
import { chatMessageKey } from '../../shared/carriers/providers/provider.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import {
  dueItems,
  type InboundItem,
  type InboxItemDocument,
  itemId,
  openItems,
  pricedStatuses,
  type StatusItem,
} from '../../shared/messages/chat-inbox.ts';
import type {
  Answered,
  ChatMessageDocument,
  InboundMessageDocument,
} from '../../shared/messages/document/chat-message.ts';
import { isNext } from '../../shared/messages/document/status.ts';
import { LeaseLostError } from '../../shared/messages/settlement/intents.ts';
import type { Settler } from '../../shared/messages/settlement/settle.ts';
import { recordMarketing } from '../../shared/money/conversations/conversation.ts';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import type { FreshCache } from '../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, idDay, inboundMessageId } from '../../shared/platform/runtime/ids.ts';
import { errorFields, type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import type { TemplateOwner } from '../../shared/templates/chat/chat-template.ts';
import { noteChatTemplate } from '../../shared/templates/chat/store.ts';
import { type Customers, toldByStatuses } from './customers.ts';
import type { HeldPartition } from './held-partition.ts';
import type { ChatMetrics } from './metrics.ts';
import { errorReason } from './provider/answer.ts';
import type { AccountFailure, News } from './send-health.ts';
import { decideStatuses, type MatchedMessage, matchStatuses } from './statuses.ts';

export interface InboxOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  readonly announcer: Announcer;
  readonly customers: Customers;
  readonly prices: Pick<FreshCache<AccountId, PriceList>, 'getMany'>;
  /** Marks items as done: they stay stored without `due`, so they are not taken again. */
  finish(ids: readonly string[]): Promise<void>;
  retry(id: string, due: Date): Promise<void>;
  /** Call it when a callback said something about templates: only their list says it completely. */
  copyTemplates(owner: TemplateOwner): void;
  /** Call it when a status of a message has said something of its template. */
  copyTemplatesOf(message: ChatMessageDocument): void;
  /** Call it when a status has said what became of a message. `failure`: because of the account. */
  noteStatus(message: ChatMessageDocument, news: News, failure?: AccountFailure): Promise<void>;
}

/** How long a status that fits no message is tried again. The answer to its send may not be stored yet. */
const ORPHAN_MS = 5 * 60_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;

/** Works off what the callback stored. An item stays due until all that follows is written; a repeat is harmless. */
export class Inbox {
  readonly #options: InboxOptions;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Throws when the store is not available or the partition is lost; the items are then still due. */
  async work(items: readonly InboxItemDocument[], settler: Settler): Promise<void> {
    try {
      // Statuses first: they tell the name that a customer's message comes from (customers.ts).
      await this.#settle(items, settler);
      await this.#receive(items);
      await this.#noteTemplates(items);
      await this.#notePreferences(items);
    } catch (error) {
      if (isStoreTrouble(error) || error instanceof LeaseLostError) throw error;
      const [only, second] = items;
      if (only !== undefined && second === undefined) await this.#putOff(only, error);
      // One by one, so that an item that cannot be stored holds up no other.
      else for (const item of items) await this.work([item], settler);
    }
  }

  async #receive(items: readonly InboxItemDocument[]): Promise<void> {
    const { db, announcer, customers, finish, metrics } = this.#options;
    const answered = await findAnswered(db, items);
    const received = items.flatMap((item) =>
      item.what.kind === 'message'
        ? [{ item, message: inboundMessage(item.account, item.what, item.at, answered.get(item._id)) }]
        : [],
    );
    if (received.length === 0) return;
    // Before the event, whose code finds the customer's open and paid conversations by all of the customer's names.
    await customers.learnFrom(received.map(({ item }) => item));
    crashPoint('inbox:linked');
    await insertNew(
      db,
      'messages',
      received.map(({ message }) => message),
    );
    await announcer.announce(received.flatMap(({ message }) => message.history.map((entry) => ({ message, entry }))));
    crashPoint('inbox:stored');
    await finish(received.map(({ item }) => item._id));
    metrics.inbox.inc({ result: 'received' }, received.length);
  }

  async #notePreferences(items: readonly InboxItemDocument[]): Promise<void> {
    const { db, announcer, customers, finish, metrics } = this.#options;
    const told = items.flatMap(({ _id, account, what }) =>
      what.kind === 'preference' ? [{ _id, account, what }] : [],
    );
    if (told.length === 0) return;
    await recordMarketing(
      db,
      told.map(({ account, what: { customer, wish, toldAt: at } }) => ({
        ...{ account, customer, at },
        stopped: wish === 'stopped',
      })),
    );
    // By now the name has a document, which those of the person's other names must lead to.
    await customers.learnFrom(items.filter(({ what }) => what.kind === 'preference'));
    await announcer.announce(
      told.map(({ account, what: { customer, wish, toldAt: at } }) => ({ account, customer, wish, at })),
    );
    await finish(told.map(({ _id }) => _id));
    metrics.inbox.inc({ result: 'preference' }, told.length);
  }

  async #noteTemplates(items: readonly InboxItemDocument[]): Promise<void> {
    const { db, clock, finish, metrics, copyTemplates } = this.#options;
    const told = items.flatMap(({ _id, account, what }) => (what.kind === 'template' ? [{ _id, account, what }] : []));
    if (told.length === 0) return;
    for (const { account, what } of told) {
      const { kind: _, business, name, language, ...news } = what;
      const owner = { account, business };
      const known = await noteChatTemplate(db, owner, name, language, news, clock.now());
      // The list has the rest: another text, an unknown template, or the latest news if no time was given.
      if (!known || news.status === undefined || news.toldAt === undefined) copyTemplates(owner);
    }
    await finish(told.map(({ _id }) => _id));
    metrics.inbox.inc({ result: 'template' }, told.length);
  }

  async #settle(items: readonly InboxItemDocument[], settler: Settler): Promise<void> {
    const { db, finish, metrics, clock, customers, prices } = this.#options;
    const { matched, unmatched } = await matchStatuses(db, items);
    if (matched.length === 0 && unmatched.length === 0) return;
    await customers.learnFromSends(toldByStatuses(matched));
    await addEarlyDeliveries(db, matched);
    await addEarlyPrices(db, matched);
    const lists = await prices.getMany(
      matched.filter(({ statuses }) => statuses.some(isPriced)).map(({ message }) => message.account),
    );
    const settled = await settler.settle(
      matched.map(({ message, statuses }) => ({
        message,
        decide: (stored: ChatMessageDocument) =>
          decideStatuses(stored, statuses, clock.now(), (pricing, to) =>
            lists.get(message.account)?.costOf(pricing, to),
          ),
      })),
    );
    for (const [i, { statuses }] of matched.entries()) {
      metrics.inbox.inc({ result: settled[i] === undefined ? 'no_news' : 'settled' }, statuses.length);
    }
    await this.#noteAll(matched);
    await finish(matched.flatMap((one) => one.items.map(({ _id }) => _id)));
    await Promise.all(unmatched.map((item) => this.#unmatched(item)));
  }

  /** Handles what statuses say beyond their messages: about templates, and about the account at the provider. */
  async #noteAll(matched: readonly MatchedMessage[]): Promise<void> {
    const { copyTemplatesOf, noteStatus, metrics, log } = this.#options;
    const troubles = new Map<string, { readonly account: AccountId; readonly number: string; readonly code: string }>();
    for (const { message, statuses } of matched) {
      const failure = statuses.find(({ status }) => status === 'failed');
      const rule = failure?.error === undefined ? undefined : errorRule(failure.error.code);
      const { account, from: number } = message;
      // The status may come late: only the list tells whether the template is still paused.
      if (rule?.template !== undefined) copyTemplatesOf(message);
      if (!isAccountWide(rule)) {
        await noteStatus(message, failure === undefined ? 'good' : 'other');
        continue;
      }
      const { error } = failure ?? {};
      const reason = error === undefined ? '' : errorReason(error.code, error.details ?? error.title);
      await noteStatus(message, 'account', { code: rule.code, reason });
      troubles.set(`${number} ${rule.code}`, { account, number, code: rule.code });
    }
    for (const fields of troubles.values()) {
      metrics.troubles.inc({ code: fields.code });
      // A problem that only a person ends slows the channel down (send-health.ts) and does not stop it: the status may
      // be days late. One that ends by itself stops it (send-loop.ts): the probe starts it again.
      log.error('provider_trouble_told', fields);
    }
  }

  async #unmatched(item: InboxItemDocument): Promise<void> {
    const { clock, retry, finish, metrics, log } = this.#options;
    const nowMs = clock.now().getTime();
    if (nowMs - item.at.getTime() >= ORPHAN_MS) {
      // We did not send this message, or the answer to its send is lost for good. The item is kept until it expires.
      await finish([item._id]);
      metrics.inbox.inc({ result: 'orphan' });
      // Logged without the provider's id, because that contains the customer's number.
      log.info('chat_status_orphan', { account: item.account });
      return;
    }
    await retry(item._id, new Date(nowMs + retryPause(item.tries)));
  }

  /** For an item that fails by itself: it is tried again for as long as an orphan, and then only kept. */
  async #putOff(item: InboxItemDocument, error: unknown): Promise<void> {
    const { clock, retry, finish, log } = this.#options;
    const nowMs = clock.now().getTime();
    const over = nowMs - item.at.getTime() >= ORPHAN_MS;
    log.error('inbox_item_failed', {
      account: item.account,
      kind: item.what.kind,
      given_up: over,
      ...unexpectedErrorFields(error),
    });
    if (over) await finish([item._id]);
    else await retry(item._id, new Date(nowMs + retryPause(item.tries)));
  }
}

function retryPause(tries: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 16), LONGEST_RETRY_MS);
}

/**
 * Adds to a `read` the `delivered` that still waits in the inbox. A `delivered` waits while the answer to its send is
 * not stored, but a `read` a moment later may find the message, and after it the delivery would never be announced.
 * Asks the store only about messages that have a `read` and no `delivered`.
 */
async function addEarlyDeliveries(db: Db, matched: readonly MatchedMessage[]): Promise<void> {
  const missing = new Map(matched.flatMap((one) => missingOf(one).map((id) => [id, one])));
  if (missing.size === 0) return;
  for (const item of await openItems(db, [...missing.keys()])) {
    const one = missing.get(item._id);
    if (one === undefined || item.what.kind !== 'status') continue;
    one.statuses.push(item.what);
    one.items.push(item);
  }
}

/** Adds to a delivery without a price the `sent` that had one: not all providers repeat the price. */
async function addEarlyPrices(db: Db, matched: readonly MatchedMessage[]): Promise<void> {
  const missing = new Map(
    matched.flatMap((one) => {
      const { message, statuses } = one;
      if (message.pricing !== undefined || statuses.some(isPriced)) return [];
      const delivered = statuses.find(({ status }) => status === 'delivered' || status === 'read');
      return delivered === undefined ? [] : [[itemId(message.account, 'sent', delivered.upstreamId), one] as const];
    }),
  );
  for (const { _id, what } of await pricedStatuses(db, [...missing.keys()])) missing.get(_id)?.statuses.push(what);
}

function isPriced({ pricing }: StatusItem): boolean {
  return pricing !== undefined;
}

/** The items that may wait: of each `read` whose `delivered` is neither here nor in the message. */
function missingOf({ message, statuses }: MatchedMessage): readonly string[] {
  if (!isNext(message.state, 'delivered')) return [];
  const of = (wanted: StatusItem['status']): readonly string[] =>
    statuses.flatMap(({ status, upstreamId }) => (status === wanted ? [upstreamId] : []));
  const delivered = of('delivered');
  return of('read').flatMap((id) => (delivered.includes(id) ? [] : [itemId(message.account, 'delivered', id)]));
}

/** Our messages that customers' messages quote, react to or were caused by (a button), by the items' ids. */
async function findAnswered(db: Db, items: readonly InboxItemDocument[]): Promise<ReadonlyMap<string, Answered>> {
  const asked = items.flatMap(({ _id, account, what }) => {
    const upstreamId = what.kind === 'message' ? answeredId(what) : undefined;
    return upstreamId === undefined ? [] : [{ _id, upstreamId, key: chatMessageKey(account, upstreamId) }];
  });
  if (asked.length === 0) return new Map();
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find({ 'parts.key': { $in: asked.map(({ key }) => key) } }, { projection: { 'parts.key': 1 } })
    .toArray();
  const messages = new Map(found.flatMap(({ _id, parts = [] }) => parts.map(({ key }) => [key, _id] as const)));
  return new Map(
    asked.flatMap(({ _id, upstreamId, key }) => {
      const message = messages.get(key);
      return message === undefined ? [] : [[_id, { message, upstreamId }]];
    }),
  );
}

/** The provider's id of the message that this one answers. Customers may also quote their own messages. */
function answeredId({ type, more }: InboundItem): string | undefined {
  const id = type === 'reaction' ? objectOf(more?.reaction)?.message_id : objectOf(more?.context)?.id;
  return typeof id === 'string' ? id : undefined;
}

/** A provider may deliver a message this late. Older and future times come from a wrong clock. */
const OLDEST_MS = 30 * 86_400_000;

/** All of it derives from the item, the id from the provider's id: a repeat writes the same. Pure. */
export function inboundMessage(
  account: AccountId,
  { number, upstreamId, from, sentAt, type, body, more }: InboundItem,
  receivedAt: Date,
  replyTo?: Answered,
): InboundMessageDocument {
  const receivedMs = receivedAt.getTime();
  const at = new Date(Math.min(Math.max(sentAt.getTime(), receivedMs - OLDEST_MS), receivedMs));
  const _id = inboundMessageId(account, upstreamId, at);
  return {
    _id,
    channel: 'chatapp',
    direction: 'in',
    account,
    day: idDay(_id),
    from,
    to: number,
    upstreamId,
    inbound: { type, body, ...(more === undefined ? {} : { more }) },
    ...(replyTo && { replyTo }),
    state: 'received',
    v: 0,
    tries: 0,
    validUntil: at,
    history: [{ state: 'received', at }],
  };
}

export interface InboxRotationOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  partitionOf(account: AccountId): HeldPartition | undefined;
  workOff(items: readonly InboxItemDocument[], partition: HeldPartition): Promise<void>;
}

const ITEMS_MAX = 200;
const READS = 4;
const ASIDE_MS = 30_000;

type Page = Awaited<ReturnType<typeof dueItems>>;

/**
 * Decides which account's items are next. Accounts come one after the other, in the order of their ids. A read ends
 * with the account that fills it, the next one begins after that account, and the next look where this one stopped: a
 * flood of items for one account delays no other. An account whose items fail is skipped for half a minute, and logged.
 */
export class InboxRotation {
  readonly #options: InboxRotationOptions;
  #upTo = '';
  readonly #asideUntilMs = new Map<AccountId, number>();

  constructor(options: InboxRotationOptions) {
    this.#options = options;
  }

  /** Returns whether there were items. Throws (store, lost partition) only after all that was begun has ended. */
  async work(accounts: readonly AccountId[]): Promise<boolean> {
    const groups = new Map<HeldPartition, InboxItemDocument[]>();
    const items = await this.#nextItems(accounts.filter((account) => !this.#isAside(account)));
    for (const item of items) {
      const partition = this.#options.partitionOf(item.account);
      if (partition === undefined) continue;
      const group = groups.get(partition);
      if (group === undefined) groups.set(partition, [item]);
      else group.push(item);
    }
    const ends = await Promise.allSettled([...groups].map(([partition, group]) => this.#workOff(group, partition)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return items.length > 0;
  }

  async #nextItems(accounts: readonly AccountId[]): Promise<readonly InboxItemDocument[]> {
    const items: InboxItemDocument[] = [];
    const start = this.#upTo;
    const parts = [accounts.filter((account) => account > start), accounts.filter((account) => account <= start)];
    for (let reads = 0; reads < READS && parts.length > 0; ) {
      const [part = []] = parts;
      if (part.length > 0) reads++;
      const page = await this.#read(part);
      items.push(...page.items);
      const last = page.items.at(-1)?.account;
      if (page.more && last !== undefined) {
        parts[0] = part.filter((account) => account > last);
        this.#upTo = last;
      } else {
        parts.shift();
        this.#upTo = '';
      }
    }
    return items;
  }

  /** If a read fails and the store is available, reads the accounts by halves until the failing one is found. */
  async #read(accounts: readonly AccountId[]): Promise<Page> {
    const { db, clock } = this.#options;
    try {
      return await dueItems(db, accounts, clock.now(), ITEMS_MAX);
    } catch (error) {
      if (isStoreTrouble(error)) throw error;
      const [only, second] = accounts;
      if (only !== undefined && second === undefined) {
        this.#setAside(only, error);
        return { items: [], more: false };
      }
      const half = Math.ceil(accounts.length / 2);
      const first = await this.#read(accounts.slice(0, half));
      const rest = await this.#read(accounts.slice(half));
      return { items: [...first.items, ...rest.items], more: first.more || rest.more };
    }
  }

  async #workOff(items: readonly InboxItemDocument[], partition: HeldPartition): Promise<void> {
    try {
      await this.#options.workOff(items, partition);
    } catch (error) {
      if (isStoreTrouble(error) || error instanceof LeaseLostError) throw error;
      const accounts = new Set(items.map(({ account }) => account));
      for (const account of accounts) {
        if (accounts.size === 1) this.#setAside(account, error);
        else
          await this.#workOff(
            items.filter((item) => item.account === account),
            partition,
          );
      }
    }
  }

  #setAside(account: AccountId, error: unknown): void {
    const { clock, log, metrics } = this.#options;
    this.#asideUntilMs.set(account, clock.monotonicMs() + ASIDE_MS);
    metrics.inboxAside.inc();
    log.error('inbox_account_set_aside', { account, pause_ms: ASIDE_MS, ...errorFields(error) });
  }

  #isAside(account: AccountId): boolean {
    const untilMs = this.#asideUntilMs.get(account);
    if (untilMs === undefined) return false;
    if (this.#options.clock.monotonicMs() < untilMs) return true;
    this.#asideUntilMs.delete(account);
    return false;
  }
}
