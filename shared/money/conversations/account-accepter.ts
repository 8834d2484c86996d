import { storeTrouble } from '../../platform/mongo/errors.ts';
import { Grouper } from '../../platform/runtime/grouper.ts';
import type { AccountId, GroupId } from '../../platform/runtime/ids.ts';
import { errorFields } from '../../platform/runtime/log.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { type ChatAcceptOutcome, OUTCOME_UNKNOWN } from './accept-outcome.ts';
import type { Answer, Answered, Arrival } from './arrival.ts';
import { type ChatPrices, decideChats } from './decide.ts';
import { type IncludeDeps, include } from './include.ts';
import { endAttempts } from './opening-store.ts';
import { type OpenersToPay, type PayDeps, payForOpeners } from './pay.ts';
import { givePlacesBack, takePlaces } from './places.ts';
import { type PlannedInclusion, planOf } from './plan.ts';
import { readChatState } from './read-state.ts';

/** Most messages of one group. With the longest texts and parameters they add about a megabyte to the account document. */
const GROUP_MAX = 50;
/** After this many lost races in a row we give up. Each loss means that another conversation of this account was opened. */
const TRIES_MAX = 200;

export interface ChatAccepterDeps extends IncludeDeps, PayDeps {
  readonly prices: ChatPrices;
}

/**
 * Accepts the messages of one account in this process, in groups: while one group is in flight, the next one gathers. Each group
 * is read, decided and stored. If another opening came first, the affected messages are decided again, until every message has an
 * answer.
 */
export class AccountAccepter {
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

  /**
   * True when nothing waits and nothing is in flight. The accepter may then be dropped: the maintenance clears its last pending
   * changes.
   */
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

  /**
   * Tries to answer each arrival. Those that have no answer afterwards must be decided again: either another opening came first,
   * or the message that opens their conversation must be paid for first.
   */
  async #takeOnce(
    arrivals: readonly Arrival[],
    answers: Map<Arrival, Answer>,
    mayStillPay: Set<Arrival>,
  ): Promise<void> {
    const { db, clock, prices } = this.#deps;
    const state = await readChatState(db, this.#account, arrivals);
    const plan = planOf(arrivals, decideChats(arrivals, state, clock.now(), prices));
    const returning = plan.refused.filter(([{ again }]) => again && state.account !== null);
    for (const one of plan.refused) if (!returning.includes(one)) answers.set(...one);
    const { placed, refused } = await takePlaces(
      ...([db, this.#account, plan.includedMessages, state.account?.conversationMessages] as const),
    );
    for (const one of refused) answers.set(...one);
    const results = await Promise.allSettled([
      this.#include(placed, state.account?.conversationMessages !== undefined),
      this.#open({ chats: state.account?.chats, openers: plan.openers, mayStillPay }),
    ]);
    // Results that were stored and paid come first, so that a failure of another part does not hide them.
    for (const result of results) {
      if (result.status === 'fulfilled') for (const [arrival, answer] of result.value) answers.set(arrival, answer);
    }
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    // The openers have changed `chats`, so these refusals are out of date: they are decided again.
    if (returning.length === 0 || plan.openers.length > 0) return;
    await this.#refuseForGood(returning, state.account?.chats, answers, mayStillPay);
  }

  /**
   * Refuses messages that return (`returningArrival`). The refusal is the end of them, and they have no `payBy`. So every earlier
   * attempt whose answer was lost is ended first, in whatever process it was: it must not pay afterwards. If that fails because
   * another conversation was opened, they get no answer here and are decided again.
   */
  async #refuseForGood(
    refused: readonly Answered[],
    chats: number | undefined,
    answers: Map<Arrival, Answer>,
    mayStillPay: Set<Arrival>,
  ): Promise<void> {
    const accounts = this.#deps.db.collection<AccountDocument>('accounts');
    if (!(await endAttempts(accounts, this.#account, chats))) return;
    for (const [arrival, answer] of refused) {
      answers.set(arrival, answer);
      mayStillPay.delete(arrival);
    }
  }

  /** `isCounted`: places were taken for them. */
  async #include(placed: readonly PlannedInclusion[], isCounted: boolean): Promise<readonly Answered[]> {
    const answered = await include(this.#deps, this.#account, placed);
    if (!isCounted) return answered;
    const notStored = new Set(
      answered.flatMap(([arrival, { kind }]) => (kind === 'accepted' || kind === 'outcome_unknown' ? [] : [arrival])),
    );
    const { db, log } = this.#deps;
    // What cannot be given back stays counted.
    await givePlacesBack(
      db,
      placed.filter(({ arrival }) => notStored.has(arrival)),
    ).catch((error: unknown) => log.warn('places_not_given_back', { account: this.#account, ...errorFields(error) }));
    return answered;
  }

  async #open(asked: Omit<OpenersToPay, 'account' | 'done'>): Promise<readonly Answered[]> {
    const { answers, done } = await payForOpeners(this.#deps, { ...asked, account: this.#account, done: this.#done });
    this.#done = done;
    return answers;
  }
}

/**
 * The answer to an arrival for which an earlier attempt, whose answer was lost, may still pay. If it was accepted since, another
 * conversation was opened, so that attempt finds `chats` changed.
 */
function besideAttempt(answer: Answer): Answer {
  if (answer.kind === 'accepted' || answer.kind === 'outcome_unknown') return answer;
  return answer.kind === 'failed' ? OUTCOME_UNKNOWN : { ...answer, mayStillPay: true };
}
