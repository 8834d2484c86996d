import type { Collection, Db } from 'mongodb';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { updateEach } from '../../../shared/platform/mongo/update-each.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';

/** A customer's message that asks for help. */
export interface HelpRequest {
  readonly _id: MessageId;
  readonly account: AccountId;
  /** The customer. */
  readonly from: string;
  /** The account's number. */
  readonly to: string;
  readonly word: string;
  readonly at: Date;
}

/** At most one answer in five minutes, and five a day, to one word of one customer. So two machines that answer each other stop. */
const PAUSE_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const DAILY_MAX = 5;

/** The newest answers to one word of one customer at one number, oldest first. */
interface HelpDocument {
  readonly _id: string;
  readonly answered: readonly { readonly message: MessageId; readonly at: Date }[];
  readonly expiresAt: Date;
}

/**
 * Which of these requests are to be answered. Asking again gives the same result, because a request that was allowed is in the
 * stored list. One update of one document decides about each request, so several processes may ask at once.
 */
export async function limitHelp(db: Db, requests: readonly HelpRequest[]): Promise<ReadonlySet<MessageId>> {
  if (requests.length === 0) return new Set();
  const ids = [...new Set(requests.map(keyOf))];
  const expiresAt = new Date(Math.max(...requests.map(({ at }) => at.getTime())) + DAY_MS);
  await insertNew(
    db,
    'opt_out_helps',
    ids.map((_id) => ({ _id, answered: [], expiresAt })),
  );
  await updateEach(db, 'opt_out_helps', requests.map(updateOf));
  const collection: Collection<HelpDocument> = db.collection('opt_out_helps');
  const found = await collection.find({ _id: { $in: ids } }).toArray();
  return new Set(found.flatMap(({ answered }) => answered.map(({ message }) => message)));
}

function keyOf({ account, from, to, word }: HelpRequest): string {
  return `${account}:${from}:${to}:${word}`;
}

function updateOf(request: HelpRequest) {
  const { _id: message, at } = request;
  const before = (ms: number): Date => new Date(at.getTime() - ms);
  return {
    filter: {
      _id: keyOf(request),
      'answered.message': { $ne: message },
      $nor: [
        { 'answered.at': { $gt: before(PAUSE_MS) } },
        // The list is full, and its oldest answer is less than a day old.
        { [`answered.${DAILY_MAX - 1}`]: { $exists: true }, 'answered.0.at': { $gt: before(DAY_MS) } },
      ],
    },
    update: {
      $push: { answered: { $each: [{ message, at }], $slice: -DAILY_MAX } },
      $max: { expiresAt: new Date(at.getTime() + DAY_MS) },
    },
  };
}
