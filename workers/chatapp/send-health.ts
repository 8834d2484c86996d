import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { MessageId } from '../../shared/platform/runtime/ids.ts';

/**
 * What is known of a message after its provider answered. `account`: it failed because of the account, its payment or
 * its number, so the next ones fail too · `good`: it went on its way · `other`: it says nothing about the account.
 */
export type News = 'good' | 'account' | 'other';

/** Our code, and the provider's words. */
export interface AccountFailure {
  readonly code: string;
  readonly reason: string;
}

/**
 * How an account stands at its provider by statuses: the provider accepts messages and fails them afterwards, so
 * answers say nothing about it (`Breaker` judges those). `good`: sends may begin · `paused`: after `FAILURES` messages
 * in a row failed because of the account, no send begins for a time · `trying`: then one message is sent, and its
 * status decides. If no status comes in time, statuses are late or lost, and sends go on.
 *
 * Statuses come late and in any order. So a failure counts only if its message left after the newest message known to
 * have gone well, and only the trial counts while the state is not `good`.
 */
export type SendHealthState = 'good' | 'paused' | 'trying';

const FAILURES = 5;
const FIRST_PAUSE_MS = 30_000;
/** Each trial costs a message that perhaps fails. */
const LONGEST_PAUSE_MS = 300_000;
/** How long the trial's status is waited for. It usually comes within two seconds of the answer. */
const TRIAL_MS = 30_000;

export class SendHealth {
  readonly #clock: Clock;
  readonly #random: () => number;
  #state: SendHealthState = 'good';
  #failures = 0;
  #pauses = 0;
  /** End of the pause, then of the wait for the trial's status, by the monotonic clock. */
  #untilMs = 0;
  #trial: MessageId | undefined;
  /** When the newest good, and the newest failed message left. Those from before this run count for nothing. */
  #lastMs: { good: number; account: number };

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#lastMs = { good: clock.now().getTime(), account: 0 };
  }

  get state(): SendHealthState {
    if (this.#clock.monotonicMs() < this.#untilMs) return this.#state;
    if (this.#state === 'paused') this.#state = 'trying';
    // `#pauses` stays, so the next pause is longer: no status has said that the trial went well.
    else if (this.#trial !== undefined) this.#becomeGood(this.#clock.now().getTime());
    return this.#state;
  }

  get room(): number {
    if (this.state === 'good') return Number.POSITIVE_INFINITY;
    return this.#state === 'trying' && this.#trial === undefined ? 1 : 0;
  }

  /** Time until this may change by itself. 0 when it does not depend on time. */
  get waitMs(): number {
    return this.room === 0 ? Math.ceil(this.#untilMs - this.#clock.monotonicMs()) : 0;
  }

  begin(id: MessageId): void {
    if (this.state !== 'trying' || this.#trial !== undefined) return;
    this.#trial = id;
    this.#untilMs = this.#clock.monotonicMs() + TRIAL_MS;
  }

  /** Whether the message left after the newest one known to have gone well: its news holds now. */
  isNewest({ claim }: Pick<ChatMessageDocument, 'claim'>): boolean {
    return (claim?.at.getTime() ?? 0) >= this.#lastMs.good;
  }

  /** Returns whether a pause begins with it. */
  noteNews({ _id, claim }: Pick<ChatMessageDocument, '_id' | 'claim'>, news: News): boolean {
    const leftMs = claim?.at.getTime() ?? 0;
    if (this.state !== 'good') return _id === this.#trial && this.#decide(leftMs, news);
    if (news === 'other' || leftMs < this.#lastMs[news === 'good' ? 'account' : 'good']) return false;
    this.#lastMs[news] = Math.max(this.#lastMs[news], leftMs);
    this.#failures = news === 'good' ? 0 : this.#failures + 1;
    if (news === 'good') this.#pauses = 0;
    return this.#failures >= FAILURES && this.#pause();
  }

  #decide(leftMs: number, news: News): boolean {
    this.#trial = undefined;
    if (news === 'account') return this.#pause();
    if (news === 'other') return false;
    this.#pauses = 0;
    this.#becomeGood(leftMs);
    return false;
  }

  #becomeGood(atMs: number): void {
    this.#state = 'good';
    this.#trial = undefined;
    this.#failures = 0;
    this.#lastMs.good = Math.max(this.#lastMs.good, atMs);
  }

  #pause(): true {
    this.#state = 'paused';
    this.#failures = 0;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#pauses, LONGEST_PAUSE_MS);
    this.#pauses = Math.min(this.#pauses + 1, 16);
    this.#untilMs = this.#clock.monotonicMs() + pauseMs * (0.5 + this.#random() / 2);
    return true;
  }
}

/** `session`: what goes to customers in an open session. */
export const SEND_KINDS = ['template', 'session'] as const;
export type SendKind = (typeof SEND_KINDS)[number];

/** Templates and session messages apart: a pause of templates (payment, spam) must hold up no answer. */
export class AccountHealth {
  readonly #of: Readonly<Record<SendKind, SendHealth>>;

  constructor(clock: Clock, random: () => number) {
    this.#of = { template: new SendHealth(clock, random), session: new SendHealth(clock, random) };
  }

  get good(): boolean {
    return SEND_KINDS.every((kind) => this.#of[kind].state === 'good');
  }

  room(kind: SendKind): number {
    return this.#of[kind].room;
  }

  /** Time until a kind that has no room now may have some by itself. Undefined when none waits. */
  get waitMs(): number | undefined {
    const waits = SEND_KINDS.map((kind) => this.#of[kind].waitMs).filter((ms) => ms > 0);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  isHeld(message: Pick<ChatMessageDocument, 'content'>): boolean {
    return this.#healthOf(message).state !== 'good';
  }

  begin(message: Pick<ChatMessageDocument, '_id' | 'content'>): void {
    this.#healthOf(message).begin(message._id);
  }

  isNewest(message: Pick<ChatMessageDocument, 'claim' | 'content'>): boolean {
    return this.#healthOf(message).isNewest(message);
  }

  noteNews(message: Pick<ChatMessageDocument, '_id' | 'claim' | 'content'>, news: News): boolean {
    return this.#healthOf(message).noteNews(message, news);
  }

  #healthOf({ content }: Pick<ChatMessageDocument, 'content'>): SendHealth {
    return this.#of[content.kind === 'template' ? 'template' : 'session'];
  }
}

/**
 * A circuit breaker: a failing provider must not fail the account's messages one after the other. `closed`: sends may
 * begin · `open`: after `FAILURES` failures in a row no send begins during a pause · `half_open`: after the pause one
 * send probes the provider, if it answers something harmless first (send-message.ts). Success closes the breaker,
 * failure opens it for longer. Every answer about a message is a success, even a refusal.
 */
export type BreakerState = 'closed' | 'open' | 'half_open';
const BREAK_MS = 1_000;
const BREAK_MAX_MS = 30_000;

export class Breaker {
  readonly #clock: Clock;
  readonly #random: () => number;
  #state: BreakerState = 'closed';
  #failures = 0;
  #pauses = 0;
  #openUntilMs = 0;
  #probing = false;

  /** `onTrial`: the first send is a probe. */
  constructor(clock: Clock, random: () => number, onTrial = false) {
    this.#clock = clock;
    this.#random = random;
    if (onTrial) this.#state = 'half_open';
  }

  get state(): BreakerState {
    if (this.#state === 'open' && this.#clock.monotonicMs() >= this.#openUntilMs) this.#state = 'half_open';
    return this.#state;
  }

  get room(): number {
    if (this.state === 'closed') return Number.POSITIVE_INFINITY;
    return this.#state === 'half_open' && !this.#probing ? 1 : 0;
  }

  /** Time until a probe may begin. 0 when it may begin now, or does not depend on time. */
  get waitMs(): number {
    return this.state === 'open' ? Math.ceil(this.#openUntilMs - this.#clock.monotonicMs()) : 0;
  }

  /** True when it is the probe. */
  begin(): boolean {
    if (this.state !== 'half_open') return false;
    this.#probing = true;
    return true;
  }

  /** While the breaker is not closed only the probe counts: other sends began before the provider failed. */
  succeeded(probe: boolean): void {
    if (this.#state !== 'closed' && !probe) return;
    this.#state = 'closed';
    this.#probing = false;
    this.#failures = 0;
    this.#pauses = 0;
  }

  failed(probe: boolean): void {
    if (probe) this.#probing = false;
    else if (this.#state !== 'closed' || ++this.#failures < FAILURES) return;
    this.#state = 'open';
    this.#failures = 0;
    const pauseMs = Math.min(BREAK_MS * 2 ** this.#pauses, BREAK_MAX_MS);
    this.#pauses = Math.min(this.#pauses + 1, 16);
    // Half fixed, half random, so that the accounts of one provider do not probe it at the same moment.
    this.#openUntilMs = this.#clock.monotonicMs() + pauseMs * (0.5 + this.#random() / 2);
  }

  withdrawn(probe: boolean): void {
    if (probe) this.#probing = false;
  }
}
