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
  readonly number: BusinessNumber;
  readonly lease: string;
  readonly epoch: number;
}

const QUEUE = { channel: 'chatapp', state: 'queued' } as const;
const IN_ORDER = { account: 1, from: 1, _id: 1 } as const;

/** Takes queued messages of one number of an account (queued → submitting). Only the partition's holder claims. */
export class ChatClaimer {
  readonly #options: ChatClaimerOptions;
  readonly #messages: Collection<ChatMessageDocument>;
  /** A claim whose answer was lost; it may have been made. Nobody else looks for the messages that it took. */
  #uncertain: { readonly ids: readonly MessageId[]; readonly claim: Claim } | undefined;

  constructor(options: ChatClaimerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
  }

  /** Each customer's oldest queued message, without those in `without`. Leaves expired ones to the maintenance. */
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

  /** Returns those that are ours now, as they are after the claim. After a driver's error, call `recover`. */
  async take(messages: readonly ChatMessageDocument[]): Promise<ChatMessageDocument[]> {
    const { lease: carrier, epoch, clock } = this.#options;
    const claim = { id: newId('clm'), carrier, epoch, at: clock.now() };
    this.#uncertain = { ids: messages.map(({ _id }) => _id), claim };
    return this.#take(false);
  }

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

const OTHERS_MAX = 200;

/** The oldest queued messages not from `numbers`, number by number in the index: those of `numbers` are not read. */
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

const PAGE = 32;

/** Queued messages of these numbers of an account, or of `any`: then the read ended before it saw all. */
export interface AccountWork {
  readonly account: AccountId;
  readonly numbers: ReadonlySet<BusinessNumber> | 'any';
}

/** Finds accounts with queued messages behind `after`, by one index read. `more`: there may be others behind. */
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
 * Ends messages that wait to leave from numbers that the account no longer has: nothing would send them. They were
 * never claimed, so they are refunded unless an earlier copy may have left. `known`: the account's numbers as last
 * read; they are read again before a refund, because one may be new. Returns how many messages ended. More may wait.
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
