import type { Db } from 'mongodb';
import { Routes } from '../../shared/carriers/routing/store.ts';
import type { ChatMessageDocument, FallbackEnd } from '../../shared/messages/document/chat-message.ts';
import { decideFallback, endFallback } from '../../shared/messages/document/fallback.ts';
import { acceptFollowOn, type FollowOnOutcome } from '../../shared/messages/follow-on-sms.ts';
import type { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import type { ConversationLimitReached } from '../../shared/money/conversations/decide.ts';
import { FollowUp } from '../../shared/money/payment/follow-up.ts';
import { readCapsOfLines } from '../../shared/people/keys/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { type AccountId, fallbackId } from '../../shared/platform/runtime/ids.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import { BesideRounds, inTurns, ofAccounts } from './beside-rounds.ts';
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

/**
 * Sends the SMS that replaces a chat-app message, decided earlier or now because its time has come
 * (messages/document/fallback.ts). Three steps, each of which any later holder of the partition may repeat: the message
 * says that the SMS goes; the account pays for the SMS, whose id derives from the message; the message says what became
 * of the SMS, then its event and its conversation's refund follow. Runs beside the worker's rounds.
 */
export class Fallbacks {
  readonly #options: FallbacksOptions;
  readonly #routes: Routes;
  readonly #followUp: FollowUp;
  readonly work: BesideRounds;

  constructor(options: FallbacksOptions) {
    this.#options = options;
    this.#routes = new Routes(options);
    this.#followUp = new FollowUp(options);
    this.work = new BesideRounds({ ...options, failed: 'fallbacks_failed', turn: () => this.#turn() });
  }

  /** Returns whether anything was settled, so that there may be more. */
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

  /** The longest due first. Accounts on hold wait until the validity is over, as their messages do. */
  async #due(): Promise<readonly ChatMessageDocument[]> {
    const { db, clock, gates, partitionOf } = this.#options;
    const messages = db.collection<ChatMessageDocument>('messages');
    const now = clock.now();
    // Usually nothing is due, and the accounts on hold need not be read.
    const any = await messages.findOne({ 'fallback.due': { $lte: now } }, { projection: { _id: 1 } });
    if (any === null) return [];
    await gates.refresh();
    return inTurns(
      (passed, limit) =>
        messages
          .find({
            'fallback.due': { $lte: now },
            account: { $nin: [...passed] },
            ...(gates.held.size > 0 && {
              $or: [{ account: { $nin: [...gates.held] as AccountId[] } }, { validUntil: { $lte: now } }],
            }),
          })
          .sort({ 'fallback.due': 1 })
          .limit(limit)
          .toArray(),
      (account) => partitionOf(account) !== undefined,
    );
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
    const ends = await Promise.all(
      ofAccounts(messages).map(async (own) => {
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

  /** Undefined while it is unknown whether the SMS is paid for. Rejects with the store's error. */
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

type NotPaid = FollowOnOutcome | ConversationLimitReached;

/** Why the SMS in place of a message, or the message after it, does not go. */
export function refusedFor(
  outcome: Exclude<NotPaid, { readonly kind: 'accepted' | 'outcome_unknown' | 'too_late' }>,
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
    case 'conversation_limit_reached':
      return refused(kind, `The conversation has ${outcome.most} messages of the account already.`);
  }
}

export function refused(code: string, reason: string): FallbackEnd {
  return { kind: 'refused', code, reason };
}
