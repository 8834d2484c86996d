import { readPriceLists } from '../../shared/carriers/providers/price-list.ts';
import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import { listProviders } from '../../shared/carriers/providers/store.ts';
import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { finishItems, retryItem } from '../../shared/messages/chat-inbox.ts';
import type { BusinessNumber } from '../../shared/messages/document/chat-message.ts';
import type { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import type { MessageLog } from '../../shared/messages/settlement/message-log.ts';
import type { ChatAccepter } from '../../shared/money/conversations/open.ts';
import { LeasedWorker, type LeasedWorkerOptions } from '../../shared/platform/leases/leased-worker.ts';
import { FreshCache } from '../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, isTestAccount } from '../../shared/platform/runtime/ids.ts';
import type { Found } from '../../shared/platform/runtime/poll-loop.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { Tracer } from '../../shared/platform/runtime/tracer.ts';
import { dueChatTemplateRequests, refuseRequest } from '../../shared/templates/chat/store.ts';
import { type AccountWork, accountsWithWork, refuseRemoved } from './claim.ts';
import { Customers } from './customers.ts';
import { Fallbacks } from './fallbacks.ts';
import type { HeaderSamples } from './header-samples.ts';
import { decideUnknownsOf, HeldPartitions, isAnyClaimed } from './held-partition.ts';
import { Inbox, InboxRotation } from './inbox.ts';
import { type ChatMetrics, createChatMetrics } from './metrics.ts';
import { type KnownNumber, NumberRuns } from './number-runs.ts';
import { SecondTries } from './second-tries.ts';
import type { SendLoopOptions } from './send-loop.ts';

export interface ChatWorkerOptions extends LeasedWorkerOptions {
  readonly tracer?: Tracer | undefined;
  readonly box: SecretBox;
  readonly gates: ClaimGates;
  readonly samples: HeaderSamples;
  readonly messageLog: MessageLog;
  readonly accepter: ChatAccepter;
  readonly depart: SendLoopOptions['depart'];
  random(): number;
}

const IDLE_MS = 100;
/** Shortest time from one round's start to the next, after a round that found work (`more`) or none (`idle`). */
const GAP_MS = { more: 8, idle: 30 };
const PROVIDERS_MS = 2_000;
/** Fields that change while a number is served, without a new run. */
const NOTES = {
  defaultAt: undefined,
  troubles: undefined,
  notice: undefined,
  tiers: undefined,
  probe: undefined,
  trial: undefined,
};
const PRICES_MS = 5_000;
const PRICES_MAX = 1_000;
const UNKNOWNS_MS = 10_000;
const REMOVED_MS = 2_000;
const TEMPLATES_MS = 2_000;
const TEMPLATES_MAX = 100;
const NO_NUMBER = 'The account has no number of this business account any more.';
/** The most reads of the queue in one round. The next round continues where it stopped. */
const LOOKS_MAX = 16;
/** The shortest time between reads of an empty inbox, whatever wakes the worker. */
const INBOX_MS = 100;
const STOP_MS = { answers: 9_000, lastWrites: 3_000 };

/**
 * Serves the accounts in its partitions: number-runs.ts sends, inbox.ts works off what providers posted. A round looks
 * at the queue and the inbox together; slow work is done in the runs.
 */
export class ChatWorker extends LeasedWorker<AccountId> {
  readonly #options: ChatWorkerOptions;
  readonly #metrics: ChatMetrics;
  readonly #runs: NumberRuns;
  readonly #inbox: InboxRotation;
  readonly #held: HeldPartitions;
  readonly #fallbacks: Fallbacks;
  readonly #secondTries: SecondTries;
  #numbers: ReadonlyMap<BusinessNumber, KnownNumber> = new Map();
  #accounts: readonly AccountId[] = [];
  #providersReadMs = Number.NEGATIVE_INFINITY;
  #unknownsMs = Number.NEGATIVE_INFINITY;
  #templatesMs = Number.NEGATIVE_INFINITY;
  /** The account at which the last look for requests stopped, so that one with many holds up no other. */
  #templatesUpTo = '';
  #lookedUpTo = '';
  #claimsSeen = 0;
  /** Accounts that may have queued messages of numbers that they have no more. */
  readonly #suspects = new Set<AccountId>();
  #removedMs = Number.NEGATIVE_INFINITY;
  #inboxEmptyMs = Number.NEGATIVE_INFINITY;

  constructor(options: ChatWorkerOptions) {
    super(options, {
      name: 'chatapp',
      idleMs: IDLE_MS,
      gapMs: GAP_MS,
      hears: ['messages/chat_queue', 'messages/fallback', 'chat_inbox', 'chat_template_requests'],
      stopMs: STOP_MS,
    });
    const { db, clock, log, tracer } = options;
    this.#options = options;
    const metrics = createChatMetrics(options.metrics);
    this.#metrics = metrics;
    const announcer = createAnnouncer({ db, clock, tracer });
    const customers = new Customers(db, clock);
    this.#runs = new NumberRuns({ ...options, metrics, customers });
    const inbox = new Inbox({
      db,
      clock,
      log,
      metrics,
      announcer,
      customers,
      prices: new FreshCache({
        ...{ freshMs: PRICES_MS, maxEntries: PRICES_MAX, clock },
        readMany: (accounts) => readPriceLists(db, accounts),
      }),
      finish: (ids) => finishItems(db, ids),
      retry: (id, due) => retryItem(db, id, due),
      copyTemplates: (owner) => this.#runs.copyTemplates(owner),
      copyTemplatesOf: (message) => this.#runs.copyTemplatesOf(message),
      noteStatus: (message, news, failure) => this.#runs.noteStatus(message, news, failure),
    });
    this.#inbox = new InboxRotation({
      db,
      clock,
      log,
      metrics,
      partitionOf: (account) => this.#held.of(account),
      workOff: (items, { statuses }) => inbox.work(items, statuses),
    });
    this.#held = new HeldPartitions({ ...options, partitions: this.partitions, metrics, announcer });
    this.#fallbacks = new Fallbacks({ ...options, metrics, partitionOf: (account) => this.#held.of(account) });
    const serves = (account: AccountId) => this.#held.of(account) !== undefined;
    this.#secondTries = new SecondTries({ ...options, metrics, serves });
  }

  protected hasInHand(fits: (account: AccountId) => boolean): boolean {
    return this.#fallbacks.work.busy || this.#runs.hasInHand(fits);
  }

  /** SMS change `messages` too, so a worker without any number ignores those changes. */
  protected override mayBringWork(): boolean {
    return this.#numbers.size > 0;
  }

  protected override async drain(): Promise<void> {
    await Promise.all([this.#runs.drain(), this.#fallbacks.work.close(), this.#secondTries.work.close()]);
  }

  protected override async cutOff(): Promise<void> {
    this.#runs.cutOff();
  }

  protected override giveUp(): void {
    this.#held.giveUp();
  }

  protected async round(): Promise<Found> {
    await this.#readProviders();
    await this.#held.update();
    this.#runs.update(this.#numbers, (account) => this.#held.of(account));
    this.#runs.probe(this.#numbers, (account) => this.#held.of(account));
    this.#gauges();
    this.#fallbacks.work.look();
    this.#secondTries.work.look();
    if (this.#numbers.size === 0) {
      await this.#refuseRemoved();
      return 'idle';
    }
    const [sending, received] = await Promise.all([this.#lookForWork(), this.#workInbox()]);
    await this.#askForTemplates();
    await this.#refuseRemoved();
    await this.#decideUnknowns();
    if (sending || received === 'more') return 'more';
    const waiting = received === 'waiting' || this.#lookedUpTo !== '' || this.#runs.closing;
    return waiting ? 'waiting' : 'idle';
  }

  async #readProviders(): Promise<void> {
    const { clock, db } = this.#options;
    if (clock.monotonicMs() - this.#providersReadMs < PROVIDERS_MS) return;
    const startedMs = clock.monotonicMs();
    const providers = await listProviders(db);
    this.#numbers = knownNumbers(providers);
    this.#accounts = [...new Set(providers.map(({ account }) => account))];
    this.#providersReadMs = startedMs;
  }

  /** Wakes the numbers with queued messages. Returns whether anything was claimed since the last look. */
  async #lookForWork(): Promise<boolean> {
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const { accounts, more } = await accountsWithWork(this.#options.db, this.#lookedUpTo);
      for (const work of accounts) {
        this.#runs.wake(work);
        if (this.#mayBeStray(work)) this.#suspects.add(work.account);
      }
      this.#lookedUpTo = more ? (accounts.at(-1)?.account ?? '') : '';
      if (!more) break;
    }
    // Claims of the numbers that were woken just now are seen in the next round.
    const claimed = this.#runs.claimed > this.#claimsSeen;
    this.#claimsSeen = this.#runs.claimed;
    return claimed;
  }

  /** Test messages wait in the same queue, and maintenance decides them. */
  #mayBeStray({ account, numbers }: AccountWork): boolean {
    if (isTestAccount(account)) return false;
    return numbers === 'any' || [...numbers].some((number) => this.#numbers.get(number)?.provider.account !== account);
  }

  async #refuseRemoved(): Promise<void> {
    const { clock, db, log } = this.#options;
    if (clock.monotonicMs() - this.#removedMs < REMOVED_MS) return;
    this.#removedMs = clock.monotonicMs();
    // Without numbers nobody else looks at the queue.
    if (this.#numbers.size === 0) await this.#lookForWork();
    for (const account of this.#suspects) {
      this.#suspects.delete(account);
      const partition = this.#held.of(account);
      if (partition === undefined) continue;
      const own = [...this.#numbers.values()].flatMap(({ provider }) =>
        provider.account === account ? [provider._id] : [],
      );
      const refused = await refuseRemoved(db, clock, partition, account, own);
      if (refused > 0) log.info('removed_number_refused', { account, messages: refused });
    }
  }

  /** `more`: there were items. `waiting`: it is too early for another look. */
  async #workInbox(): Promise<Found> {
    const { clock } = this.#options;
    if (clock.monotonicMs() - this.#inboxEmptyMs < INBOX_MS) return 'waiting';
    const accounts = this.#accounts.filter((account) => this.#held.of(account) !== undefined);
    if (accounts.length === 0) return 'idle';
    const found = await this.#inbox.work(accounts);
    this.#inboxEmptyMs = found ? Number.NEGATIVE_INFINITY : clock.monotonicMs();
    return found ? 'more' : 'idle';
  }

  async #askForTemplates(): Promise<void> {
    const { clock, db } = this.#options;
    if (clock.monotonicMs() - this.#templatesMs < TEMPLATES_MS) return;
    this.#templatesMs = clock.monotonicMs();
    const accounts = this.#accounts.filter(
      (account) => this.#held.of(account) !== undefined && account > this.#templatesUpTo,
    );
    // Requests to paused business accounts would only fill the page.
    const active = new Set<string>();
    for (const { provider } of this.#numbers.values())
      if (provider.status === 'active') active.add(provider.businessId);
    const paused = [...this.#numbers.values()].map(({ provider }) => provider.businessId);
    const without = [...new Set(paused)].filter((business) => !active.has(business));
    const due = await dueChatTemplateRequests(db, accounts, without, clock.now(), TEMPLATES_MAX);
    this.#templatesUpTo = due.length < TEMPLATES_MAX ? '' : (due.at(-1)?.account ?? '');
    this.#runs.askForTemplates(due);
    const owners = new Set(
      [...this.#numbers.values()].map(({ provider }) => `${provider.account} ${provider.businessId}`),
    );
    const orphans = due.filter(({ account, business }) => !owners.has(`${account} ${business}`));
    for (const request of orphans) await refuseRequest(db, request, NO_NUMBER, clock.now());
  }

  async #decideUnknowns(): Promise<void> {
    const { clock, db } = this.#options;
    if (clock.monotonicMs() - this.#unknownsMs < UNKNOWNS_MS) return;
    this.#unknownsMs = clock.monotonicMs();
    const held = this.#held.all();
    for (const { unknowns } of held) await unknowns.finishFollowUps();
    if (!(await isAnyClaimed(db, held))) return;
    for (const partition of held) {
      const providerOf = (number: BusinessNumber) => this.#numbers.get(number)?.provider;
      const { decided, takenOver } = await decideUnknownsOf(db, clock, partition, providerOf);
      if (takenOver > 0) this.#metrics.takenOver.inc(takenOver);
      for (const [policy, count] of decided) this.#metrics.policy.inc({ policy }, count);
    }
  }

  #gauges(): void {
    this.#metrics.inFlight.set(this.#runs.inFlight);
    this.#metrics.broken.set(this.#runs.broken);
    this.#metrics.partitions.set(this.partitions.held);
  }
}

/** The first active number of each business account (default numbers first) has the duty of its templates. */
function knownNumbers(providers: readonly ProviderDocument[]): ReadonlyMap<BusinessNumber, KnownNumber> {
  const businessesOf = new Map<AccountId, Set<string>>();
  for (const { account, businessId } of providers) {
    businessesOf.set(account, (businessesOf.get(account) ?? new Set()).add(businessId));
  }
  const led = new Set<string>();
  return new Map(
    providers.map((provider) => {
      const business = `${provider.account} ${provider.businessId}`;
      const leads = provider.status === 'active' && !led.has(business);
      if (leads) led.add(business);
      const businesses = leads ? [...(businessesOf.get(provider.account) ?? [])].sort() : undefined;
      const settings = { ...provider, ...NOTES };
      return [provider._id, { provider, businesses, version: JSON.stringify([settings, businesses]) }];
    }),
  );
}
