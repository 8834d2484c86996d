import type { Collection, Db, Filter } from 'mongodb';
import { type AccountId, idTime, type MessageId } from '../../platform/runtime/ids.ts';
import type { AnyMessage } from '../document/any-message.ts';
import { CHAT_LANE, CHAT_PATH } from '../document/chat-message.ts';
import { MIXED, type QueueDocument, unpackLines } from './queue-document.ts';
import { queueOf } from './queue-store.ts';

/** By `MessageDocument.lane`, the most urgent first. */
export const LANES = ['otp', 'transactional', 'low', 'promotional', 'promotional under DLT'] as const;
/** More is shown as "at least". */
const COUNTED_MAX = 10_000;
/** Accounts of a lane that are counted, and in which the oldest message is looked for. */
const ACCOUNTS_MAX = 200;
const PATHS_MAX = 50;
/** Another index has the same key, and all messages of the account. */
const CHAT_INDEX = 'chat_queue';
const SLICE = 200;

export interface WaitingLane {
  readonly path: string;
  readonly lane: (typeof LANES)[number];
  readonly waiting: number;
  /** True: at least `waiting`. */
  readonly more: boolean;
  readonly accounts: number;
  readonly oldest: { readonly at: Date; readonly account: AccountId };
}

/**
 * What waits to be claimed, by path and lane. Jumps through the claim's index (`open`) from path to path, lane to lane
 * and account to account; reads only mixed documents. So it costs a few reads per account with waiting messages,
 * however many. A line counts until a worker has looked at it, also when its message was cancelled or is over.
 */
export async function readQueues(db: Db): Promise<readonly WaitingLane[]> {
  const queue = queueOf(db);
  const found: WaitingLane[] = [];
  for (const path of await pathsOf(queue)) {
    for (const [lane, name] of LANES.entries()) {
      const lines = { open: true, path, lane } as const;
      const few = await mixedLines(queue, lines);
      found.push(...(await laneOf(queue, 'open', lines, few, path, name, () => countLines(queue, lines))));
    }
  }
  // Chat-app messages are never lines.
  const messages = db.collection<AnyMessage>('messages');
  const chats = { channel: 'chatapp', state: 'queued' } as const;
  const count = () => messages.countDocuments(chats, { limit: COUNTED_MAX, hint: CHAT_INDEX });
  found.push(...(await laneOf(messages, CHAT_INDEX, chats, [], CHAT_PATH, LANES[CHAT_LANE], count)));
  return found.sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
}

async function pathsOf(queue: Collection<QueueDocument>): Promise<readonly string[]> {
  const paths: string[] = [];
  while (paths.length < PATHS_MAX) {
    const after = paths.at(-1);
    const [next] = await queue
      .find({ open: true, ...(after === undefined ? {} : { path: { $gt: after } }) }, { projection: { path: 1 } })
      .sort({ path: 1, lane: 1, account: 1, _id: 1 })
      .limit(1)
      .toArray();
    if (next === undefined) break;
    paths.push(next.path);
  }
  return paths;
}

interface Line {
  readonly _id: MessageId;
  readonly account: AccountId;
}

/** No line waits in a mixed document for longer than some seconds. */
async function mixedLines(queue: Collection<QueueDocument>, which: Filter<QueueDocument>): Promise<readonly Line[]> {
  const mixed = await queue
    .find({ ...which, account: MIXED })
    .sort({ _id: 1 })
    .limit(SLICE)
    .toArray();
  return mixed.flatMap(({ lines, next }) => unpackLines(lines).slice(next));
}

/** One, or none when nothing waits there. `few`: lines of mixed documents. */
async function laneOf<T extends QueueDocument | AnyMessage>(
  collection: Collection<T>,
  index: string,
  waits: Filter<T>,
  few: readonly Line[],
  path: string,
  lane: WaitingLane['lane'],
  count: () => Promise<number>,
): Promise<readonly WaitingLane[]> {
  const accounts = new Set<AccountId>();
  let oldest: WaitingLane['oldest'] | undefined;
  const look = (account: AccountId, id: MessageId): void => {
    accounts.add(account);
    const at = idTime(id);
    if (oldest === undefined || at < oldest.at) oldest = { at, account };
  };
  for (const { account, _id } of few) look(account, _id);
  for (let behind: string = MIXED, reads = 0; reads < ACCOUNTS_MAX; reads++) {
    const [next] = await collection
      .find({ ...waits, account: { $gt: behind } } as Filter<T>, { projection: { account: 1, first: 1 } })
      .sort({ account: 1, _id: 1 })
      .hint(index)
      .limit(1)
      .toArray();
    if (next === undefined || next.account === MIXED) break;
    behind = next.account;
    look(next.account, 'first' in next ? next.first : (next._id as MessageId)); // a message's or a queue document's
  }
  if (oldest === undefined) return [];
  const waiting = await count();
  return [{ path, lane, waiting, more: waiting === COUNTED_MAX, accounts: accounts.size, oldest }];
}

async function countLines(queue: Collection<QueueDocument>, which: Filter<QueueDocument>): Promise<number> {
  let lines = 0;
  for await (const { n, next } of queue.find(which, { projection: { n: 1, next: 1 }, batchSize: SLICE })) {
    lines += n - next;
    if (lines >= COUNTED_MAX) return COUNTED_MAX;
  }
  return lines;
}
