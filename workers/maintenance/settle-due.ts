import type { Db, Filter } from 'mongodb';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { type Change, entryAt } from '../../shared/messages/document/change.ts';
import { endState, mayHaveLeft, NOT_REFUNDED, UNCONFIRMED } from '../../shared/messages/document/copies.ts';
import type { HeldReceipt, Part } from '../../shared/messages/document/message.ts';
import { isBeforeSent } from '../../shared/messages/document/status.ts';
import type { Settler } from '../../shared/messages/settlement/settle.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, isTestAccount } from '../../shared/platform/runtime/ids.ts';
import { decideTest } from './test-outcome.ts';

const GROUP_MAX = 200;

interface Run {
  readonly due: Date;
  readonly account: AccountId;
}

/**
 * Settles messages whose `due` has come, the longest overdue first. A full group ends within an account's run, and the
 * next begins behind it: when a campaign's daytime begins and a million are due, others wait for one group only.
 */
export class DueMessages {
  readonly #db: Db;
  readonly #settler: Settler;
  readonly #clock: Clock;
  /** Where the next group begins, and the time up to which this pass goes; the next pass begins after it. */
  #onward: { readonly behind: Run; readonly until: Date } | undefined;

  constructor({ db, settler, clock }: { readonly db: Db; readonly settler: Settler; readonly clock: Clock }) {
    this.#db = db;
    this.#settler = settler;
    this.#clock = clock;
  }

  /** Returns how many there were. If nothing is due, still finishes the events and refunds of earlier groups. */
  async settleGroup(): Promise<number> {
    await this.#settler.finishFollowUps();
    const onward = this.#onward;
    const until = onward?.until ?? this.#clock.now();
    const found = onward === undefined ? await this.#read(until) : await this.#readBehind(onward.behind, until);
    const last = found.at(-1);
    this.#onward =
      found.length === GROUP_MAX && last?.due !== undefined
        ? { behind: { due: last.due, account: last.account }, until }
        : undefined;
    if (found.length === 0) return onward === undefined ? 0 : this.settleGroup();
    await this.#settler.settle(
      found.map((message) => ({
        message,
        decide: (current) => (isDue(current, this.#clock.now()) ? decideDue(current, this.#clock.now()) : undefined),
      })),
    );
    return found.length;
  }

  async #readBehind({ due, account }: Run, until: Date): Promise<readonly AnyMessage[]> {
    const found = await this.#find({ due, account: { $gt: account } }, GROUP_MAX);
    return found.length === GROUP_MAX ? found : [...found, ...(await this.#read(until, due, GROUP_MAX - found.length))];
  }

  #read(until: Date, after?: Date, limit = GROUP_MAX): Promise<readonly AnyMessage[]> {
    return this.#find({ due: { $lte: until, ...(after && { $gt: after }) } }, limit);
  }

  #find(filter: Filter<AnyMessage>, limit: number): Promise<readonly AnyMessage[]> {
    return this.#db.collection<AnyMessage>('messages').find(filter).sort({ due: 1, account: 1 }).limit(limit).toArray();
  }
}

/** Another process may have settled it since it was read. */
function isDue(message: AnyMessage, now: Date): boolean {
  return message.due !== undefined && message.due <= now;
}

/** How long a `sent` message may still get a receipt after its validity. Then it is closed as `sent`. */
export const RECEIPT_WAIT_MS = 72 * 3_600_000;
/** A submit in flight belongs to the carrier's worker. The message is looked at again after this time. */
const SUBMITTING_AGAIN_MS = 10 * 60_000;

/** Pure. */
export function decideDue(message: AnyMessage, now: Date): Change {
  const over = message.validUntil <= now;
  const isTest = isTestAccount(message.account) && !(over && isBeforeSent(message.state));
  const tested = isTest ? decideTest(message, now) : undefined;
  if (tested !== undefined) return tested;
  switch (message.state) {
    case 'waiting':
      return over ? expired(message, now) : { state: 'queued', set: { due: message.validUntil } };
    case 'queued':
      return over ? expired(message, now) : { set: { due: message.validUntil } };
    case 'submitting':
      return { set: { due: new Date(now.getTime() + SUBMITTING_AGAIN_MS) } };
    case 'sent':
      return message.held === undefined ? awaitReceipts(message, now) : endHeld(message, message.held, now);
    case 'delivered':
    case 'failed':
    case 'expired':
    case 'rejected':
    case 'read':
    case 'received':
      return { unset: ['due'] };
  }
}

function awaitReceipts({ validUntil }: AnyMessage, now: Date): Change {
  const close = new Date(validUntil.getTime() + RECEIPT_WAIT_MS);
  return close <= now ? { set: { closedReason: 'no_receipt' }, unset: ['due'] } : { set: { due: close } };
}

/**
 * When the time of held receipts is over, their segments have failed. The message ends if they were the last
 * (`endState`). A later receipt still counts: `delivered` can follow `failed` (messages/document/status.ts).
 */
function endHeld(message: AnyMessage, { until, keys, error, isStateNumber, reason }: HeldReceipt, now: Date): Change {
  if (until > now) return { set: { due: until } };
  const failed = (part: Part): Part =>
    part.key !== undefined && keys?.includes(part.key) && (part.state === 'accepted' || part.state === 'unknown')
      ? { ...part, state: 'failed', ...(error && { error }), ...(isStateNumber && { isStateNumber }) }
      : part;
  const parts = message.parts?.map(failed) ?? [];
  const earlier = message.earlier?.map((copy) => ({ ...copy, parts: copy.parts.map(failed) })) ?? [];
  const copies = keys && { parts, ...(earlier.length > 0 && { earlier }) };
  const final = keys === undefined ? 'failed' : endState(earlier, parts);
  if (final === undefined) {
    const { set, unset = [] } = awaitReceipts(message, now);
    return { set: { ...copies, ...set }, unset: ['held', ...unset] };
  }
  const code = parts.find((part) => part.state === final && part.error !== undefined)?.error ?? error;
  return {
    state: final,
    set: { ...copies, ...(code && { errorCode: code }), ...(reason && code === error && { errorReason: reason }) },
    unset: ['due', 'held'],
    entries: [entryAt(final, now, message.history)],
  };
}

/** The message never left, or surely no carrier accepted it. It is not refunded if an earlier copy may have been. */
function expired(message: AnyMessage, now: Date): Change {
  const given = message.givenUp && message.attempts?.at(-1);
  if (given) {
    return {
      state: 'failed',
      set: { errorCode: given.code, errorReason: `${given.reason}. No other carrier took it within its validity.` },
      unset: ['due'],
      entries: [entryAt('failed', now, message.history)],
    };
  }
  const mayHave = mayHaveLeft(message);
  const reason = 'The message could not be sent within its validity.';
  return {
    state: 'expired',
    set: {
      errorCode: mayHave ? UNCONFIRMED : 'validity_expired',
      errorReason: mayHave ? `${reason} ${NOT_REFUNDED}` : reason,
    },
    unset: ['due'],
    entries: [entryAt('expired', now, message.history)],
  };
}
