import type { Collection, Db } from 'mongodb';
import type { AnyMessage } from '../messages/any-message.ts';
import { type AccountId, idTime } from '../runtime/ids.ts';

/** The names of the lanes of `MessageDocument.lane`, the most urgent first. */
const LANES = ['otp', 'transactional', 'low', 'promotional', 'promotional under DLT'] as const;
/** Messages are counted up to this number: more is shown as "at least". */
const COUNTED_MAX = 10_000;
/** Most accounts of a lane that are counted, and in which the oldest message is looked for. */
const ACCOUNTS_MAX = 200;
const PATHS_MAX = 50;

/** What waits in one lane of a path. */
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
 * What waits to be claimed, by path and lane. Jumps through the claim's own index (`queue`) from path to path, lane to lane and
 * account to account. So it costs a few reads for each account that has something waiting, however many messages that is.
 */
export async function readQueues(db: Db): Promise<readonly WaitingLane[]> {
  const messages: Collection<AnyMessage> = db.collection('messages');
  const found: WaitingLane[] = [];
  for (const path of await pathsOf(messages)) {
    for (const [lane, name] of LANES.entries()) {
      const one = await laneOf(messages, path, lane);
      if (one !== undefined) found.push({ path, lane: name, ...one });
    }
  }
  return found;
}

async function pathsOf(messages: Collection<AnyMessage>): Promise<readonly string[]> {
  const paths: string[] = [];
  while (paths.length < PATHS_MAX) {
    const after = paths.at(-1);
    const [next] = await messages
      .find({ state: 'queued', ...(after === undefined ? {} : { path: { $gt: after } }) }, { projection: { path: 1 } })
      .sort({ path: 1, lane: 1, account: 1, _id: 1 })
      .limit(1)
      .toArray();
    if (next === undefined || !('path' in next)) break;
    paths.push(next.path);
  }
  return paths;
}

async function laneOf(
  messages: Collection<AnyMessage>,
  path: string,
  lane: number,
): Promise<Pick<WaitingLane, 'waiting' | 'more' | 'accounts' | 'oldest'> | undefined> {
  let account: AccountId | undefined;
  let accounts = 0;
  let oldest: WaitingLane['oldest'] | undefined;
  while (accounts < ACCOUNTS_MAX) {
    const [next] = await messages
      .find(
        { state: 'queued', path, lane, ...(account && { account: { $gt: account } }) },
        { projection: { account: 1, _id: 1 } },
      )
      .sort({ account: 1, _id: 1 })
      .limit(1)
      .toArray();
    if (next === undefined) break;
    account = next.account;
    accounts++;
    const at = idTime(next._id);
    if (oldest === undefined || at < oldest.at) oldest = { at, account };
  }
  if (oldest === undefined) return undefined;
  const waiting = await messages.countDocuments({ state: 'queued', path, lane }, { limit: COUNTED_MAX });
  return { waiting, more: waiting === COUNTED_MAX, accounts, oldest };
}
