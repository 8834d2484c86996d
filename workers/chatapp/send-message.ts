import { chatMessageKey, type ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { SubmitOutcome } from '../../shared/messages/settlement/decide-outcome.ts';
import type { OutcomeSettler } from '../../shared/messages/settlement/settle-outcomes.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import type { Customers } from './customers.ts';
import type { ChatMetrics } from './metrics.ts';
import type { Pacing } from './pacing.ts';
import { judgeSend, type SendVerdict, sendTrouble } from './provider/answer.ts';
import type { ProviderClient } from './provider/client.ts';
import { sendPayload } from './provider/payload.ts';
import type { Breaker, News } from './send-health.ts';

export interface SendContext {
  readonly provider: ProviderDocument;
  readonly client: ProviderClient;
  readonly outcomes: OutcomeSettler<ChatMessageDocument>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  readonly customers: Customers;
  /** Whether the partition is held at this moment. Asked right before each send. */
  held(): boolean;
  /** The provider said that the token, the number or the account is not allowed. */
  stopChannel(reason: string, code: string): Promise<void>;
  /** A message was taken while the channel is tried again after a stop. */
  endTrial(): Promise<void>;
  /** Stores why sends have paused, for the operator. Undefined when one was answered again. */
  note(trouble: string | undefined): Promise<void>;
  /** The provider named the state of a template. */
  markTemplate(message: ChatMessageDocument, status: string): Promise<void>;
  /** The provider took the message and holds it back, because of its template. */
  noteHeldBack(message: ChatMessageDocument, word: string): Promise<void>;
  /** A template was probably changed at the provider. */
  copyTemplates(): void;
}

interface MessageSenderOptions extends SendContext {
  readonly pacing: Pacing;
  readonly breaker: Breaker;
  /** What this message tells of the account's health. `code`: our own, of a failure because of the account. */
  noteNews(message: ChatMessageDocument, news: News, code?: string): Promise<void>;
  rest(ms: number): void;
}

/** The longest time from a message's due retry to the queue. Until then its customer gets no other message. */
const BACK_IN_QUEUE_MS = 2_000;
/** Pause after the provider stopped the channel: by its end the worker has read the stop and closed this run. */
export const STOPPED_MS = 3_000;

/** Handles one claimed message: sends it and settles the answer, refuses it, or puts it back unsent. */
export class MessageSender {
  readonly #options: MessageSenderOptions;
  /** Whether the store has a note that sends fail. */
  #noted: boolean;
  #onTrial: boolean;
  /** Unknown codes that forbade a message. Each is logged once. */
  readonly #forbidding = new Set<number>();

  constructor(options: MessageSenderOptions) {
    this.#options = options;
    this.#noted = options.provider.troubles?.sends !== undefined;
    this.#onTrial = options.provider.trial !== undefined;
  }

  /** From the claim to the stored outcome. `probe`: this send tests whether the provider is back. Never rejects. */
  async send(message: ChatMessageDocument, probe: boolean): Promise<void> {
    const { client, clock, metrics, held, provider, pacing, breaker, noteNews } = this.#options;
    try {
      // If the provider hangs, the probe is unknown and perhaps charged: first ask something that costs nothing.
      if (probe && (await client.number()).kind !== 'answered') {
        breaker.failed(probe);
        await this.putBack(message);
        return await noteNews(message, 'other');
      }
      if (!held()) {
        breaker.withdrawn(probe);
        // Nothing was written. If another process has the lease now, `putBack` changes nothing: the epoch differs.
        await this.putBack(message);
        await noteNews(message, 'other');
        return;
      }
      const startedMs = clock.monotonicMs();
      const verdict = judgeSend(await client.send(sendPayload(message)));
      metrics.seconds.observe((clock.monotonicMs() - startedMs) / 1_000);
      metrics.sends.inc({ result: verdict.kind });
      if (verdict.kind === 'accepted') crashPoint('chat:answered');
      this.#learn(message, verdict, probe);
      if (verdict.kind === 'accepted') await this.#link(message, verdict.customer);
      const stored = await this.#settle(message, outcomeOf(provider.account, verdict, probe));
      // A template that waits this long holds up nothing else for its customer.
      if (stored?.state === 'waiting' && stored.due !== undefined && verdict.kind !== 'retry_later') {
        pacing.hold(message.to, stored.due.getTime() - clock.now().getTime() + BACK_IN_QUEUE_MS);
      }
      await this.#tell(message, verdict);
    } finally {
      pacing.end(message.to);
    }
  }

  /** Rejects a message that may not leave. The promise itself never rejects. */
  async refuse(message: ChatMessageDocument, code: string, reason: string): Promise<void> {
    this.#options.metrics.departures.inc({ code });
    await this.#settle(message, { kind: 'rejected', parts: [], code, reason });
  }

  /** Puts the message back in its place in the queue. Never rejects. */
  async putBack(message: ChatMessageDocument): Promise<void> {
    await this.#settle(message, { kind: 'requeue' });
  }

  #learn({ to }: ChatMessageDocument, verdict: SendVerdict, probe: boolean): void {
    const { breaker, pacing, rest } = this.#options;
    switch (verdict.kind) {
      case 'unknown':
      case 'not_sent':
      case 'retry':
        breaker.failed(probe);
        return;
      case 'accepted':
        pacing.accepted(to);
        break;
      case 'back_off':
        pacing.throttled(verdict.retryAfterMs ?? 0);
        break;
      case 'customer_delay':
        pacing.delayCustomer(to);
        break;
      case 'stop':
        rest(STOPPED_MS);
        break;
      case 'retry_once':
      case 'retry_later':
      case 'refuse':
        break;
    }
    breaker.succeeded(probe);
  }

  /** The provider may know the customer by another number. If storing it fails, the message's statuses say it again. */
  async #link({ _id, account, to }: ChatMessageDocument, known: string | undefined): Promise<void> {
    const { customers, log } = this.#options;
    try {
      if (known !== undefined) await customers.learnFromSends([{ account, names: [to, known] }]);
    } catch (error) {
      log.warn('customer_not_linked', { message_id: _id, ...errorFields(error) });
    }
  }

  /** Stores what concerns other messages too: the channel is stopped, or a template must not be used. */
  async #tell(message: ChatMessageDocument, verdict: SendVerdict): Promise<void> {
    const { breaker, stopChannel, endTrial, markTemplate, noteHeldBack, copyTemplates, note, noteNews, log } =
      this.#options;
    if ('copyIsOld' in verdict) copyTemplates();
    // What becomes of an accepted message is told by its status.
    if (verdict.kind !== 'accepted')
      await noteNews(message, 'accountWide' in verdict ? 'account' : 'other', verdict.code);
    if ('forbids' in verdict) this.#logForbidding(message, verdict.forbids);
    try {
      if (verdict.kind === 'stop') await stopChannel(verdict.reason, verdict.code);
      else if ('template' in verdict && verdict.template !== undefined) await markTemplate(message, verdict.template);
      if (verdict.kind === 'accepted' && verdict.heldBack !== undefined) await noteHeldBack(message, verdict.heldBack);
      if (this.#onTrial && verdict.kind === 'accepted') {
        await endTrial();
        this.#onTrial = false;
      }
      const broken = breaker.state !== 'closed';
      const trouble = broken ? sendTrouble(verdict) : undefined;
      if (broken === this.#noted || (broken && trouble === undefined)) return;
      await note(trouble);
      this.#noted = trouble !== undefined;
    } catch (error) {
      // The next message with the same verdict reports it again.
      log.warn('provider_news_not_stored', { message_id: message._id, ...errorFields(error) });
    }
  }

  #logForbidding({ _id, account }: ChatMessageDocument, code: number | undefined): void {
    if (code === undefined || this.#forbidding.has(code)) return;
    this.#forbidding.add(code);
    this.#options.log.error('provider_forbids', { account, message_id: _id, code });
  }

  /** If this fails, the partition or the store is gone for good. The next holder finds the message `submitting`. */
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

/** The message is tried once more, then it is refused. */
const TWO_TRIES = 2;
/** A new template that is not ready: tried again after 10 minutes and after 30 more, then it is refused. */
const NOT_READY = { maxTries: 3, pauseMs: 600_000 };

/** Decided as for an SMS of one part (settlement/decide-outcome.ts). A failed `probe` says nothing about it. Pure. */
export function outcomeOf(account: AccountId, verdict: SendVerdict, probe: boolean): SubmitOutcome {
  switch (verdict.kind) {
    case 'accepted':
      return {
        kind: 'sent',
        parts: [{ key: chatMessageKey(account, verdict.upstreamId), state: 'accepted' }],
        ...defined({ heldBack: verdict.heldBack }),
      };
    case 'unknown':
      return { kind: 'unknown', parts: [{ state: 'unknown' }] };
    // Nothing was sent, or nothing may be until a person solves the problem. The message keeps its place in the queue.
    case 'not_sent':
    case 'stop':
      return { kind: 'requeue' };
    // The account is too fast, perhaps for hours. The message was only the first in the queue.
    case 'back_off':
      return { kind: 'throttled', code: verdict.code, reason: verdict.reason, uncounted: true };
    case 'customer_delay':
      return { kind: 'throttled', code: verdict.code, reason: verdict.reason };
    case 'retry':
      return { kind: 'retry', code: verdict.code, reason: verdict.reason, ...(probe ? { uncounted: true } : {}) };
    case 'retry_once':
      return { kind: 'retry', code: verdict.code, reason: verdict.reason, maxTries: TWO_TRIES };
    case 'retry_later':
      return { kind: 'retry', code: verdict.code, reason: verdict.reason, ...NOT_READY };
    case 'refuse':
      return {
        kind: 'rejected',
        parts: [{ state: 'refused', error: verdict.code }],
        code: verdict.code,
        reason: verdict.reason,
      };
  }
}
