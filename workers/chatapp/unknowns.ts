import type { Db } from 'mongodb';
import { PROVIDER_DEFAULTS, type ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import { isBehind } from '../../shared/messages/chat-inbox.ts';
import type { BusinessNumber, ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { CLAIM_HOLDER } from '../../shared/messages/document/message.ts';
import { decideUnknowns, takeOverUnknowns } from '../../shared/messages/settlement/unknowns.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { HeldPartition } from './held-partition.ts';

type Policy = ProviderDocument['unknownPolicy'];

/** The most unknown sends that one look reads to see which numbers they left from. */
const LOOK_MAX = 500;
/** An inbox is read several times a second. What has waited for this long is a backlog. */
const BACKLOG_MS = 2_000;

/** Whether any message of these partitions is claimed and not settled. Mostly none is, and this one read says so for all of them. */
export async function isAnyClaimed(db: Db, partitions: readonly HeldPartition[]): Promise<boolean> {
  const claimed = await db
    .collection<ChatMessageDocument>('messages')
    .findOne(
      { [CLAIM_HOLDER]: { $in: partitions.map(({ lease }) => lease) }, state: 'submitting' },
      { projection: { _id: 1 } },
    );
  return claimed !== null;
}

/**
 * Applies each number's policy to sends that have waited long enough for their answer. Also finds claims that a
 * frozen earlier holder stored after its partition was taken over. Returns how many sends each policy decided, and
 * how many such claims were found. Throws when the store fails.
 *
 * Nothing is sent again while the account's inbox has a backlog: a status in it may say that it was delivered. Should
 * an inbox never be worked off, its messages wait until their validity is over. They cannot be sent twice then, so the
 * policy decides, and they end as unconfirmed.
 */
export async function decideUnknownsOf(
  db: Db,
  clock: Clock,
  partition: HeldPartition,
  providerOf: (number: BusinessNumber) => ProviderDocument | undefined,
): Promise<{ readonly decided: ReadonlyMap<Policy, number>; readonly takenOver: number }> {
  const takenOver = await takeOverUnknowns(db, partition.lease, partition.epoch);
  const unknown = await db
    .collection<ChatMessageDocument>('messages')
    .find(
      { [CLAIM_HOLDER]: partition.lease, state: 'submitting', outcome: 'unknown' },
      { projection: { account: 1, from: 1, _id: 0 } },
    )
    .limit(LOOK_MAX)
    .toArray();
  const decided = new Map<Policy, number>();
  const senders = new Map(unknown.map(({ account, from }) => [`${account} ${from}`, { account, from }]));
  for (const sender of senders.values()) {
    const { account, from } = sender;
    const { unknownPolicy, unknownWaitMs } = providerOf(from) ?? PROVIDER_DEFAULTS;
    const holder = { _id: partition.lease, unknownPolicy, unknownWaitMs };
    const { unknowns: settler, messageLog } = partition;
    const backlog = new Date(clock.now().getTime() - BACKLOG_MS);
    const overOnly = unknownPolicy === 'resend' && (await isBehind(db, account, backlog));
    const { length: count } = await decideUnknowns({ db, clock, settler, holder, sender, overOnly, messageLog });
    if (count > 0) decided.set(unknownPolicy, (decided.get(unknownPolicy) ?? 0) + count);
  }
  return { decided, takenOver };
}
