import type { ChatMessageDocument } from '../../shared/messages/chat-message.ts';
import type { ProviderDocument } from '../../shared/providers/provider.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import type { MessageId } from '../../shared/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { OutcomeSettler } from '../../shared/settlement/settle-outcomes.ts';
import { Breaker } from './breaker.ts';
import type { ChatClaimer } from './claim.ts';
import type { Departure } from './depart.ts';
import type { Figures } from './figures.ts';
import { Pacing } from './pacing.ts';
import { judgeSend, type SendVerdict } from './provider/answer.ts';
import type { ProviderClient } from './provider/client.ts';
import { sendPayload } from './provider/payload.ts';
import { sendTrouble } from './provider/trouble.ts';
import { outcomeOf } from './verdict-outcome.ts';

export interface AccountLineOptions {
  readonly provider: ProviderDocument;
  readonly client: ProviderClient;
  readonly claimer: ChatClaimer;
  readonly outcomes: OutcomeSettler<ChatMessageDocument>;
  readonly clock: Clock;
  readonly log: Log;
  readonly figures: Figures;
  /** From 0 to 1. */
  random(): number;
  /** The share is held, as of this moment: asked right before each send. */
  held(): boolean;
  /** Whether the account's messages may leave at all (claim-gates.ts). */
  mayLeave(): Promise<boolean>;
  /** Asked between claim and send (workers/chatapp/depart.ts): a message whose session has closed is refused and never sent. */
  depart(messages: readonly ChatMessageDocument[]): Promise<ReadonlyMap<MessageId, Departure>>;
  onClaim(count: number): void;
  /** The provider said that token, number or account are not allowed. */
  stopChannel(reason: string, code: string): Promise<void>;
  /** Why sends have paused, for the operator; undefined when one was answered again. */
  note(trouble: string | undefined): Promise<void>;
  /** The provider said what a template's state is. */
  markTemplate(message: ChatMessageDocument, status: string): Promise<void>;
}

const MAX_CLAIM = 100;
/** After a round that failed. */
const ERROR_PAUSE_MS = 1_000;
/** A queue in which the messages of busy customers stand before the others is walked again and again: for this part of the time. */
const WALK_REST = 9;
const WALK_REST_MAX_MS = 1_000;
/** A message that waited for its retry is back in the queue so long after it fell due; until then its customer gets no other. */
const BACK_IN_QUEUE_MS = 2_000;
/** A message of which it cannot be known whether it may leave is asked about again. */
const DEPART_AGAIN_MS = 1_000;
/** After the provider has stopped the channel: by then the worker has read it in the store (worker.ts) and closed the line. */
const STOPPED_MS = 3_000;

/**
 * One account's way out: claim what can be sent now, send it, settle what became of it. Every account has a line of its own,
 * so a slow, failing or throttling provider holds up no other account. Nothing here is the only place that knows of a
 * message: it is `submitting` in the store until it is settled.
 */
export class AccountLine {
  readonly #options: AccountLineOptions;
  readonly #pacing: Pacing;
  readonly #breaker: Breaker;
  readonly #running = new Set<Promise<void>>();
  /** Claimed, and looked at before they are sent. */
  #departing: readonly ChatMessageDocument[] = [];
  #round: Promise<void> | undefined;
  #woken = false;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** No more claims. */
  #closed = false;
  /** Whether the store says that sends fail. */
  #noted: boolean;

  constructor(options: AccountLineOptions) {
    this.#options = options;
    const { provider, clock, random } = options;
    this.#pacing = new Pacing({ provider, clock, random });
    this.#breaker = new Breaker(clock, random);
    this.#noted = provider.troubles?.sends !== undefined;
  }

  /** Messages that were claimed and are not settled. */
  get inHand(): number {
    return this.#running.size + this.#departing.length;
  }

  get inFlight(): number {
    return this.#pacing.inFlight;
  }

  /** The provider fails. */
  get broken(): boolean {
    return this.#breaker.state !== 'closed';
  }

  /** There may be something to send. Returns at once; a round is under way when it may be. */
  wake(): void {
    this.#woken = true;
    if (this.#round !== undefined || this.#closed || this.#resting) return;
    this.#round = this.#rounds().finally(() => {
      this.#round = undefined;
    });
  }

  /** Claims no more. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Resolves when nothing is in hand any more; to be called after `close`. */
  async drained(): Promise<void> {
    await this.#round;
    await Promise.all(this.#running);
  }

  async #rounds(): Promise<void> {
    const { log, provider } = this.#options;
    try {
      while (this.#woken && !this.#closed && !this.#resting) {
        this.#woken = false;
        if (await this.#once()) this.#woken = true;
      }
    } catch (error) {
      this.#rest(ERROR_PAUSE_MS);
      log.warn('round_failed', { loop: `line:${provider._id}`, ...errorFields(error) });
    }
  }

  /** Whether there may be more at once. */
  async #once(): Promise<boolean> {
    const { claimer, held, mayLeave } = this.#options;
    if (!held()) return false;
    await this.#leave(await claimer.recover());
    const room = Math.min(this.#pacing.room, this.#breaker.room, MAX_CLAIM);
    if (room < 1) {
      // Whatever is in flight wakes the line too when it ends.
      const waitMs = this.#breaker.waitMs || this.#pacing.waitMs;
      if (waitMs !== undefined) this.#wakeIn(waitMs);
      return false;
    }
    if (!(await mayLeave())) return false;
    const queued = await this.#read(room);
    if (queued.length === 0) return false;
    if (this.#closed || !held()) return false;
    const taken = await claimer.take(queued);
    this.#options.onClaim(taken.length);
    await this.#leave(taken);
    return taken.length > 0;
  }

  /** What is claimed is sent, or refused, or goes back to its place. Rejects when the store failed; then all went back. */
  async #leave(claimed: readonly ChatMessageDocument[]): Promise<void> {
    if (claimed.length === 0) return;
    this.#departing = claimed;
    let departures: ReadonlyMap<MessageId, Departure> = new Map();
    try {
      departures = await this.#options.depart(claimed);
    } finally {
      for (const message of claimed) {
        const departure = departures.get(message._id);
        if (departure === undefined || this.#closed) this.#putBack(message);
        else if (departure.kind === 'refuse') this.#refuse(message, departure);
        else this.#start(message);
      }
      this.#departing = [];
    }
  }

  async #read(limit: number): Promise<ChatMessageDocument[]> {
    const { clock, claimer } = this.#options;
    const busy = this.#pacing.busy();
    const startedMs = clock.monotonicMs();
    const queued = await claimer.queued(limit, busy);
    if (queued.length === 0 && busy.length > 0) {
      const restMs = Math.min((clock.monotonicMs() - startedMs) * WALK_REST, WALK_REST_MAX_MS);
      this.#rest(restMs);
      // Who comes first when his pause is over; others' messages wake the line before.
      this.#wakeIn(Math.max(restMs, this.#pacing.waitMs ?? 0));
    }
    return queued;
  }

  get #resting(): boolean {
    return this.#options.clock.monotonicMs() < this.#notBeforeMs;
  }

  #rest(ms: number): void {
    this.#notBeforeMs = this.#options.clock.monotonicMs() + ms;
    this.#wakeIn(ms);
  }

  #wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    // One more, because a timer may come early by a part of a millisecond.
    if (!this.#closed) this.#timer = setTimeout(() => this.wake(), Math.ceil(ms) + 1);
  }

  #refuse(message: ChatMessageDocument, { code, reason }: { readonly code: string; readonly reason: string }): void {
    this.#options.figures.departures.inc({ code });
    const settled = this.#settle(message, { kind: 'rejected', parts: [], code, reason });
    this.#run(this.#pacing.settling(message.to, settled));
  }

  #putBack(message: ChatMessageDocument): void {
    this.#pacing.hold(message.to, DEPART_AGAIN_MS);
    this.#run(this.#pacing.settling(message.to, this.#settle(message, { kind: 'requeue' })));
  }

  #start(message: ChatMessageDocument): void {
    const probe = this.#breaker.begin();
    this.#pacing.begin(message.to);
    this.#run(this.#send(message, probe));
  }

  #run(work: Promise<void>): void {
    const running: Promise<void> = work.finally(() => {
      this.#running.delete(running);
      this.wake();
    });
    this.#running.add(running);
  }

  /** From the claim to the stored outcome. Never rejects. */
  async #send(message: ChatMessageDocument, probe: boolean): Promise<void> {
    const { client, clock, figures, held, provider } = this.#options;
    try {
      if (!held()) {
        // The next holder of the share finds it.
        this.#breaker.withdrawn(probe);
        return;
      }
      const startedMs = clock.monotonicMs();
      const verdict = judgeSend(await client.send(sendPayload(message._id, message.to, message.content)));
      figures.seconds.observe((clock.monotonicMs() - startedMs) / 1_000);
      figures.sends.inc({ result: verdict.kind });
      if (verdict.kind === 'accepted') crashPoint('chat:answered');
      this.#learn(message, verdict, probe);
      const stored = await this.#settle(message, outcomeOf(provider._id, verdict, probe));
      if (stored?.state === 'waiting' && stored.due !== undefined) {
        this.#pacing.hold(message.to, stored.due.getTime() - clock.now().getTime() + BACK_IN_QUEUE_MS);
      }
      await this.#tell(message, verdict);
    } finally {
      this.#pacing.end(message.to);
    }
  }

  /** What the verdict says of the provider's and the customer's pace. */
  #learn({ to }: ChatMessageDocument, verdict: SendVerdict, probe: boolean): void {
    switch (verdict.kind) {
      case 'unknown':
      case 'not_sent':
      case 'retry':
        this.#breaker.failed(probe);
        return;
      case 'accepted':
        this.#pacing.accepted(to);
        break;
      case 'back_off':
        this.#pacing.throttled(verdict.retryAfterMs ?? 0);
        break;
      case 'customer_delay':
        this.#pacing.delayCustomer(to);
        break;
      case 'stop':
        this.#rest(STOPPED_MS);
        break;
      case 'retry_once':
      case 'refuse':
        break;
    }
    this.#breaker.succeeded(probe);
  }

  /** What others must know: the account's channel is stopped, a template is not to be used. */
  async #tell(message: ChatMessageDocument, verdict: SendVerdict): Promise<void> {
    const { stopChannel, markTemplate, note, log } = this.#options;
    try {
      if (verdict.kind === 'stop') await stopChannel(verdict.reason, verdict.code);
      else if ('template' in verdict && verdict.template !== undefined) await markTemplate(message, verdict.template);
      const trouble = this.broken ? sendTrouble(verdict) : undefined;
      if (this.broken === this.#noted || (this.broken && trouble === undefined)) return;
      await note(trouble);
      this.#noted = trouble !== undefined;
    } catch (error) {
      // The next message that ends so tells it again.
      log.warn('provider_news_not_stored', { message_id: message._id, ...errorFields(error) });
    }
  }

  /** A failure here means that the share or the store is gone for good: the next holder finds the message `submitting`. */
  async #settle(
    message: ChatMessageDocument,
    outcome: Parameters<OutcomeSettler<ChatMessageDocument>['add']>[1],
  ): Promise<ChatMessageDocument | undefined> {
    try {
      return await this.#options.outcomes.add(message, outcome);
    } catch (error) {
      this.#options.log.warn('outcome_left', { message_id: message._id, ...errorFields(error) });
      return undefined;
    }
  }
}
