import { isStoreTrouble } from '../../platform/mongo/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { Grouper } from '../../platform/runtime/grouper.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';
import { errorFields, type Log } from '../../platform/runtime/log.ts';
import { within } from '../../platform/runtime/within.ts';
import type { AnyMessage } from '../document/any-message.ts';
import { type Change, decideInTurn } from '../document/change.ts';
import type { MessageDocument, StoredMessage } from '../document/message.ts';
import { decideOutcome, type SubmitOutcome } from './decide-outcome.ts';
import { LeaseLostError } from './intents.ts';
import { answerRecord, isUnusualAnswer, type MessageLog } from './message-log.ts';
import type { Settler } from './settle.ts';

export interface OutcomeSettlerOptions<M extends AnyMessage> {
  readonly settler: Pick<Settler, 'change' | 'finishFollowUps'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: nothing is kept for timelines. */
  readonly messageLog?: MessageLog;
  /** Called for settled messages that have ids now: their receipts may come, or may have come already. */
  onKeys(messages: readonly M[]): void;
  onStored?(messages: readonly MessageId[]): void;
  onGroup(size: number): void;
}

/** A receipt that may come before its message's outcome is stored. */
export interface EarlyReceipt<M> {
  /** Whether it can be about the message that its id names. */
  fits(claimed: M): boolean;
  /** The receipt's change, after the outcome and the receipts before it have changed the message. */
  decide(message: M): Change | undefined;
}

interface Item<M> {
  readonly claimed: M;
  readonly outcome: SubmitOutcome;
  readonly receipts: JoinedReceipt<M>[];
}

interface JoinedReceipt<M> extends EarlyReceipt<M> {
  /** Whether it was stored with the outcome. */
  resolve(stored: boolean): void;
}

const MAX_GROUP = 200;
const GATHER_MS = 5;
/** Pause between groups under load: a group costs an intent, an update and an insert, whatever its size. */
const PAUSE_MS = 20;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** How often a reachable store may refuse a group. Then one of its messages must be the reason. */
const MAX_REFUSED = 3;

/**
 * Settles the results of submits, in groups. Only this process knows the carrier's answers, so it retries a group until
 * the store takes it, the lease is lost, or `giveUp`. Results that are not stored then are unknown to the next holder.
 */
export class OutcomeSettler<M extends AnyMessage = MessageDocument> {
  readonly #options: OutcomeSettlerOptions<M>;
  readonly #grouper: Grouper<Item<M>, M | undefined>;
  /** Outcomes that receipts may still join, by the id of a segment. */
  readonly #byKey = new Map<string, Item<M>>();
  #open = 0;
  /** Ends when the outcome that was added last is stored or given up. Groups end in order. */
  #last: Promise<unknown> = Promise.resolve();
  #givenUp = false;

  constructor(options: OutcomeSettlerOptions<M>) {
    this.#options = options;
    this.#grouper = new Grouper({
      maxItems: MAX_GROUP,
      gatherMs: GATHER_MS,
      pauseMs: PAUSE_MS,
      run: (items) => this.#settle(items),
    });
  }

  get open(): number {
    return this.#open;
  }

  /** Resolves with the message as stored with its outcome; undefined when there was nothing to change. */
  async add(claimed: M, outcome: SubmitOutcome): Promise<M | undefined> {
    const item: Item<M> = { claimed, outcome, receipts: [] };
    for (const key of keysIn(outcome)) this.#byKey.set(key, item);
    this.#open += 1;
    const stored = this.#grouper.add(item);
    this.#last = stored.catch(() => undefined);
    try {
      return await stored;
    } finally {
      this.#open -= 1;
    }
  }

  /** Stores a receipt with the outcome of this id. False: not done, so settle the receipt by itself. */
  async join(key: string, receipt: EarlyReceipt<M>): Promise<boolean> {
    const item = this.#byKey.get(key);
    if (item === undefined || !receipt.fits(item.claimed)) return false;
    return new Promise((resolve) => item.receipts.push({ ...receipt, resolve }));
  }

  /** Resolves when everything added so far is stored or given up, after `waitMs` at the latest. */
  async settled(waitMs: number): Promise<void> {
    if (this.#open > 0) await within(waitMs, this.#last);
  }

  /** Ends retries, when the process must end although the store is away. */
  giveUp(): void {
    this.#givenUp = true;
  }

  async #settle(items: readonly Item<M>[]): Promise<readonly (M | undefined)[]> {
    const { settler, clock, log } = this.#options;
    this.#options.onGroup(items.length);
    let joined = new Set(items.flatMap(({ receipts }) => receipts));
    const decisions = items.map(({ claimed, outcome, receipts }) => {
      const random = Math.random();
      const ofOutcome = (message: M): Change | undefined =>
        claimed.claim && decideOutcome(message, claimed.claim, outcome, clock.now(), random);
      return {
        message: claimed,
        decide: (message: M) =>
          decideInTurn(message, [ofOutcome, ...receipts.filter((one) => joined.has(one)).map(({ decide }) => decide)]),
      };
    });
    const at = clock.now();
    let refused = 0;
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        const settled = await settler.change(decisions);
        this.#options.onStored?.(items.map(({ claimed }) => claimed._id));
        const changed = settled.filter((message) => message !== undefined);
        this.#options.onKeys(changed.filter(({ parts, earlier }) => parts !== undefined || earlier !== undefined));
        this.#endJoining(items, joined);
        await settler.finishFollowUps();
        for (const { claimed, outcome } of items) this.#log(claimed, outcome, at);
        return settled;
      } catch (error) {
        // No receipt waits for a store that is away: the next try is for the outcomes alone.
        joined = new Set();
        this.#endJoining(items, joined);
        log.warn('outcomes_not_stored', { messages: items.length, ...errorFields(error) });
        if (error instanceof LeaseLostError || this.#givenUp) throw error;
        if (!isStoreTrouble(error) && ++refused >= MAX_REFUSED) return this.#settleApart(items, error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  #endJoining(items: readonly Item<M>[], stored: ReadonlySet<JoinedReceipt<M>>): void {
    for (const item of items) {
      for (const key of keysIn(item.outcome)) if (this.#byKey.get(key) === item) this.#byKey.delete(key);
      for (const receipt of item.receipts.splice(0)) receipt.resolve(stored.has(receipt));
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

  /** An unstorable message then blocks no others: it stays, and the next holder finds it unknown. */
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

function keysIn(outcome: SubmitOutcome): string[] {
  return 'parts' in outcome ? outcome.parts.flatMap(({ key }) => key ?? []) : [];
}
