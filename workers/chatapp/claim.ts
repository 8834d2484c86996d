import type { Collection, Db } from 'mongodb';
import { providersOf } from '../../shared/carriers/providers/store.ts';
import { type Change, entryAt } from '../../shared/messages/document/change.ts';
import type { BusinessNumber, ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { mayHaveLeft, NOT_REFUNDED, UNCONFIRMED } from '../../shared/messages/document/copies.ts';
import type { Claim } from '../../shared/messages/document/message.ts';
import { takeQueued } from '../../shared/messages/queue/queue-store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, type MessageId, newId } from '../../shared/platform/runtime/ids.ts';
import type { HeldPartition } from './held-partition.ts';
import type { SendKind } from './send-health.ts';

export interface ChatClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly account: AccountId;
  /** The account's number that the messages leave from. */
  readonly number: BusinessNumber;
  /** Lease of the account's partition, and its epoch. Every claim stores both. */
  readonly lease: string;
  readonly epoch: number;
}

const QUEUE = { channel: 'chatapp', state: 'queued' } as const;
const IN_ORDER = { account: 1, from: 1, _id: 1 } as const;

/**
 * Takes queued messages of one number of an account: they change from queued to submitting. Only the holder of the partition claims, so there
 * is no race.
 */
export class ChatClaimer {
  readonly #options: ChatClaimerOptions;
  readonly #messages: Collection<ChatMessageDocument>;
  /** A claim whose answer was lost; it may have been made. Nobody else looks for the messages that it took. */
  #uncertain: { readonly ids: readonly MessageId[]; readonly claim: Claim } | undefined;

  constructor(options: ChatClaimerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
  }

  /**
   * The oldest queued message of each customer, except the customers in `without`; at most `limit`. With `kind` only of
   * messages of that kind. Leaves expired messages to the maintenance.
   */
  async queued(limit: number, without: readonly string[], kind?: SendKind): Promise<ChatMessageDocument[]> {
    const { account, number, clock } = this.#options;
    const found = await this.#messages
      .find({
        ...QUEUE,
        account,
        from: number,
        validUntil: { $gt: clock.now() },
        ...(without.length === 0 ? {} : { to: { $nin: [...without] } }),
        ...(kind === undefined ? {} : { 'content.kind': kind === 'template' ? kind : { $ne: 'template' } }),
      })
      .sort(IN_ORDER)
      .limit(limit)
      .toArray();
    const first = new Map<string, ChatMessageDocument>();
    for (const message of found) if (!first.has(message.to)) first.set(message.to, message);
    return [...first.values()];
  }

  /** Claims the messages. Returns those that are ours now, as they are after the claim. After a driver's error, call `recover`. */
  async take(messages: readonly ChatMessageDocument[]): Promise<ChatMessageDocument[]> {
    const { lease: carrier, epoch, clock } = this.#options;
    const claim = { id: newId('clm'), carrier, epoch, at: clock.now() };
    this.#uncertain = { ids: messages.map(({ _id }) => _id), claim };
    return this.#take(false);
  }

  /** Number of messages of a claim whose answer from the store is missing. */
  get uncertain(): number {
    return this.#uncertain?.ids.length ?? 0;
  }

  /** Makes the claim whose answer was lost once more. Returns what both attempts took together. */
  recover(): Promise<ChatMessageDocument[]> {
    return this.#take(true);
  }

  async #take(sure: boolean): Promise<ChatMessageDocument[]> {
    if (this.#uncertain === undefined) return [];
    const { ids, claim } = this.#uncertain;
    const taken = await takeQueued<ChatMessageDocument>(this.#options.db, ids, claim, { sure });
    this.#uncertain = undefined;
    return taken;
  }
}

/** Most messages that end together. */
const OTHERS_MAX = 200;

/**
 * The oldest queued messages of an account that are to leave from none of these numbers. Goes from number to number in the queue's
 * index, so that what waits from the account's own is not read: of 50,000 messages that took the embedded store 120 ms.
 */
export async function queuedFromOthers(
  db: Db,
  account: AccountId,
  numbers: readonly BusinessNumber[],
): Promise<readonly ChatMessageDocument[]> {
  const messages = db.collection<ChatMessageDocument>('messages');
  const others: ChatMessageDocument[] = [];
  let from: ChatMessageDocument['from'] | undefined;
  while (others.length < OTHERS_MAX) {
    const behind = { ...QUEUE, account, ...(from !== undefined && { from: { $gt: from } }) };
    const next = await messages.findOne(behind, { sort: IN_ORDER });
    if (next === null) break;
    from = next.from;
    if (numbers.includes(from)) continue;
    const some = messages.find({ ...QUEUE, account, from }).sort(IN_ORDER);
    others.push(...(await some.limit(OTHERS_MAX - others.length).toArray()));
  }
  return others;
}

/** Messages that one read covers, of any number of accounts. */
const PAGE = 32;

/** Queued messages: of these numbers of an account, or, where the read ended before all of them were seen, of any of its numbers. */
export interface AccountWork {
  readonly account: AccountId;
  readonly numbers: ReadonlySet<BusinessNumber> | 'any';
}

/**
 * Finds accounts with queued chat-app messages, after `after` in the order of their ids, by one read of the queue's index.
 * `more`: there may be other accounts after the last one. To skip the backlog of one account, ask again with that account as
 * `after`.
 */
export async function accountsWithWork(
  db: Db,
  after: string,
): Promise<{ readonly accounts: readonly AccountWork[]; readonly more: boolean }> {
  const found = await db
    .collection<Pick<ChatMessageDocument, '_id' | 'account' | 'from'>>('messages')
    .find({ ...QUEUE, account: { $gt: after } } as object, { projection: { account: 1, from: 1 } }) // '' is before every id
    .sort(IN_ORDER)
    .limit(PAGE)
    .toArray();
  const numbers = new Map<AccountId, Set<BusinessNumber>>();
  for (const { account, from } of found) numbers.set(account, (numbers.get(account) ?? new Set()).add(from));
  const more = found.length === PAGE;
  const last = found.at(-1)?.account;
  return {
    accounts: [...numbers].map(([account, seen]) => ({ account, numbers: more && account === last ? 'any' : seen })),
    more,
  };
}

/**
 * Ends what waits to leave from numbers that the account has no more: nothing would send it. It was never claimed, so it is refunded
 * where no earlier copy may have left. `known`: the account's numbers as they were read last; they are read again before anything is
 * refused, because one of them may be new. Returns how many messages ended. More may wait.
 */
export async function refuseRemoved(
  db: Db,
  clock: Clock,
  partition: Pick<HeldPartition, 'unknowns'>,
  account: AccountId,
  known: readonly BusinessNumber[],
): Promise<number> {
  if ((await queuedFromOthers(db, account, known)).length === 0) return 0;
  const own = await providersOf(db, [account]);
  const stray = await queuedFromOthers(
    db,
    account,
    own.map(({ _id }) => _id),
  );
  const now = clock.now();
  const settled = await partition.unknowns.settle(
    stray.map((message) => ({ message, decide: (stored: ChatMessageDocument) => removed(stored, now) })),
  );
  return settled.filter((message) => message !== undefined).length;
}

/** Undefined when it does not wait any more. */
function removed(message: ChatMessageDocument, now: Date): Change | undefined {
  if (message.state !== 'queued') return undefined;
  const mayHave = mayHaveLeft(message);
  const state = mayHave ? 'failed' : 'rejected';
  const reason = `The account's number ${message.from} was removed before the message could leave.`;
  return {
    state,
    set: {
      errorCode: mayHave ? UNCONFIRMED : 'number_removed',
      errorReason: mayHave ? `${reason} ${NOT_REFUNDED}` : reason,
    },
    unset: ['due'],
    entries: [entryAt(state, now, message.history)],
  };
}
