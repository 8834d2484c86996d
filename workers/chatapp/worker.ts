import { readPriceLists } from '../../shared/carriers/providers/price-list.ts';
import { listProviders } from '../../shared/carriers/providers/store.ts';
import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { finishItems, retryItem } from '../../shared/messages/chat-inbox-store.ts';
import type { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import type { MessageLog } from '../../shared/messages/settlement/log-store.ts';
import { LeasedWorker, type LeasedWorkerOptions } from '../../shared/platform/leases/leased-worker.ts';
import { FreshCache } from '../../shared/platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { Found } from '../../shared/platform/runtime/poll-loop.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import { dueChatTemplateRequests } from '../../shared/templates/chat/request-store.ts';
import { AccountRuns, type KnownProvider } from './account-runs.ts';
import { accountsWithWork } from './claim.ts';
import { Customers } from './customers.ts';
import { Fallbacks } from './fallbacks.ts';
import { HeldPartitions } from './held-partition.ts';
import { Inbox } from './inbox.ts';
import { InboxRotation } from './inbox-rotation.ts';
import { type ChatMetrics, createChatMetrics } from './metrics.ts';
import type { HeaderSamples } from './samples/header-samples.ts';
import type { SendLoopOptions } from './send-loop.ts';
import { decideUnknownsOf, isAnyClaimed } from './unknowns.ts';

export interface ChatWorkerOptions extends LeasedWorkerOptions {
  readonly box: SecretBox;
  readonly gates: ClaimGates;
  readonly samples: HeaderSamples;
  readonly messageLog: MessageLog;
  /** Whether messages may leave (workers/chatapp/depart.ts). */
  readonly depart: SendLoopOptions['depart'];
  /** From 0 to 1. */
  random(): number;
}

const IDLE_MS = 100;
/**
 * Shortest time from one round's start to the next. `more`: after a round that found work. `idle`: after a round that
 * found none.
 */
const GAP_MS = { more: 8, idle: 30 };
const PROVIDERS_MS = 2_000;
/** What is noted in a provider's document while it is served: it makes no other run. */
const NOTES = { troubles: undefined, notice: undefined, tiers: undefined, probe: undefined, trial: undefined };
/** How long a price list is remembered, and how many. */
const PRICES_MS = 5_000;
const PRICES_MAX = 1_000;
const UNKNOWNS_MS = 10_000;
/** How often requests for templates are looked for, and how many at once. */
const TEMPLATES_MS = 2_000;
const TEMPLATES_MAX = 100;
/** The most reads of the queue in one round. The next round continues where it stopped. */
const LOOKS_MAX = 16;
/** How often an empty inbox is read at most, whatever wakes the worker. */
const INBOX_MS = 100;
const STOP_MS = { answers: 9_000, lastWrites: 3_000 };

/**
 * Serves the accounts in its partitions. Each account has a run that sends its messages (account-run.ts). inbox.ts
 * works off what providers posted to the callback. A round looks at the queue and the inbox together. Slow work is
 * done in the runs.
 */
export class ChatWorker extends LeasedWorker<AccountId> {
  readonly #options: ChatWorkerOptions;
  readonly #metrics: ChatMetrics;
  readonly #runs: AccountRuns;
  readonly #inbox: InboxRotation;
  readonly #held: HeldPartitions;
  readonly #fallbacks: Fallbacks;
  #providers: ReadonlyMap<AccountId, KnownProvider> = new Map();
  #providersReadMs = Number.NEGATIVE_INFINITY;
  #unknownsMs = Number.NEGATIVE_INFINITY;
  #templatesMs = Number.NEGATIVE_INFINITY;
  /** The account at which the last look for requests stopped, so that one with many holds up no other. */
  #templatesUpTo = '';
  /** The account at which the look through the queue stopped. */
  #lookedUpTo = '';
  #claimsSeen = 0;
  #inboxEmptyMs = Number.NEGATIVE_INFINITY;

  constructor(options: ChatWorkerOptions) {
    super(options, {
      name: 'chatapp',
      idleMs: IDLE_MS,
      gapMs: GAP_MS,
      hears: ['messages/chat_queue', 'messages/fallback', 'chat_inbox', 'chat_template_requests'],
      stopMs: STOP_MS,
    });
    const { db, clock, log } = options;
    this.#options = options;
    const metrics = createChatMetrics(options.metrics);
    this.#metrics = metrics;
    const announcer = createAnnouncer({ db, clock });
    const customers = new Customers(db, clock);
    this.#runs = new AccountRuns({ ...options, metrics, customers });
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
      copyTemplates: (account) => this.#runs.copyTemplates(account),
      noteNews: (message, news, code) => this.#runs.noteNews(message, news, code),
    });
    this.#inbox = new InboxRotation({
      db,
      clock,
      log,
      metrics,
      partitionOf: (account) => this.#held.of(account),
      workOff: (items, { statuses }) => inbox.work(items, statuses, (account) => this.#numberOf(account)),
    });
    this.#held = new HeldPartitions({ ...options, partitions: this.partitions, metrics, announcer });
    this.#fallbacks = new Fallbacks({ ...options, metrics, partitionOf: (account) => this.#held.of(account) });
  }

  protected hasInHand(fits: (account: AccountId) => boolean): boolean {
    return this.#fallbacks.busy || this.#runs.hasInHand(fits);
  }

  /** SMS change `messages` too, so a worker without any provider ignores those changes. */
  protected override mayBringWork(): boolean {
    return this.#providers.size > 0;
  }

  protected override async drain(): Promise<void> {
    await Promise.all([this.#runs.drain(), this.#fallbacks.close()]);
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
    this.#runs.update(this.#providers, (account) => this.#held.of(account));
    this.#runs.probe(this.#providers, (account) => this.#held.of(account));
    this.#gauges();
    this.#fallbacks.look();
    if (this.#providers.size === 0) return 'idle';
    const [sending, received] = await Promise.all([this.#lookForWork(), this.#workInbox()]);
    await this.#askForTemplates();
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
    this.#providers = new Map(
      providers.map((provider) => [
        provider._id,
        {
          provider,
          version: JSON.stringify({ ...provider, ...NOTES }),
        },
      ]),
    );
    this.#providersReadMs = startedMs;
  }

  /** Wakes the accounts with queued messages. Returns whether anything was claimed since the last look. */
  async #lookForWork(): Promise<boolean> {
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const { accounts, more } = await accountsWithWork(this.#options.db, this.#lookedUpTo);
      for (const account of accounts) this.#runs.wake(account);
      this.#lookedUpTo = more ? (accounts.at(-1) ?? '') : '';
      if (!more) break;
    }
    // Claims of the accounts that were woken just now are seen in the next round.
    const claimed = this.#runs.claimed > this.#claimsSeen;
    this.#claimsSeen = this.#runs.claimed;
    return claimed;
  }

  /** `more`: there were items. `waiting`: it is too early for another look. */
  async #workInbox(): Promise<Found> {
    const { clock } = this.#options;
    if (clock.monotonicMs() - this.#inboxEmptyMs < INBOX_MS) return 'waiting';
    const accounts = [...this.#providers.keys()].filter((account) => this.#held.of(account) !== undefined);
    if (accounts.length === 0) return 'idle';
    const found = await this.#inbox.work(accounts);
    this.#inboxEmptyMs = found ? Number.NEGATIVE_INFINITY : clock.monotonicMs();
    return found ? 'more' : 'idle';
  }

  async #askForTemplates(): Promise<void> {
    const { clock, db } = this.#options;
    if (clock.monotonicMs() - this.#templatesMs < TEMPLATES_MS) return;
    this.#templatesMs = clock.monotonicMs();
    const accounts = [...this.#providers]
      .filter(([account, { provider }]) => provider.status === 'active' && this.#held.of(account) !== undefined)
      .map(([account]) => account)
      .filter((account) => account > this.#templatesUpTo);
    const due = await dueChatTemplateRequests(db, accounts, clock.now(), TEMPLATES_MAX);
    this.#templatesUpTo = due.length < TEMPLATES_MAX ? '' : (due.at(-1)?.account ?? '');
    this.#runs.askForTemplates(due);
  }

  #numberOf(account: AccountId): string {
    return this.#providers.get(account)?.provider.displayNumber ?? '';
  }

  async #decideUnknowns(): Promise<void> {
    const { clock, db } = this.#options;
    if (clock.monotonicMs() - this.#unknownsMs < UNKNOWNS_MS) return;
    this.#unknownsMs = clock.monotonicMs();
    const held = this.#held.all();
    for (const { unknowns } of held) await unknowns.finishFollowUps();
    if (!(await isAnyClaimed(db, held))) return;
    for (const partition of held) {
      const providerOf = (account: AccountId) => this.#providers.get(account)?.provider;
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
