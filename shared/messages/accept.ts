import type { Db } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import { ledgerEntryOf } from '../credits/ledger-store.ts';
import { CREDITS_PER_MESSAGE } from '../credits/refund.ts';
import { isStoreTrouble } from '../mongo/errors.ts';
import { type Clock, isoDate } from '../runtime/clock.ts';
import { Grouper } from '../runtime/grouper.ts';
import { type AccountId, type GroupId, newId } from '../runtime/ids.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { type Booking, bookedSchedule, priceOfBooking } from '../schedules/schedule.ts';
import { type BatchOrder, type Debit, type DebitRequest, debit, type Refusal } from './debit.ts';
import { type MessageDraft, queuedMessage } from './draft.ts';
import { type PaidGroup, paidGroupWriter } from './insert.ts';

/**
 * The only way for messages into the product: the account pays and the messages exist, or neither.
 *
 * While one debit of an account is in flight, the requests that arrive wait together and go in the next one; each gets its
 * own exact answer. What the debit paid for is inserted right after it, together with the groups of other accounts, while
 * the account's next debit is already on its way. A process that dies in between leaves the whole group in the account's
 * `pending`, and the sweep inserts it (finish-pending.ts).
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
  | { readonly kind: 'accepted'; readonly credits: number; readonly balance: number }
  | Refusal
  | { readonly kind: 'outcome_unknown' };

/** Requests of one debit: at 100 single messages the account document carries about 50 KB, and a larger group gains nothing (facts: performance). */
const GROUP_REQUESTS_MAX = 100;
/** How long a debit whose answer was lost is asked again. The sweep's age limit must be far above it. */
export const REPEAT_MS = 4_000;
const REPEAT_PAUSE_MS = 100;
/** Accounts whose groupers are kept; beyond that idle ones are forgotten (the sweep clears their last pending change). */
const ACCOUNTS_MAX = 10_000;

interface Answer {
  readonly outcome: AcceptOutcome;
  /** Resolves when the messages, the schedules and the ledger entry are stored. */
  readonly stored?: Promise<void>;
}

interface Order {
  readonly drafts: readonly MessageDraft[];
  readonly bookings: readonly Booking[];
  readonly payBy: Date | undefined;
  /** Then there are no drafts and no bookings. */
  readonly batch?: BatchOrder;
}

interface AccountLine {
  readonly grouper: Grouper<Order, Answer>;
  /** Followed up in full, to be cleared by the next debit. */
  done: GroupId[];
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
  const accounts = db.collection<AccountDocument>('accounts');
  const writer = paidGroupWriter(db);
  const lines = new Map<AccountId, AccountLine>();

  const lineOf = (account: AccountId): AccountLine => {
    const known = lines.get(account);
    if (known !== undefined) return known;
    if (lines.size >= ACCOUNTS_MAX) forgetIdle(lines);
    const line: AccountLine = {
      grouper: new Grouper({
        maxItems: GROUP_REQUESTS_MAX,
        gatherMs: 0,
        run: (requests) => payTogether(account, line, requests),
      }),
      done: [],
    };
    lines.set(account, line);
    return line;
  };

  /** One debit for all; if the account does not pay for all of them, one by one in order. */
  const payTogether = async (
    account: AccountId,
    line: AccountLine,
    requests: readonly Order[],
  ): Promise<readonly Answer[]> => {
    const all = await pay(account, line, together(requests));
    const { outcome } = all;
    const single = outcome.kind === 'insufficient_credits' || outcome.kind === 'too_late';
    if (!single || requests.length === 1) {
      return requests.map((request) => ({ ...all, outcome: shareOf(outcome, request) }));
    }
    if (outcome.kind === 'insufficient_credits' && requests.every((request) => priceOf(request) > outcome.balance)) {
      // Not even the cheapest fits: an empty account costs one question per group, not one per request.
      return requests.map((request) => ({ outcome: { ...outcome, required: priceOf(request) } }));
    }
    const answers: Answer[] = [];
    for (const request of requests) answers.push(await pay(account, line, request));
    return answers;
  };

  const pay = async (account: AccountId, line: AccountLine, order: Order): Promise<Answer> => {
    const { payBy, batch } = order;
    const group = newId('grp');
    const messages = order.drafts.map((draft) => queuedMessage(account, group, draft));
    const schedules = order.bookings.map((booking) => bookedSchedule(account, group, booking));
    const done = line.done.splice(0);
    let result: Debit | 'unknown' = 'unknown';
    try {
      const today = isoDate(clock.now());
      result = await debitUntilAnswered({ account, group, messages, schedules, batch, today, done, payBy });
    } finally {
      // Perhaps not cleared on the way: the next debit does it (again).
      if (result === 'unknown' || result.kind === 'refused') line.done.push(...done);
    }
    if (result === 'unknown') return { outcome: { kind: 'outcome_unknown' } };
    if (result.kind === 'refused') return { outcome: result.why };
    const { pending } = result;
    const paid: PaidGroup = { messages, schedules, entry: ledgerEntryOf(account, group, pending) };
    return {
      outcome: { kind: 'accepted', credits: -pending.amount, balance: pending.balanceAfter },
      stored: store(line, group, paid),
    };
  };

  /** Repeats a debit whose answer was lost. Rejects only while nothing can have happened. */
  const debitUntilAnswered = async (request: DebitRequest): Promise<Debit | 'unknown'> => {
    const deadline = clock.monotonicMs() + REPEAT_MS;
    let asked = false;
    for (;;) {
      try {
        return await debit(accounts, request);
      } catch (error) {
        if (!isStoreTrouble(error)) throw error;
        // Not finding a server says that nothing was sent; any other loss of the answer leaves it open.
        asked ||= !(error instanceof Error && error.name === 'MongoServerSelectionError');
        if (!asked) throw error;
        log.warn('debit_answer_lost', { account: request.account, group: request.group, ...errorFields(error) });
        if (clock.monotonicMs() >= deadline) return 'unknown';
        await pause();
      }
    }
  };

  /** Never rejects: a paid group is stored in the account already, and what fails here the sweep does. */
  const store = async (line: AccountLine, group: GroupId, paid: PaidGroup): Promise<void> => {
    const deadline = clock.monotonicMs() + REPEAT_MS;
    for (;;) {
      try {
        await writer.add(paid);
        line.done.push(group);
        return;
      } catch (error) {
        log.warn('follow_up_failed', { group, ...errorFields(error) });
        if (clock.monotonicMs() >= deadline) return;
        await pause();
      }
    }
  };

  return {
    accept: async (account, drafts, payBy) =>
      answered(await lineOf(account).grouper.add({ drafts, bookings: [], payBy })),
    book: async (account, booking, payBy) =>
      answered(await lineOf(account).grouper.add({ drafts: [], bookings: [booking], payBy })),
    acceptBatch: async (account, batch, payBy) =>
      answered(await pay(account, lineOf(account), { drafts: [], bookings: [], payBy, batch })),
  };
}

async function answered({ outcome, stored }: Answer): Promise<AcceptOutcome> {
  await stored;
  return outcome;
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

function shareOf(outcome: AcceptOutcome, order: Order): AcceptOutcome {
  return outcome.kind === 'accepted' ? { ...outcome, credits: priceOf(order) } : outcome;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REPEAT_PAUSE_MS));
}

function forgetIdle(lines: Map<AccountId, AccountLine>): void {
  for (const [account, line] of lines) {
    if (line.grouper.idle) lines.delete(account);
  }
}
