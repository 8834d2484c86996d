import type { Db } from 'mongodb';
import { storeTrouble } from '../../platform/mongo/errors.ts';
import { Grouper } from '../../platform/runtime/grouper.ts';
import type { AccountId, GroupId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { type KeyCaps, PAYER, type Refusal } from '../ledger/spending.ts';
import { conversationKey } from './conversation.ts';
import {
  type Answer,
  type Answered,
  type Arrival,
  type ChatAcceptOutcome,
  type ChatDraft,
  type ChatOrder,
  type ChatPrices,
  type ChatState,
  type ConversationLimitReached,
  decideChats,
  OUTCOME_UNKNOWN,
  planOf,
  type SessionClosed,
} from './decide.ts';
import { type ChatDeps, hasPlace, includeWithin } from './include.ts';
import { type OpenersToPay, payForOpeners } from './pay.ts';
import { readCustomers } from './person.ts';

/**
 * The only way into the product for chat-app messages. The first message to a customer opens a conversation and pays
 * for it; the others go in it for free. If session or account do not allow the message, nothing is stored. Opening is a
 * compare-and-set on the account's counter `chats`, which is read before looking for an open conversation: when two
 * gateways accept the first message to a customer at once, one opens and pays, the other is included
 * (docs/decisions/0016).
 *
 * While one group of an account is in flight, new messages form the next group. If a process dies after the debit,
 * the openings are in the account document, and maintenance finishes them (workers/maintenance/finish-pending.ts).
 */
export interface ChatAccepter {
  /** With `payBy`: accepted before that store time, or never. Rejects (store's error): nothing happened. */
  accept(account: AccountId, draft: ChatDraft, payBy?: Date, caps?: readonly KeyCaps[]): Promise<ChatAcceptOutcome>;
}

/** Accounts kept in memory. Above this, idle ones are dropped; maintenance clears their last pending changes. */
const ACCOUNTS_MAX = 10_000;

export function createChatAccepter(deps: ChatAccepterDeps): ChatAccepter {
  const accepters = new Map<AccountId, AccountAccepter>();

  const accepterOf = (account: AccountId): AccountAccepter => {
    const known = accepters.get(account);
    if (known !== undefined) return known;
    if (accepters.size >= ACCOUNTS_MAX) {
      for (const [id, { idle }] of accepters) if (idle) accepters.delete(id);
    }
    const accepter = new AccountAccepter(account, deps);
    accepters.set(account, accepter);
    return accepter;
  };

  return {
    accept: (account, draft, payBy, caps = []) => accepterOf(account).accept({ ...draft, payBy, caps }),
  };
}

/** The answer that `accept` would give now. Stores and charges nothing. */
export async function wouldOpen(
  db: Db,
  account: AccountId,
  draft: Pick<ChatDraft, '_id' | 'from' | 'to' | 'content'>,
  now: Date,
  prices: ChatPrices,
  caps: readonly KeyCaps[],
): Promise<
  { readonly kind: 'would_accept'; readonly credits: number } | Refusal | SessionClosed | ConversationLimitReached
> {
  const order = { ...draft, caps };
  const state = await readChatState(db, account, [order]);
  const [decision] = decideChats([order], state, now, prices);
  if (decision === undefined) return { kind: 'would_accept', credits: 0 };
  if (decision.kind === 'included') {
    const { conversationMessages: most } = state.account ?? {};
    const isPlace = most === undefined || (await hasPlace(db, decision.conversation.id, most));
    return isPlace ? { kind: 'would_accept', credits: 0 } : { kind: 'conversation_limit_reached', most };
  }
  return decision.kind === 'open' ? { kind: 'would_accept', credits: decision.opening.credits } : decision;
}

/** Per group. With the longest texts and parameters they add about a megabyte to the account document. */
const GROUP_MAX = 50;
/** Lost races in a row before we give up. Each means that another conversation of this account was opened. */
const TRIES_MAX = 200;

export interface ChatAccepterDeps extends ChatDeps {
  readonly prices: ChatPrices;
}

/**
 * Accepts the messages of one account in this process, in groups: while one is in flight, the next gathers. If another
 * opening came first, the affected messages are decided again, until every message has an answer.
 */
class AccountAccepter {
  readonly #account: AccountId;
  readonly #deps: ChatAccepterDeps;
  readonly #grouper: Grouper<Arrival, Answer>;
  /** Groups whose follow-up is complete; the next debit clears them. */
  #done: readonly GroupId[] = [];

  constructor(account: AccountId, deps: ChatAccepterDeps) {
    this.#account = account;
    this.#deps = deps;
    this.#grouper = new Grouper({ maxItems: GROUP_MAX, gatherMs: 0, run: (arrivals) => this.#takeAll(arrivals) });
  }

  /** Nothing waits or is in flight, so the accepter may be dropped: maintenance clears its last pending changes. */
  get idle(): boolean {
    return this.#grouper.idle;
  }

  /** Rejects with the store's error when nothing was paid or stored. */
  async accept(arrival: Arrival): Promise<ChatAcceptOutcome> {
    const answer = await this.#grouper.add(arrival);
    if (answer.kind === 'failed') throw answer.error;
    return answer;
  }

  /** Every arrival gets its own answer. A failure of one says nothing about the others. */
  async #takeAll(arrivals: readonly Arrival[]): Promise<readonly Answer[]> {
    const answers = new Map<Arrival, Answer>();
    const mayStillPay = new Set<Arrival>();
    let open = arrivals;
    for (let tries = 1; open.length > 0; tries++) {
      try {
        if (tries > TRIES_MAX) {
          throw storeTrouble(`${TRIES_MAX} other conversations of account ${this.#account} came between`);
        }
        await this.#takeOnce(open, answers, mayStillPay);
      } catch (error) {
        for (const arrival of open) if (!answers.has(arrival)) answers.set(arrival, { kind: 'failed', error });
      }
      open = open.filter((arrival) => !answers.has(arrival));
    }
    return arrivals.map((arrival) => {
      const answer = answers.get(arrival) ?? OUTCOME_UNKNOWN;
      return mayStillPay.has(arrival) ? besideAttempt(answer) : answer;
    });
  }

  /** The rest must be decided again: another opening was first, or their own opening must be paid first. */
  async #takeOnce(
    arrivals: readonly Arrival[],
    answers: Map<Arrival, Answer>,
    mayStillPay: Set<Arrival>,
  ): Promise<void> {
    const { db, clock, prices } = this.#deps;
    const state = await readChatState(db, this.#account, arrivals);
    const plan = planOf(arrivals, decideChats(arrivals, state, clock.now(), prices));
    for (const one of plan.refused) answers.set(...one);
    const results = await Promise.allSettled([
      includeWithin(this.#deps, this.#account, plan.included, state.account?.conversationMessages),
      this.#open({ chats: state.account?.chats, openers: plan.openers, mayStillPay }),
    ]);
    // Results that were stored and paid come first, so that a failure of another part does not hide them.
    for (const result of results) {
      if (result.status === 'fulfilled') for (const [arrival, answer] of result.value) answers.set(arrival, answer);
    }
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async #open(asked: Omit<OpenersToPay, 'account' | 'done'>): Promise<readonly Answered[]> {
    const { answers, done } = await payForOpeners(this.#deps, { ...asked, account: this.#account, done: this.#done });
    this.#done = done;
    return answers;
  }
}

/**
 * The answer to an arrival for which an earlier attempt, whose answer was lost, may still pay. If it was accepted
 * since, another conversation was opened, so that attempt finds `chats` changed.
 */
function besideAttempt(answer: Answer): Answer {
  if (answer.kind === 'accepted' || answer.kind === 'outcome_unknown') return answer;
  return answer.kind === 'failed' ? OUTCOME_UNKNOWN : { ...answer, mayStillPay: true };
}

/**
 * The account is read first: an opening that is no longer in its `opening` is then in the conversations' documents. An
 * opening paid after this read raises `chats`, so the debit detects it.
 */
async function readChatState(db: Db, account: AccountId, orders: readonly ChatOrder[]): Promise<ChatState> {
  const projection = { ...PAYER, chats: 1, opening: 1, prices: 1, conversationMessages: 1 };
  const before = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection });
  const keys = orders.map(({ to }) => conversationKey(account, to));
  return { account: before, conversations: await readCustomers(db, keys) };
}
