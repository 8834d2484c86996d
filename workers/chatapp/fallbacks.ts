import type { Db } from 'mongodb';
import { Routes } from '../../shared/carriers/routing/routes.ts';
import type { ChatMessageDocument, FallbackEnd } from '../../shared/messages/document/chat-message.ts';
import { decideFallback, endFallback } from '../../shared/messages/document/fallback.ts';
import { acceptFollowOn, type FollowOnOutcome } from '../../shared/messages/follow-on-sms.ts';
import type { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import { FollowUp } from '../../shared/money/payment/follow-up.ts';
import { readCapsOfLines } from '../../shared/people/keys/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { type AccountId, fallbackId } from '../../shared/platform/runtime/ids.ts';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import type { HeldPartition } from './held-partition.ts';
import type { ChatMetrics } from './metrics.ts';

interface FallbacksOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  readonly gates: ClaimGates;
  /** Undefined when another process serves the account. */
  partitionOf(account: AccountId): HeldPartition | undefined;
}

type Decided = ChatMessageDocument & { readonly fallback: { readonly decided: { readonly at: Date } } };

/** How often it is looked whether anything is due: one read of an index that has messages with a fallback alone. */
const LOOK_MS = 500;
const PAGE = 100;
/** Messages of one account in one turn, so that nobody waits behind the thousands of another. */
const QUOTA = 20;
/** Reads in one turn. Each passes over the accounts that the one before has served, or may not serve. */
const LOOKS_MAX = 4;

/**
 * Sends the SMS in whose favour a chat-app message was decided, or is decided now because its time has come
 * (shared/messages/document/fallback.ts). Three steps, each of which may be repeated by any later holder of the partition: the
 * message says that the SMS goes; the account pays for the SMS, whose id derives from the message; the message says what became of
 * it, with which the event and the refund of its conversation follow. It goes on beside the rounds of the worker.
 */
export class Fallbacks {
  readonly #options: FallbacksOptions;
  readonly #routes: Routes;
  readonly #followUp: FollowUp;
  #running: Promise<void> | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: FallbacksOptions) {
    this.#options = options;
    this.#routes = new Routes(options);
    this.#followUp = new FollowUp(options);
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  /** Begins with what is due, unless that is going on, or was done just now. Never rejects. */
  look(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#closed || this.#running !== undefined || nowMs - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    this.#running = this.#work().finally(() => {
      this.#running = undefined;
    });
  }

  /** Begins nothing new. Resolves when what was begun is done, or left to the next holder. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #work(): Promise<void> {
    try {
      let more = true;
      while (more && !this.#closed) more = await this.#turn();
    } catch (error) {
      this.#options.log.warn('fallbacks_failed', unexpectedErrorFields(error));
    }
  }

  /** Whether anything was settled, so that there may be more. */
  async #turn(): Promise<boolean> {
    const byPartition = new Map<HeldPartition, ChatMessageDocument[]>();
    for (const message of await this.#due()) {
      const partition = this.#options.partitionOf(message.account);
      if (partition === undefined) continue;
      byPartition.set(partition, [...(byPartition.get(partition) ?? []), message]);
    }
    let settled = false;
    for (const [partition, messages] of byPartition) {
      if (await this.#settle(partition, messages)) settled = true;
    }
    return settled;
  }

  /** What is due of our accounts, the longest first. Those on hold wait, as what they send does, until their validity is over. */
  async #due(): Promise<readonly ChatMessageDocument[]> {
    const { db, clock, gates, partitionOf } = this.#options;
    const messages = db.collection<ChatMessageDocument>('messages');
    const now = clock.now();
    // Usually nothing is due. Then nobody need know who is on hold.
    const any = await messages.findOne({ 'fallback.due': { $lte: now } }, { projection: { _id: 1 } });
    if (any === null) return [];
    await gates.refresh();
    const counts = new Map<AccountId, number>();
    const passed = new Set<AccountId>();
    const due: ChatMessageDocument[] = [];
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const found = await messages
        .find({
          'fallback.due': { $lte: now },
          account: { $nin: [...passed] },
          ...(gates.held.size > 0 && {
            $or: [{ account: { $nin: [...gates.held] as AccountId[] } }, { validUntil: { $lte: now } }],
          }),
        })
        .sort({ 'fallback.due': 1 })
        .limit(PAGE)
        .toArray();
      for (const message of found) {
        const { account } = message;
        const count = counts.get(account) ?? 0;
        counts.set(account, count + 1);
        if (count < QUOTA && partitionOf(account) !== undefined) due.push(message);
        passed.add(account);
      }
      if (found.length < PAGE) break;
    }
    return due;
  }

  async #settle({ fallbacks: settler }: HeldPartition, messages: readonly ChatMessageDocument[]): Promise<boolean> {
    const { clock } = this.#options;
    const now = clock.now();
    const written = await settler.settle(
      messages.map((message) => ({ message, decide: (stored: ChatMessageDocument) => decideFallback(stored, now) })),
    );
    const decided = messages.map((message, i) => written[i] ?? message).filter(isDecided);
    if (decided.length === 0) return false;
    crashPoint('fallback:decided');
    const ends = await this.#payForAll(decided);
    if (ends.length > 0) crashPoint('fallback:paid');
    await settler.settle(
      ends.map(({ message, end }) => ({
        message,
        decide: (stored: ChatMessageDocument) => endFallback(stored, end, clock.now()),
      })),
    );
    for (const { end } of ends) this.#options.metrics.fallbacks.inc({ result: end.kind });
    return ends.length > 0;
  }

  /** Accounts at once, the messages of each in turn: their debits would only be in each other's way. */
  async #payForAll(messages: readonly Decided[]): Promise<readonly { message: Decided; end: FallbackEnd }[]> {
    const byAccount = new Map<AccountId, Decided[]>();
    for (const message of messages)
      byAccount.set(message.account, [...(byAccount.get(message.account) ?? []), message]);
    const ends = await Promise.all(
      [...byAccount.values()].map(async (own) => {
        const ended: { message: Decided; end: FallbackEnd }[] = [];
        for (const message of own) {
          const end = await this.#pay(message);
          if (end !== undefined) ended.push({ message, end });
        }
        return ended;
      }),
    );
    return ends.flat();
  }

  /** Undefined while it cannot be told whether the SMS is paid for. Rejects with the store's error. */
  async #pay({
    _id,
    account,
    to,
    validUntil,
    reference,
    verification,
    keys = [],
    fallback,
  }: Decided): Promise<FallbackEnd | undefined> {
    const { db } = this.#options;
    const id = fallbackId(_id, fallback.decided.at);
    const sms = {
      ...fallback.sms,
      ...{ _id: id, fallbackOf: _id, to, validUntil },
      ...(reference !== undefined && { reference }),
      ...(verification !== undefined && { verification }),
      ...(keys.length > 0 && { keys }),
    };
    const deps = { ...this.#options, routes: this.#routes, followUp: this.#followUp };
    const outcome = await acceptFollowOn(deps, account, sms, await readCapsOfLines(db, account, keys));
    if (outcome.kind === 'accepted') return { kind: 'sent', message: id };
    return outcome.kind === 'outcome_unknown' || outcome.kind === 'too_late' ? undefined : refusedFor(outcome);
  }
}

function isDecided(message: ChatMessageDocument): message is Decided {
  return message.fallback?.due !== undefined && message.fallback.decided !== undefined;
}

function refusedFor(
  outcome: Exclude<FollowOnOutcome, { readonly kind: 'accepted' | 'outcome_unknown' | 'too_late' }>,
): FallbackEnd {
  const { kind } = outcome;
  switch (kind) {
    case 'insufficient_credits':
      return refused(kind, `It costs ${outcome.required}, and the balance was ${outcome.balance}.`);
    case 'credits_expired':
      return refused(kind, `The credits expired after ${outcome.expiryDate}.`);
    case 'spend_limit_reached':
      return refused(kind, `It would go beyond a spending cap of ${outcome.cap} credits.`);
    case 'account_suspended':
      return refused(kind, 'The account is suspended.');
    case 'late':
      return refused('validity_expired', 'The validity of the message was over.');
    case 'entity_id_missing':
      return refused(kind, 'The account has come under DLT since, and the SMS has no PE id.');
    case 'not_allowed':
      return refused(kind, 'The account may not send to this country or prefix any more.');
    case 'no_route':
      return refused(kind, 'No carrier takes SMS to this number any more.');
  }
}

function refused(code: string, reason: string): FallbackEnd {
  return { kind: 'refused', code, reason };
}
