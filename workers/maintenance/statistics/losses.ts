import type { Db } from 'mongodb';
import { priceListCollection } from '../../../shared/carriers/providers/price-list.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { type Amount, amountOf, type LossDocument, lossCollection } from '../../../shared/messages/statistics.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import type { AccountId, ConversationId } from '../../../shared/platform/runtime/ids.ts';
import type { Counted, CreditValues } from './counted.ts';

/** Conversations of one account, and of all, that are looked at when an hour is counted: those with the most billed messages in it. */
const LOOKED = { account: 200, all: 2_000 };
/** Conversations of an account that are told apart while counting. */
const TOLD_APART = 10 * LOOKED.account;
/** Conversations of one read, and the most messages of it. */
const SLICE = 50;
const MESSAGES_MAX = 10_000;
const KEPT_MS = 31 * 86_400_000;

/**
 * What the operator earns with one credit, of accounts whose provider has a price list that says so, or that have a price per credit
 * in the currency of the list.
 */
export async function readCreditValues(db: Db): Promise<CreditValues> {
  const lists = await priceListCollection(db)
    .find({}, { projection: { currency: 1, creditValue: 1 } })
    .toArray();
  const silent = lists.filter(({ creditValue }) => creditValue === undefined).map(({ _id }) => _id);
  const accounts = await db
    .collection<AccountDocument>('accounts')
    .find({ _id: { $in: silent }, creditPrice: { $exists: true } }, { projection: { creditPrice: 1, currency: 1 } })
    .toArray();
  const own = new Map(accounts.map((account) => [account._id, account]));
  return new Map(
    lists.flatMap(({ _id, currency, creditValue }) => {
      const account = own.get(_id);
      const value = creditValue ?? (account?.currency === currency ? account.creditPrice : undefined);
      return value === undefined ? [] : [[_id, amountOf(`${value} ${currency}`)] as const];
    }),
  );
}

/** Finds the conversations that cost more than they earned, among those whose messages are counted. */
export class Losses {
  readonly #values: CreditValues;
  readonly #billed = new Map<AccountId, Map<ConversationId, number>>();

  constructor(values: CreditValues) {
    this.#values = values;
  }

  add({ account, conversation, cost }: Counted): void {
    if (conversation === undefined || cost === undefined || !this.#values.has(account)) return;
    const counts = this.#billed.get(account) ?? new Map<ConversationId, number>();
    this.#billed.set(account, counts);
    const known = counts.get(conversation);
    if (known !== undefined || counts.size < TOLD_APART) counts.set(conversation, (known ?? 0) + 1);
  }

  /** Reads these conversations whole, with a pause before each read. `givenBack`: those of these openers that were refunded. */
  async store(
    db: Db,
    now: Date,
    pause: () => Promise<void>,
    givenBack: (openers: readonly Counted[]) => Promise<ReadonlySet<string | undefined>>,
  ): Promise<void> {
    const looked = this.#most();
    for (let first = 0; first < looked.length; first += SLICE) {
      const ids = looked.slice(first, first + SLICE);
      await pause();
      const members = await readMembers(db, ids);
      const refunded = await givenBack(members.filter(({ opened }) => opened !== undefined));
      const losses = ids.flatMap((id) => this.#lossOf(id, members, refunded, now) ?? []);
      const lost = new Set(losses.map(({ _id }) => _id));
      await lossCollection(db).bulkWrite(
        [
          ...losses.map((loss) => ({
            replaceOne: { filter: { _id: loss._id }, replacement: loss, upsert: true },
          })),
          { deleteMany: { filter: { _id: { $in: ids.filter((id) => !lost.has(id)) } } } },
        ],
        { ordered: false },
      );
    }
  }

  #most(): readonly ConversationId[] {
    const byCount = (one: [unknown, number], other: [unknown, number]) => other[1] - one[1];
    return [...this.#billed.values()]
      .flatMap((counts) => [...counts].sort(byCount).slice(0, LOOKED.account))
      .sort(byCount)
      .slice(0, LOOKED.all)
      .map(([id]) => id);
  }

  #lossOf(
    id: ConversationId,
    messages: readonly Member[],
    refunded: ReadonlySet<string | undefined>,
    now: Date,
  ): LossDocument | undefined {
    const members = messages.filter(({ conversation }) => conversation === id);
    const opener = members.find(({ opened }) => opened !== undefined);
    const value = opener && this.#values.get(opener.account);
    if (opener?.opened === undefined || value === undefined) return undefined;
    const costs = members.flatMap(({ cost }) => (cost === undefined ? [] : [amountOf(cost)]));
    const cost = sumIn(value.currency, costs);
    const credits = refunded.has(id) ? 0 : opener.opened.credits;
    const earned = credits * value.millionths;
    if (cost <= earned) return undefined;
    return {
      ...{ _id: id, account: opener.account, opener: opener._id, messages: costs.length, credits },
      ...{ currency: value.currency, earned, cost, countedAt: now, expiresAt: new Date(now.getTime() + KEPT_MS) },
    };
  }
}

type Member = Pick<
  ChatMessageDocument,
  '_id' | 'account' | 'conversation' | 'opened' | 'cost' | 'state' | 'parts' | 'earlier'
> &
  Counted;

async function readMembers(db: Db, ids: readonly ConversationId[]): Promise<readonly Member[]> {
  return db
    .collection<ChatMessageDocument>('messages')
    .find<Member>(
      { conversation: { $in: [...ids] } },
      {
        projection: { account: 1, conversation: 1, opened: 1, cost: 1, state: 1, 'parts.state': 1, 'earlier.parts': 1 },
        hint: { conversation: 1, _id: 1 },
        limit: MESSAGES_MAX,
      },
    )
    .toArray();
}

/** Costs in another currency are of another list: they say nothing here. */
function sumIn(currency: string, amounts: readonly Amount[]): number {
  return amounts.reduce((sum, one) => sum + (one.currency === currency ? one.millionths : 0), 0);
}
