import type { Db } from 'mongodb';
import { type MessageDraft, queuedMessage } from '../../messages/document/message.ts';
import { ACCOUNTS_MAX } from '../../messages/queue/queue-document.ts';
import { type Booking, bookedSchedule, priceOfBooking } from '../../messages/schedule.ts';
import { storeTrouble } from '../../platform/mongo/errors.ts';
import { REPEAT_MS } from '../../platform/mongo/until-answered.ts';
import { type Clock, isoDate } from '../../platform/runtime/clock.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import { type AccountId, type GroupId, newId } from '../../platform/runtime/ids.ts';
import type { Log } from '../../platform/runtime/log.ts';
import { within } from '../../platform/runtime/within.ts';
import { creditsOf } from '../accounts/prices.ts';
import { chargesOf, type KeyCaps, type KeyCharge, type Refusal } from '../ledger/spending.ts';
import { type Answered, type DebitRequest, debitAnswers, debitEach, earliest, PAID } from './debit.ts';
import { FollowUp, type Leaving } from './follow-up.ts';
import { KeyedGrouper, type KeyedPart } from './keyed-grouper.ts';
import { type BatchOrder, priceOf } from './pending.ts';

export type AcceptOutcome =
  | { readonly kind: 'accepted'; readonly credits: number }
  /** `mayStillPay`: the answer to an attempt was lost, and it may still reach the store until `payBy`. */
  | (Refusal & { readonly mayStillPay?: true })
  | { readonly kind: 'outcome_unknown' };

/** 100 single messages add about 50 KB to the account document; a larger group gains nothing. */
const GROUP_REQUESTS_MAX = 100;
/** Commands in flight at once: while one repeats a lost answer, the other accounts go on. */
const GROUPS_MAX = 4;
/** A slower group lets another start beside it. On a loaded machine with two cores groups take 10 to 20 ms. */
const PATIENCE_MS = 25;

interface Order {
  readonly drafts: readonly MessageDraft[];
  readonly bookings: readonly Booking[];
  readonly batch?: BatchOrder;
  readonly payBy: Date | undefined;
  readonly keys: readonly KeyCharge[];
}

interface AccountOrder {
  readonly account: AccountId;
  readonly order: Order;
}

type Answer =
  | {
      readonly outcome: AcceptOutcome;
      /** Resolves when everything that was paid for is stored where it belongs. */
      readonly stored?: Promise<void>;
    }
  | { readonly failed: unknown };

const UNKNOWN: Answer = { outcome: { kind: 'outcome_unknown' } };
/** Too much that the account has paid for is not stored yet (follow-up.ts). Nothing more is debited. */
const FULL: Answer = {
  failed: storeTrouble('the store is behind: too much that the account has paid for waits to be stored'),
};

export type Accepter = Pick<GroupAccepter, 'accept' | 'book' | 'acceptBatch'>;

/**
 * The only way into the product for SMS: the account pays and the messages exist, or neither.
 *
 * While one debit of an account is in flight, new requests share the next one. The debits of several accounts go in
 * one command, and each request gets its own exact answer. The debit stores the messages too, in the account's
 * `pending`, so it is all that an answer waits for. The queue and the ledger follow soon after (follow-up.ts). If a
 * process dies in between, the whole group is in `pending`, and maintenance finishes it (finish-pending.ts).
 */
export class GroupAccepter {
  readonly #deps: { readonly db: Db; readonly clock: Clock; readonly log: Log };
  readonly #followUp: FollowUp;
  readonly #grouper: KeyedGrouper<AccountId, Order, Answer>;
  /** Accounts known to have caps. For others the debit demands that they have none, which costs less. */
  readonly #capped = new Set<AccountId>();
  /** The UTC day, and the accounts that this process has seen pay on it. */
  #paidOn: { readonly today: string; readonly accounts: Set<AccountId> } = { today: '', accounts: new Set() };

  constructor(deps: { readonly db: Db; readonly clock: Clock; readonly log: Log }) {
    this.#deps = deps;
    this.#followUp = new FollowUp(deps);
    this.#grouper = new KeyedGrouper({
      maxItems: GROUP_REQUESTS_MAX,
      maxKeys: ACCOUNTS_MAX, // with a hundred requests each about 3 MB
      maxGroups: GROUPS_MAX,
      patienceMs: PATIENCE_MS,
      run: (parts) => this.#payForGroup(parts),
    });
  }

  /**
   * Accepts all drafts of one request or none. When it resolves, the messages are paid and safe, perhaps not in the
   * queue yet. Rejects with the store's error when nothing happened because the store could not be reached;
   * `outcome_unknown` when that cannot be told. With `payBy` the account pays before that moment of the store's time or
   * never, even if this process freezes or the debit is delayed. `caps`: of the keys that ask, if they have any.
   */
  async accept(
    account: AccountId,
    drafts: readonly MessageDraft[],
    payBy?: Date,
    caps: readonly KeyCaps[] = [],
  ): Promise<AcceptOutcome> {
    return outcomeOf(await this.#grouper.add(account, charged({ drafts, bookings: [], payBy }, caps)));
  }

  /** Like `accept`, for a schedule: paid for now and stored, released at its time (messages/schedule.ts). */
  async book(
    account: AccountId,
    booking: Booking,
    payBy?: Date,
    caps: readonly KeyCaps[] = [],
  ): Promise<AcceptOutcome> {
    return storedOutcomeOf(await this.#grouper.add(account, charged({ drafts: [], bookings: [booking], payBy }, caps)));
  }

  /** Like `accept`, for a batch that is stored unpaid. One not paid before `payBy` may be pruned. */
  async acceptBatch(
    account: AccountId,
    batch: BatchOrder,
    payBy: Date,
    caps: readonly KeyCaps[] = [],
  ): Promise<AcceptOutcome> {
    return storedOutcomeOf(await this.#payAlone(account, charged({ drafts: [], bookings: [], batch, payBy }, caps)));
  }

  /** Everything accepted so far is stored and entered, or left to maintenance because that takes too long. */
  settled(): Promise<void> {
    return this.#followUp.settled();
  }

  /** One debit per account for all its requests; the debits of several accounts in one command. */
  async #payForGroup(parts: readonly KeyedPart<AccountId, Order>[]): Promise<readonly Promise<readonly Answer[]>[]> {
    const answers = await this.#pay(parts.map(({ key, items }) => ({ account: key, order: together(items) })));
    return parts.map(async ({ key, items }, i) => {
      const each = await this.#answerEach(key, items, answers[i] ?? UNKNOWN);
      await this.#followUp.room(key);
      return each;
    });
  }

  /** If an account's orders cannot be paid together, they are tried one by one, in order. */
  async #answerEach(account: AccountId, orders: readonly Order[], all: Answer): Promise<readonly Answer[]> {
    if ('failed' in all) return orders.map(() => all);
    const { outcome } = all;
    const tooMuch = outcome.kind === 'insufficient_credits' || outcome.kind === 'spend_limit_reached';
    if (!(tooMuch || outcome.kind === 'too_late') || orders.length === 1) {
      return orders.map((order) => ({ ...all, outcome: withOwnPrice(outcome, order) }));
    }
    if (tooMuch && orders.every((order) => isTooMuch(order, outcome))) {
      // Not even the cheapest can be paid: an empty account costs one try per group, not one per request.
      return orders.map((order) => ({ outcome: { ...outcome, required: orderPrice(order) } }));
    }
    const answers: Answer[] = [];
    for (const order of orders) {
      // The order before it has waited in vain for room. This one need not wait as well.
      const answer = answers.at(-1) === FULL ? FULL : await this.#payAlone(account, order);
      // The attempt with the lost answer covered all of them.
      answers.push(outcome.mayStillPay === true ? mayStillPay(answer) : answer);
    }
    return answers;
  }

  async #payAlone(account: AccountId, order: Order): Promise<Answer> {
    try {
      await this.#followUp.room(account);
      const [answer] = await this.#pay([{ account, order }]);
      return answer ?? UNKNOWN;
    } catch (failed) {
      return { failed };
    }
  }

  /** One command for different accounts; each gets its own answer. Rejects only when certainly nothing happened. */
  async #pay(orders: readonly AccountOrder[]): Promise<readonly Answer[]> {
    const open = orders.filter(({ account }) => this.#followUp.hasRoom(account));
    const paid = open.length === 0 ? [] : await this.#payOpen(open);
    if (open.length === orders.length) return paid;
    const answers = new Map(open.map(({ account }, i) => [account, paid[i]]));
    return orders.map(({ account }) => answers.get(account) ?? FULL);
  }

  async #payOpen(orders: readonly AccountOrder[]): Promise<readonly Answer[]> {
    const today = isoDate(this.#deps.clock.now());
    const group = newId('grp');
    if (today > this.#paidOn.today) this.#paidOn = { today, accounts: new Set() };
    // After a step back of the clock, nothing is known of the day.
    const accounts = today === this.#paidOn.today ? this.#paidOn.accounts : new Set<AccountId>();
    const leaving = orders.map(({ account }) => this.#followUp.takeLeaving(account));
    const requests = orders.map((one, i) => ({
      ...debitRequest(one, group, today, leaving[i]),
      uncapped: one.order.keys.length === 0 && !this.#capped.has(one.account),
      begun: accounts.has(one.account),
    }));
    let answers: readonly Answered[] = [];
    try {
      answers = await this.#debit(requests);
    } finally {
      // Perhaps not done: the next debit does it (again).
      orders.forEach(({ account }, i) => {
        const left = leaving[i];
        if (left !== undefined && answers[i]?.kind !== 'paid') this.#followUp.leave(account, left);
      });
    }
    const paid = requests.flatMap((request, i) => {
      const answer = answers[i];
      return answer?.kind === 'paid' ? { ...request, first: answer.repeated !== true } : [];
    });
    for (const { account } of paid) accounts.add(account);
    if (paid.length > 0) crashPoint('accept:debited');
    const stored = this.#followUp.store(paid);
    return requests.map((request, i) => answerOf(request, answers[i], stored));
  }

  /** If not all requests have paid, `debitAnswers` finds out what happened to each. */
  async #debit(requests: readonly DebitRequest[]): Promise<readonly Answered[]> {
    const beganMs = this.#deps.clock.monotonicMs();
    const paid = debitEach(this.#deps.db, requests);
    const all = await paid.catch(() => 0);
    if (all === requests.length) return requests.map(() => PAID);
    return debitAnswers({ ...this.#deps, capped: this.#capped }, requests, { beganMs, paid });
  }
}

function answerOf(request: DebitRequest, debit: Answered | undefined, stored: Promise<void>): Answer {
  if (debit === undefined || debit.kind === 'unknown') return UNKNOWN;
  if (debit.kind === 'failed') return { failed: debit.error };
  if (debit.kind === 'paid') return { outcome: { kind: 'accepted', credits: priceOf(request) }, stored };
  return { outcome: debit.repeated === true ? { ...debit.why, mayStillPay: true } : debit.why };
}

function outcomeOf(answer: Answer): AcceptOutcome {
  if ('failed' in answer) throw answer.failed;
  return answer.outcome;
}

/** Waits until the schedule or batch is stored, so that the caller can read or cancel it; at most `REPEAT_MS`. */
async function storedOutcomeOf(answer: Answer): Promise<AcceptOutcome> {
  const outcome = outcomeOf(answer);
  if ('stored' in answer && answer.stored !== undefined) await within(REPEAT_MS, answer.stored);
  return outcome;
}

function debitRequest(
  { account, order }: AccountOrder,
  group: GroupId,
  today: string,
  leaving: Leaving = new Map(),
): DebitRequest {
  const groups = (what: 'messages' | 'all') => [...leaving].flatMap(([id, which]) => (which === what ? id : []));
  return {
    account,
    group,
    messages: order.drafts.map((draft) => queuedMessage(account, group, draft)),
    schedules: order.bookings.map((booking) => bookedSchedule(account, group, booking)),
    batch: order.batch,
    today,
    done: groups('all'),
    queued: groups('messages'),
    payBy: order.payBy,
    keys: order.keys,
  };
}

function charged(order: Omit<Order, 'keys'>, caps: readonly KeyCaps[]): Order {
  return { ...order, keys: caps.length === 0 ? [] : chargesOf([{ caps, amount: orderPrice(order) }]) };
}

/** Whether an order alone would be refused for the same reason as together with others. */
function isTooMuch(
  order: Order,
  refusal: Extract<Refusal, { readonly kind: 'insufficient_credits' | 'spend_limit_reached' }>,
): boolean {
  if (refusal.kind === 'insufficient_credits') return orderPrice(order) > refusal.balance;
  const { key, spent, cap } = refusal;
  return (key === undefined || order.keys.some((one) => one.key === key)) && spent + orderPrice(order) > cap;
}

/** One order for all. The earliest `payBy` applies to every one of them. */
function together(orders: readonly Order[]): Order {
  return {
    drafts: orders.flatMap(({ drafts }) => drafts),
    bookings: orders.flatMap(({ bookings }) => bookings),
    payBy: earliest(orders.map(({ payBy }) => payBy)),
    keys: chargesOf(orders.flatMap(({ keys }) => keys.map((one) => ({ caps: [one], amount: one.amount })))),
  };
}

function orderPrice({ drafts, bookings, batch }: Omit<Order, 'keys'>): number {
  const messages = drafts.reduce((sum, draft) => sum + creditsOf(draft), 0);
  const some = batch === undefined ? messages : (batch.credits ?? batch.total);
  return bookings.reduce((sum, booking) => sum + priceOfBooking(booking), some);
}

function withOwnPrice(outcome: AcceptOutcome, order: Order): AcceptOutcome {
  return outcome.kind === 'accepted' ? { ...outcome, credits: orderPrice(order) } : outcome;
}

function mayStillPay(answer: Answer): Answer {
  if ('failed' in answer || answer.outcome.kind === 'accepted' || answer.outcome.kind === 'outcome_unknown')
    return answer;
  return { ...answer, outcome: { ...answer.outcome, mayStillPay: true } };
}
