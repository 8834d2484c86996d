import type { Db } from 'mongodb';
import { finishItems, retryItem } from '../../shared/chat-inbox/store.ts';
import type { ClaimGates } from '../../shared/claim/claim-gates.ts';
import type { Lease } from '../../shared/leases/lease.ts';
import { Shares, shareOf } from '../../shared/leases/shares.ts';
import type { ListenForChanges } from '../../shared/mongo/change-signal.ts';
import { listProviders } from '../../shared/providers/store.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { PollLoop } from '../../shared/runtime/poll-loop.ts';
import type { SecretBox } from '../../shared/runtime/secret-box.ts';
import { within } from '../../shared/runtime/within.ts';
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

export interface ChatWorkerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly box: SecretBox;
  readonly gates: ClaimGates;
  readonly messageLog: MessageLog;
  /** One per share of the accounts. */
  readonly leases: readonly Lease[];
  /** How often leases are renewed and shared out, in milliseconds. */
  readonly leaseRoundMs: number;
  /** Where it can be heard that something is queued or came in. */
  readonly listen?: ListenForChanges | undefined;
  countWorkers(): Promise<number>;
  /** Whether messages may leave (workers/chatapp/depart.ts). */
  readonly depart: AccountLineOptions['depart'];
  /** From 0 to 1. */
  random(): number;
}

const IDLE_MS = 100;
/** From one round's start to the next: after one that found work, and after one that did not and was woken by somebody else's. */
const BUSY_ROUND_MS = 8;
const QUIET_ROUND_MS = 30;
const PROVIDERS_MS = 2_000;
const UNKNOWNS_MS = 10_000;
/** Reads of the queue in one round; where it stopped, the next goes on. */
const LOOKS_MAX = 16;
/** An empty inbox is not looked into more often, whatever else wakes the worker. */
const INBOX_MS = 100;
/** How long a stop waits for answers, and then for the last writes: together shorter than a process has to stop (lifecycle.ts). */
const DRAIN_MS = 9_000;
const LAST_WRITES_MS = 3_000;

/**
 * Serves the accounts whose shares it holds: their messages leave by a line for each (account-line.ts), what their providers
 * posted to the callback is worked off (inbox.ts). A round looks at queue and inbox together; everything slow is in the lines.
 */
export class ChatWorker {
  readonly #options: ChatWorkerOptions;
  readonly #figures: Figures;
  readonly #shares: Shares;
  readonly #lines: Lines;
  readonly #inboxTurns: InboxTurns;
  readonly #loop: PollLoop;
  readonly #duties: Duties;
  #providers: ReadonlyMap<AccountId, Known> = new Map();
  #providersReadMs = Number.NEGATIVE_INFINITY;
  #unknownsMs = Number.NEGATIVE_INFINITY;
  #roundStartedMs = Number.NEGATIVE_INFINITY;
  #roundMs = 0;
  /** The account at which the look through the queue stopped. */
  #lookedUpTo = '';
  #claimsSeen = 0;
  #inboxEmptyMs = Number.NEGATIVE_INFINITY;

  constructor(options: ChatWorkerOptions) {
    const { db, clock, log, leases, listen } = options;
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
    this.#shares = new Shares({
      leases,
      clock,
      log,
      countWorkers: options.countWorkers,
      isBusy: (share) => this.#lines.inHand((account) => shareOf(account, leases.length) === share) > 0,
      roundMs: options.leaseRoundMs,
    });
    this.#duties = new Duties({ ...options, shares: this.#shares, figures: this.#figures, announcer });
    this.#loop = new PollLoop({
      name: 'chatapp',
      idleMs: IDLE_MS,
      log,
      work: () => this.#round(),
      listen: (wake) => {
        let heard = false;
        const ofUse = () => {
          // SMS change `messages` too: where no account has a provider, nobody wakes for them.
          if (heard && this.#providers.size === 0) return;
          heard = true;
          wake();
        };
        const ends = ['messages', 'chat_inbox'].map((collection) => listen?.(collection, ofUse));
        const begun = ends.filter((end) => end !== undefined);
        return begun.length === ends.length ? () => begun.forEach((end) => void end()) : undefined;
      },
    });
  }

  /** Takes what shares it can and begins. Throws when the store cannot be asked. */
  async start(): Promise<void> {
    await this.#shares.start();
    this.#loop.start();
  }

  /** Sends nothing new, waits for the answers of what was sent, stores them, and gives the shares back. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    const drained = this.#lines.drain();
    await within(DRAIN_MS, drained);
    this.#lines.cutOff();
    await within(LAST_WRITES_MS, drained);
    this.#duties.giveUp();
    await this.#shares.stop();
  }

  async #round(): Promise<'more' | 'idle'> {
    const { clock } = this.#options;
    const restMs = this.#roundStartedMs + this.#roundMs - clock.monotonicMs();
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    this.#roundStartedMs = clock.monotonicMs();
    this.#roundMs = QUIET_ROUND_MS;
    await this.#readProviders();
    await this.#duties.take();
    this.#lines.update(this.#providers, (account) => this.#duties.of(account));
    this.#gauges();
    if (this.#providers.size === 0) return 'idle';
    const [sending, received] = await Promise.all([this.#lookForWork(), this.#workInbox()]);
    await this.#decideUnknowns();
    if (!sending && !received) return 'idle';
    this.#roundMs = BUSY_ROUND_MS;
    return 'more';
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
    this.#figures.shares.set(this.#shares.held);
  }
}
