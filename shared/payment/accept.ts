import type { Db } from 'mongodb';
import { CREDITS_PER_MESSAGE } from '../ledger/refund.ts';
import type { Refusal } from '../ledger/refusal.ts';
import { type MessageDraft, queuedMessage } from '../messages/draft.ts';
import { REPEAT_MS } from '../mongo/until-answered.ts';
import { type Clock, isoDate } from '../runtime/clock.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import { type AccountId, type GroupId, newId } from '../runtime/ids.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { type Booking, bookedSchedule, priceOfBooking } from '../schedules/schedule.ts';
import { type BatchOrder, type DebitRequest, priceOf as priceOfDebit } from './debit.ts';
import { type Answered, createDebitUntilAnswered } from './debit-until-answered.ts';
import { debitEnterer } from './enter-debits.ts';
import { paidGroupWriter } from './insert.ts';
import { LaneGrouper } from './lane-grouper.ts';

/**
 * The only way for messages into the product: the account pays and the messages exist, or neither.
 *
 * While one debit of an account is in flight, the requests that arrive wait together and go in the next one, and the debits of
 * several accounts are one command; each request gets its own exact answer. What a debit paid for is inserted right after it,
 * together with the groups of other accounts, while the account's next debit is already on its way; the ledger entry follows.
 * A process that dies in between leaves the whole group in the account's `pending`, and the sweep does the rest
 * (finish-pending.ts).
 */
export interface Accepter {
  /**
   * Accepts all drafts of one request or none. Rejects with the store's error when nothing happened because the store
   * could not be asked; `outcome_unknown` when that cannot be told. With `payBy` the account pays before that moment of the
   * store's time or never, also when this process is frozen or the debit held up on its way.
   */
  accept(account: AccountId, drafts: readonly MessageDraft[], payBy?: Date): Promise<AcceptOutcome>;
}

/** The same for a message that is paid for now and released at its time (schedules/). */
export interface Booker {
  book(account: AccountId, booking: Booking, payBy?: Date): Promise<AcceptOutcome>;
}

/** The same for a batch that is stored unpaid: in a debit of its own, and what is not paid before `payBy` may be pruned. */
export interface BatchAccepter {
  acceptBatch(account: AccountId, batch: BatchOrder, payBy: Date): Promise<AcceptOutcome>;
}

export type AcceptOutcome =
  | { readonly kind: 'accepted'; readonly credits: number }
  /** `mayStillPay`: an attempt whose answer was lost may still be on its way to the store, until `payBy`. */
  | (Refusal & { readonly mayStillPay?: true })
  | { readonly kind: 'outcome_unknown' };

/** Requests of one debit: at 100 single messages the account document carries about 50 KB, and a larger group gains nothing (facts: performance). */
const GROUP_REQUESTS_MAX = 100;
/** Accounts of one debit command; with a hundred requests each it carries some 3 MB. */
const GROUP_ACCOUNTS_MAX = 50;
/** So many commands at once: while one asks for a lost answer again (`REPEAT_MS`), the other accounts go on. */
const GROUPS_MAX = 4;
/** A group that is at work for longer is slow: on a loaded machine with two cores they take 10 to 20 ms. */
const PATIENCE_MS = 25;
const REPEAT_PAUSE_MS = 100;
/** Accounts of which it is known what their next debit is to clear. */
const ACCOUNTS_MAX = 10_000;
/** Groups of an account that are not in the ledger yet; each carries its messages in the account's document until it is cleared. From then on an answer waits for its entry. */
const UNENTERED_MAX = 16;

type Answer =
  | {
      readonly outcome: AcceptOutcome;
      /** Resolves when the messages and the schedules are stored. */
      readonly stored?: Promise<void>;
    }
  /** Nothing happened, for this reason. */
  | { readonly failed: unknown };

const UNKNOWN: Answer = { outcome: { kind: 'outcome_unknown' } };

interface Order {
  readonly drafts: readonly MessageDraft[];
  readonly bookings: readonly Booking[];
  readonly payBy: Date | undefined;
  /** Then there are no drafts and no bookings. */
  readonly batch?: BatchOrder;
}

interface Payment {
  readonly account: AccountId;
  readonly order: Order;
}

export function createAccepter({
  db,
  clock,
  log,
}: {
  db: Db;
  clock: Clock;
  log: Log;
}): Accepter & Booker & BatchAccepter {
  const debits = createDebitUntilAnswered({ db, clock, log });
  const writer = paidGroupWriter(db);
  const enterer = debitEnterer(db);
  /** By account: groups that are followed up in full, to be cleared by the next debit. */
  const done = new Map<AccountId, GroupId[]>();
  /** By account: groups that are stored and not in the ledger yet. */
  const following = new Map<AccountId, number>();

  /** One debit for all of an account; if it does not pay for all of them, one by one in order. */
  const share = async (account: AccountId, orders: readonly Order[], all: Answer): Promise<readonly Answer[]> => {
    if ('failed' in all) return orders.map(() => all);
    const { outcome } = all;
    const single = outcome.kind === 'insufficient_credits' || outcome.kind === 'too_late';
    if (!single || orders.length === 1) {
      return orders.map((order) => ({ ...all, outcome: shareOf(outcome, order) }));
    }
    if (outcome.kind === 'insufficient_credits' && orders.every((order) => priceOf(order) > outcome.balance)) {
      // Not even the cheapest fits: an empty account costs one question per group, not one per request.
      return orders.map((order) => ({ outcome: { ...outcome, required: priceOf(order) } }));
    }
    const answers: Answer[] = [];
    for (const order of orders) {
      const answer = await payAlone(account, order);
      // The lost attempt was for all of them.
      answers.push(outcome.mayStillPay === true ? mayStillPay(answer) : answer);
    }
    return answers;
  };

  const payAlone = async (account: AccountId, order: Order): Promise<Answer> => {
    try {
      const [answer] = await pay([{ account, order }]);
      return answer ?? UNKNOWN;
    } catch (failed) {
      return { failed };
    }
  };

  /** One command for different accounts; each answer is its own. Rejects while nothing can have happened. */
  const pay = async (payments: readonly Payment[]): Promise<readonly Answer[]> => {
    const today = isoDate(clock.now());
    const requests = payments.map((payment) => debitRequest(payment, today, takeDone(payment.account)));
    let answers: readonly Answered[] = [];
    try {
      answers = await debits(requests);
    } finally {
      // Perhaps not cleared on the way: the next debit does it (again).
      requests.forEach((request, i) => {
        if (answers[i]?.kind !== 'paid') remember(request.account, request.done);
      });
    }
    return requests.map((request, i) => answerOf(request, answers[i]));
  };

  const answerOf = (request: DebitRequest, debit: Answered | undefined): Answer => {
    if (debit === undefined || debit.kind === 'unknown') return UNKNOWN;
    if (debit.kind === 'failed') return { failed: debit.error };
    if (debit.kind === 'refused')
      return { outcome: debit.repeated === true ? { ...debit.why, mayStillPay: true } : debit.why };
    crashPoint('accept:debited');
    return {
      outcome: { kind: 'accepted', credits: priceOfDebit(request) },
      stored: follow(request, debit.repeated !== true),
    };
  };

  /** Resolves when the messages and the schedules are stored; the ledger entry follows (enter-debits.ts), unless many do. */
  const follow = async (request: DebitRequest, mayClear: boolean): Promise<void> => {
    const { account, group } = request;
    const stored = await untilDone(group, () => writer.add(request));
    if (stored === undefined) return;
    crashPoint('accept:inserted');
    const unentered = (following.get(account) ?? 0) + 1;
    following.set(account, unentered);
    const entered = enter(request, mayClear);
    if (unentered > UNENTERED_MAX) await entered;
  };

  const enter = async (request: DebitRequest, mayClear: boolean): Promise<void> => {
    const { account, group } = request;
    const entered = await untilDone(group, () => enterer.add(request));
    if (entered !== undefined) crashPoint('accept:stored');
    if (entered === true && mayClear) remember(account, [group]);
    const left = (following.get(account) ?? 1) - 1;
    if (left === 0) following.delete(account);
    else following.set(account, left);
  };

  /** What it gave. Never rejects: a paid group is stored in the account already, and what fails here the sweep does. */
  const untilDone = async <T>(group: GroupId, write: () => Promise<T>): Promise<T | undefined> => {
    const deadline = clock.monotonicMs() + REPEAT_MS;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        log.warn('follow_up_failed', { group, ...errorFields(error) });
        if (clock.monotonicMs() >= deadline) return undefined;
        await pause();
      }
    }
  };

  const takeDone = (account: AccountId): readonly GroupId[] => {
    const groups = done.get(account) ?? [];
    done.delete(account);
    return groups;
  };

  const remember = (account: AccountId, groups: readonly GroupId[]): void => {
    if (groups.length === 0) return;
    // What is forgotten the sweep clears.
    const [oldest] = done.keys();
    if (done.size >= ACCOUNTS_MAX && oldest !== undefined) done.delete(oldest);
    const known = done.get(account);
    if (known === undefined) done.set(account, [...groups]);
    else known.push(...groups);
  };

  const grouper = new LaneGrouper<AccountId, Order, Answer>({
    maxItems: GROUP_REQUESTS_MAX,
    maxLanes: GROUP_ACCOUNTS_MAX,
    maxGroups: GROUPS_MAX,
    patienceMs: PATIENCE_MS,
    run: async (parts) => {
      const answers = await pay(parts.map(({ lane, items }) => ({ account: lane, order: together(items) })));
      return parts.map(({ lane, items }, i) => share(lane, items, answers[i] ?? UNKNOWN));
    },
  });

  return {
    accept: async (account, drafts, payBy) => answered(await grouper.add(account, { drafts, bookings: [], payBy })),
    book: async (account, booking, payBy) =>
      answered(await grouper.add(account, { drafts: [], bookings: [booking], payBy })),
    acceptBatch: async (account, batch, payBy) =>
      answered(await payAlone(account, { drafts: [], bookings: [], payBy, batch })),
  };
}

function debitRequest({ account, order }: Payment, today: string, done: readonly GroupId[]): DebitRequest {
  const group = newId('grp');
  return {
    account,
    group,
    messages: order.drafts.map((draft) => queuedMessage(account, group, draft)),
    schedules: order.bookings.map((booking) => bookedSchedule(account, group, booking)),
    batch: order.batch,
    today,
    done,
    payBy: order.payBy,
  };
}

async function answered(answer: Answer): Promise<AcceptOutcome> {
  if ('failed' in answer) throw answer.failed;
  await answer.stored;
  return answer.outcome;
}

/** One order for all; the earliest `payBy` is for everyone's. */
function together(requests: readonly Order[]): Order {
  let payBy: Date | undefined;
  for (const one of requests)
    if (one.payBy !== undefined && !(payBy !== undefined && payBy <= one.payBy)) payBy = one.payBy;
  return {
    drafts: requests.flatMap(({ drafts }) => drafts),
    bookings: requests.flatMap(({ bookings }) => bookings),
    payBy,
  };
}

/** Of an order without a batch. */
function priceOf({ drafts, bookings }: Order): number {
  return bookings.reduce((sum, booking) => sum + priceOfBooking(booking), drafts.length * CREDITS_PER_MESSAGE);
}

function mayStillPay(answer: Answer): Answer {
  if ('failed' in answer || answer.outcome.kind === 'accepted' || answer.outcome.kind === 'outcome_unknown')
    return answer;
  return { ...answer, outcome: { ...answer.outcome, mayStillPay: true } };
}

function shareOf(outcome: AcceptOutcome, order: Order): AcceptOutcome {
  return outcome.kind === 'accepted' ? { ...outcome, credits: priceOf(order) } : outcome;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REPEAT_PAUSE_MS));
}
