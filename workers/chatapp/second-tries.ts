import type { Db } from 'mongodb';
import type { FallbackEnd } from '../../shared/messages/document/chat-message.ts';
import {
  type SecondMessage,
  type SecondTry,
  type VerificationDocument,
  verificationsOf,
} from '../../shared/messages/document/verification.ts';
import { isBeyond } from '../../shared/messages/follow-on-sms.ts';
import { readSendingRules } from '../../shared/money/accounts/store.ts';
import { endChatAttempt, findAcceptedChat } from '../../shared/money/conversations/include.ts';
import type { ChatAccepter } from '../../shared/money/conversations/open.ts';
import { findAccepted } from '../../shared/money/payment/pending.ts';
import { readCapsOfLines } from '../../shared/people/keys/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { type AccountId, secondTryId } from '../../shared/platform/runtime/ids.ts';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import { type SecretBox, SecretUnreadable } from '../../shared/platform/runtime/secret-box.ts';
import { BesideRounds, inTurns, ofAccounts } from './beside-rounds.ts';
import { refused, refusedFor } from './fallbacks.ts';
import type { ChatMetrics } from './metrics.ts';

/** How long an attempt may take to pay, and how much longer it is left to its process. */
const PAY_WITHIN_MS = 15_000;
const LOOK_AGAIN_MS = 2_000;
/** The person needs time to give the code back. */
const LEFT_MS = 10_000;

interface SecondTriesOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  readonly box: SecretBox;
  readonly accepter: ChatAccepter;
  serves(account: AccountId): boolean;
}

type DueVerification = VerificationDocument & { readonly second: SecondTry & { readonly due: Date } };

type Decided = DueVerification & { readonly second: Required<Pick<SecondTry, 'decided'>> };

/**
 * Sends the code of a verification by the chat app when it went by SMS and was not given back in time
 * (docs/decisions/0058). The verification decides: an attempt is one update of it, which demands that it still waits.
 * The message's id is of that attempt, the message is paid for before `payBy` or never, and then the verification keeps
 * what became of it. Whoever finds an attempt without an end makes sure that it cannot pay any more, looks whether it
 * has, and only then begins another. So at most one message goes, whichever processes do this at once.
 */
export class SecondTries {
  readonly #options: SecondTriesOptions;
  readonly work: BesideRounds;

  constructor(options: SecondTriesOptions) {
    this.#options = options;
    this.work = new BesideRounds({ ...options, failed: 'second_tries_failed', turn: () => this.#turn() });
  }

  async #turn(): Promise<boolean> {
    const { db, clock, serves } = this.#options;
    const now = clock.now();
    const due = await inTurns(
      (passed, limit) =>
        verificationsOf(db)
          .find({ 'second.due': { $lte: now }, account: { $nin: [...passed] } })
          .sort({ 'second.due': 1 })
          .limit(limit)
          .toArray(),
      serves,
    );
    const moved = await Promise.all(ofAccounts(due.filter(isDue)).map((own) => this.#goInTurn(own)));
    return moved.includes(true);
  }

  /** A failure concerns one account, whose others are left to the next look. Returns whether anything was done. */
  async #goInTurn(own: readonly DueVerification[]): Promise<boolean> {
    const { log } = this.#options;
    let moved = false;
    try {
      for (const one of own) if (await this.#go(one)) moved = true;
      return moved;
    } catch (error) {
      log.warn('second_tries_failed', { account: own[0]?.account, ...unexpectedErrorFields(error) });
      return false;
    }
  }

  /** False when it is too early to do anything. */
  async #go(one: DueVerification): Promise<boolean> {
    const { db, clock } = this.#options;
    const { _id, account, second } = one;
    if (second.decided !== undefined) {
      const { at, payBy } = second.decided;
      const message = secondTryId(_id, at);
      if (!(await endChatAttempt(db, account, message, payBy))) return false;
      if ((await findAcceptedChat(db, account, message)) !== undefined) {
        await this.#end(one, { kind: 'sent', message });
        return true;
      }
    }
    const now = clock.now();
    if (one.state === 'approved' || one.state === 'failed') {
      await this.#end(one, undefined);
    } else if (one.expiresAt.getTime() - now.getTime() < LEFT_MS) {
      await this.#end(one, refused('validity_expired', 'The code had less than ten seconds left.'));
    } else if ((await findAccepted(db, account, one.message)) === undefined) {
      // A crash came before the payment, and nobody was told of the verification.
      await this.#end(one, refused('not_accepted', 'The SMS was not accepted.'));
    } else {
      const second = await decideSecond(db, one, now);
      if (second !== undefined) await this.#attempt({ ...one, second });
    }
    return true;
  }

  async #attempt(one: Decided): Promise<void> {
    crashPoint('second_try:decided');
    const end = await this.#pay(one);
    if (end === undefined) return;
    crashPoint('second_try:paid');
    await this.#end(one, end);
  }

  /** Undefined while it is unknown whether the message is paid for. Rejects with the store's error. */
  async #pay(one: Decided): Promise<FallbackEnd | undefined> {
    const { db, accepter } = this.#options;
    const { _id: verification, account, to, expiresAt: validUntil, reference, second } = one;
    const { at, payBy } = second.decided;
    const words = this.#open(one);
    if (words === undefined) return refused('unreadable', 'It was sealed with a key that is gone.');
    const rules = (await readSendingRules(db, [account])).get(account);
    if (rules !== undefined && isBeyond(rules, to)) return refusedFor({ kind: 'not_allowed' });
    const message = secondTryId(verification, at);
    const draft = { ...words, _id: message, to, validUntil, verification, ...defined({ reference }) };
    const caps = await readCapsOfLines(db, account, words.keys ?? []);
    const outcome = await accepter.accept(account, draft, payBy, caps);
    switch (outcome.kind) {
      case 'accepted':
        return { kind: 'sent', message };
      case 'outcome_unknown':
      case 'too_late':
      case 'session_closed': // of no template
        return undefined;
      default:
        return outcome.mayStillPay ? undefined : refusedFor(outcome);
    }
  }

  #open({ _id, second }: DueVerification): SecondMessage | undefined {
    try {
      return JSON.parse(this.#options.box.open(second.sealed ?? '', ['verifications', _id, 'second.sealed']));
    } catch (error) {
      if (error instanceof SecretUnreadable) return undefined;
      throw error;
    }
  }

  /** `end` undefined: it is not needed any more. */
  async #end(one: DueVerification, end: FallbackEnd | undefined): Promise<void> {
    await endSecond(this.#options.db, one, end);
    this.#options.metrics.secondTries.inc({ result: end?.kind ?? 'not_needed' });
  }
}

function isDue(one: VerificationDocument): one is DueVerification {
  return one.second?.due !== undefined;
}

/** Decides that the second try goes now. Undefined if another process decided since, or the code was given back. */
async function decideSecond(db: Db, { _id, second }: DueVerification, now: Date) {
  const decided = { at: now, payBy: new Date(now.getTime() + PAY_WITHIN_MS) };
  const due = new Date(decided.payBy.getTime() + LOOK_AGAIN_MS);
  const { matchedCount } = await verificationsOf(db).updateOne(
    { _id, state: 'pending', 'second.due': second.due },
    { $set: { 'second.decided': decided, 'second.due': due } },
  );
  return matchedCount === 1 ? { ...second, decided, due } : undefined;
}

/** Keeps what became of the second try, unless it was changed since. `ended` undefined: it is not needed. */
async function endSecond(
  db: Db,
  { _id, second }: Pick<DueVerification, '_id' | 'second'>,
  ended: FallbackEnd | undefined,
): Promise<void> {
  await verificationsOf(db).updateOne(
    { _id, 'second.due': second.due },
    { ...(ended && { $set: { 'second.ended': ended } }), $unset: { 'second.due': '', 'second.sealed': '' } },
  );
}
