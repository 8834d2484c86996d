import type { AnyMessage } from '../messages/any-message.ts';
import type { MessageDocument, StoredMessage } from '../messages/message.ts';
import { isStoreTrouble } from '../mongo/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { Grouper } from '../runtime/grouper.ts';
import type { MessageId } from '../runtime/ids.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { decideOutcome } from './decide-outcome.ts';
import { LeaseLostError } from './intents.ts';
import type { MessageLog } from './log-store.ts';
import { answerRecord, isUnusualAnswer } from './message-log.ts';
import type { Settler } from './settle.ts';
import type { SubmitOutcome } from './submit-outcome.ts';

export interface OutcomeSettlerOptions<M extends AnyMessage> {
  readonly settler: Settler;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: nothing is kept for timelines. */
  readonly messageLog?: MessageLog;
  /** Called for settled messages that have ids now: receipts for them may come, or may have come already. */
  onKeys(messages: readonly M[]): void;
  /** Called when these outcomes are stored. */
  onStored?(messages: readonly MessageId[]): void;
  onGroup(size: number): void;
}

interface Item<M> {
  readonly claimed: M;
  readonly outcome: SubmitOutcome;
}

const MAX_GROUP = 200;
const GATHER_MS = 5;
/** Pause between groups under load: a group costs an intent, an update and an insert, however many messages are in it. */
const PAUSE_MS = 20;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** How often a reachable store may refuse a group. After that, one of its messages must be the reason. */
const MAX_REFUSED = 3;

/**
 * Settles the results of submits, in groups. Only this process knows what the carrier answered. So it retries a group until the
 * store takes it, the lease is lost, or the process gives up at its stop. Results that are not stored by then are unknown to the
 * next holder.
 */
export class OutcomeSettler<M extends AnyMessage = MessageDocument> {
  readonly #options: OutcomeSettlerOptions<M>;
  readonly #grouper: Grouper<Item<M>, M | undefined>;
  #open = 0;
  /** Number of outcomes added, and of those whose group has ended. Groups end in order. */
  #added = 0;
  #ended = 0;
  #waiting: { readonly until: number; readonly resolve: () => void }[] = [];
  #givenUp = false;

  constructor(options: OutcomeSettlerOptions<M>) {
    this.#options = options;
    this.#grouper = new Grouper({
      maxItems: MAX_GROUP,
      gatherMs: GATHER_MS,
      pauseMs: PAUSE_MS,
      run: (items) => this.#run(items),
    });
  }

  /** Number of messages whose outcome is known here but not stored yet. */
  get open(): number {
    return this.#open;
  }

  /** Resolves with the message as stored when its outcome is; undefined when there was nothing to change. */
  async add(claimed: M, outcome: SubmitOutcome): Promise<M | undefined> {
    this.#open += 1;
    this.#added += 1;
    try {
      return await this.#grouper.add({ claimed, outcome });
    } finally {
      this.#open -= 1;
    }
  }

  /** Resolves when everything added so far is stored or given up, after `waitMs` at the latest. */
  async settled(waitMs: number): Promise<void> {
    if (this.#ended >= this.#added) return;
    const until = this.#added;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#waiting.push({
        until,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
      });
    });
  }

  /** Ends retries. Called when the process must end although the store is away. */
  giveUp(): void {
    this.#givenUp = true;
  }

  async #run(items: readonly Item<M>[]): Promise<readonly (M | undefined)[]> {
    try {
      return await this.#settle(items);
    } finally {
      this.#ended += items.length;
      for (const waiting of this.#waiting) if (waiting.until <= this.#ended) waiting.resolve();
      this.#waiting = this.#waiting.filter(({ until }) => until > this.#ended);
    }
  }

  async #settle(items: readonly Item<M>[]): Promise<readonly (M | undefined)[]> {
    const { settler, clock, log } = this.#options;
    this.#options.onGroup(items.length);
    const decisions = items.map(({ claimed, outcome }) => ({
      message: claimed,
      random: Math.random(),
      decide(message: M) {
        if (claimed.claim === undefined) return undefined;
        return decideOutcome(message, claimed.claim, outcome, clock.now(), this.random);
      },
    }));
    const at = clock.now();
    let refused = 0;
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        const settled = await settler.settle(decisions);
        this.#options.onStored?.(items.map(({ claimed }) => claimed._id));
        const changed = settled.filter((message) => message !== undefined);
        this.#options.onKeys(changed.filter(({ parts, earlier }) => parts !== undefined || earlier !== undefined));
        for (const { claimed, outcome } of items) this.#log(claimed, outcome, at);
        return settled;
      } catch (error) {
        log.warn('outcomes_not_stored', { messages: items.length, ...errorFields(error) });
        if (error instanceof LeaseLostError || this.#givenUp) throw error;
        if (!isStoreTrouble(error) && ++refused >= MAX_REFUSED) return this.#settleApart(items, error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  /** Last, because the answer is already stored. */
  #log(claimed: StoredMessage, outcome: SubmitOutcome, at: Date): void {
    const { messageLog } = this.#options;
    if (messageLog === undefined) return;
    if (!isUnusualAnswer(claimed, outcome) && !messageLog.wantsUsual(claimed.account)) return;
    const record = answerRecord(claimed, outcome, at);
    if (record !== undefined) messageLog.add([record]);
  }

  /**
   * Settles one by one, so that a message that cannot be stored blocks no others. It stays as it is, and the next holder finds it
   * unknown.
   */
  async #settleApart(items: readonly Item<M>[], reason: unknown): Promise<readonly (M | undefined)[]> {
    const [only] = items;
    if (items.length === 1 && only !== undefined) {
      this.#options.log.error('outcome_not_storable', { message_id: only.claimed._id, ...errorFields(reason) });
      return [undefined];
    }
    const settled: (M | undefined)[] = [];
    for (const item of items) settled.push(...(await this.#settle([item])));
    return settled;
  }
}
