import { finishItems, retryItem } from '../../shared/chat-inbox/store.ts';
import type { ClaimGates } from '../../shared/claim/claim-gates.ts';
import { LeasedWorker, type LeasedWorkerOptions } from '../../shared/leases/leased-worker.ts';
import { listProviders } from '../../shared/providers/store.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import type { SecretBox } from '../../shared/runtime/secret-box.ts';
import type { MessageLog } from '../../shared/settlement/log-store.ts';
import { createAnnouncer } from '../../shared/webhooks/announce.ts';
import type { AccountLineOptions } from './account-line.ts';
import { accountsWithWork } from './claim.ts';
import { Duties } from './duties.ts';
import { createFigures, type Figures } from './figures.ts';
import { Inbox } from './inbox.ts';
import { InboxTurns } from './inbox-turns.ts';
import { type Known, Lines, markTemplateOf } from './lines.ts';
import { decideUnknownsOf } from './unknowns.ts';

export interface ChatWorkerOptions extends LeasedWorkerOptions {
  readonly box: SecretBox;
  readonly gates: ClaimGates;
  readonly messageLog: MessageLog;
  /** Whether messages may leave (workers/chatapp/depart.ts). */
  readonly depart: AccountLineOptions['depart'];
  /** From 0 to 1. */
  random(): number;
}

const IDLE_MS = 100;
/** From one round's start to the next: after one that found work, and after one that did not and was woken by somebody else's. */
const GAP_MS = { more: 8, idle: 30 };
const PROVIDERS_MS = 2_000;
const UNKNOWNS_MS = 10_000;
/** Reads of the queue in one round; where it stopped, the next goes on. */
const LOOKS_MAX = 16;
/** An empty inbox is not looked into more often, whatever else wakes the worker. */
const INBOX_MS = 100;
const STOP_MS = { answers: 9_000, lastWrites: 3_000 };

/**
 * Serves the accounts in its partitions: their messages leave by a line for each (account-line.ts), what their providers
 * posted to the callback is worked off (inbox.ts). A round looks at queue and inbox together; everything slow is in the lines.
 */
export class ChatWorker extends LeasedWorker<AccountId> {
  readonly #options: ChatWorkerOptions;
  readonly #figures: Figures;
  readonly #lines: Lines;
  readonly #inboxTurns: InboxTurns;
  readonly #duties: Duties;
  #providers: ReadonlyMap<AccountId, Known> = new Map();
  #providersReadMs = Number.NEGATIVE_INFINITY;
  #unknownsMs = Number.NEGATIVE_INFINITY;
  /** The account at which the look through the queue stopped. */
  #lookedUpTo = '';
  #claimsSeen = 0;
  #inboxEmptyMs = Number.NEGATIVE_INFINITY;

  constructor(options: ChatWorkerOptions) {
    super(options, {
      name: 'chatapp',
      idleMs: IDLE_MS,
      gapMs: GAP_MS,
      hears: ['messages', 'chat_inbox'],
      stopMs: STOP_MS,
    });
    const { db, clock, log } = options;
    this.#options = options;
    this.#figures = createFigures(options.metrics);
    const announcer = createAnnouncer({ db, clock });
    this.#lines = new Lines({ ...options, figures: this.#figures });
    const inbox = new Inbox({
      db,
      clock,
      log,
      figures: this.#figures,
      announcer,
      finish: (ids) => finishItems(db, ids),
      retry: (id, due) => retryItem(db, id, due),
      markTemplate: (message, status) => markTemplateOf(db, message, status),
    });
    this.#inboxTurns = new InboxTurns({
      db,
      clock,
      log,
      figures: this.#figures,
      dutyOf: (account) => this.#duties.of(account),
      workOff: (items, { statuses }) => inbox.work(items, statuses, (account) => this.#numberOf(account)),
    });
    this.#duties = new Duties({ ...options, partitions: this.partitions, figures: this.#figures, announcer });
  }

  protected hasInHand(fits: (account: AccountId) => boolean): boolean {
    return this.#lines.inHand(fits) > 0;
  }

  /** SMS change `messages` too: where no account has a provider, nobody wakes for them. */
  protected override minds(): boolean {
    return this.#providers.size > 0;
  }

  protected override drain(): Promise<void> {
    return this.#lines.drain();
  }

  protected override async cutOff(): Promise<void> {
    this.#lines.cutOff();
  }

  protected override giveUp(): void {
    this.#duties.giveUp();
  }

  protected async round(): Promise<'more' | 'idle'> {
    await this.#readProviders();
    await this.#duties.take();
    this.#lines.update(this.#providers, (account) => this.#duties.of(account));
    this.#gauges();
    if (this.#providers.size === 0) return 'idle';
    const [sending, received] = await Promise.all([this.#lookForWork(), this.#workInbox()]);
    await this.#decideUnknowns();
    return sending || received ? 'more' : 'idle';
  }

  async #readProviders(): Promise<void> {
    const { clock, db } = this.#options;
    if (clock.monotonicMs() - this.#providersReadMs < PROVIDERS_MS) return;
    const startedMs = clock.monotonicMs();
    const providers = await listProviders(db);
    this.#providers = new Map(
      // What a line notes of its provider must not close that line.
      providers.map((provider) => [
        provider._id,
        { provider, version: JSON.stringify({ ...provider, troubles: undefined }) },
      ]),
    );
    this.#providersReadMs = startedMs;
  }

  /** Wakes the lines of the accounts that have something queued; whether lines have claimed something since the last look. */
  async #lookForWork(): Promise<boolean> {
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const { accounts, more } = await accountsWithWork(this.#options.db, this.#lookedUpTo);
      for (const account of accounts) this.#lines.wake(account);
      this.#lookedUpTo = more ? (accounts.at(-1) ?? '') : '';
      if (!more) break;
    }
    // What the lines just woken claim is seen in the next round.
    const claimed = this.#lines.claimed > this.#claimsSeen;
    this.#claimsSeen = this.#lines.claimed;
    return claimed;
  }

  /** Whether there was anything. */
  async #workInbox(): Promise<boolean> {
    const { clock } = this.#options;
    if (clock.monotonicMs() - this.#inboxEmptyMs < INBOX_MS) return false;
    const accounts = [...this.#providers.keys()].filter((account) => this.#duties.of(account) !== undefined);
    if (accounts.length === 0) return false;
    const found = await this.#inboxTurns.work(accounts);
    this.#inboxEmptyMs = found ? Number.NEGATIVE_INFINITY : clock.monotonicMs();
    return found;
  }

  #numberOf(account: AccountId): string {
    return this.#providers.get(account)?.provider.displayNumber ?? '';
  }

  async #decideUnknowns(): Promise<void> {
    const { clock, db } = this.#options;
    if (clock.monotonicMs() - this.#unknownsMs < UNKNOWNS_MS) return;
    this.#unknownsMs = clock.monotonicMs();
    for (const duty of this.#duties.held()) {
      const providerOf = (account: AccountId) => this.#providers.get(account)?.provider;
      const { decided, stray } = await decideUnknownsOf(db, clock, duty, providerOf);
      if (stray > 0) this.#figures.takenOver.inc(stray);
      for (const [policy, count] of decided) this.#figures.policy.inc({ policy }, count);
    }
  }

  #gauges(): void {
    this.#figures.inFlight.set(this.#lines.inFlight);
    this.#figures.broken.set(this.#lines.broken);
    this.#figures.shares.set(this.partitions.held);
  }
}
