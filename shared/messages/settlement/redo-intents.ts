import type { Db } from 'mongodb';
import type { Announcer } from '../../events/webhooks/announce.ts';
import { findEachCommitted } from '../../platform/mongo/find-one.ts';
import type { AnyMessage } from '../document/any-message.ts';
import { followUp } from './follow-up.ts';
import { fenceIntents, readIntents } from './intents.ts';

/**
 * An intent stays until its stream settles the next group, so an old one may name messages that were announced weeks ago. Their
 * deliveries may have been pruned by now (workers/maintenance/prune.ts); announcing them again would post them
 * again. The shortest retention of deliveries (`HARKARA_DELIVERY_DAYS`) is a day longer than this.
 */
const ANNOUNCED_WITHIN_MS = 20 * 86_400_000;

/** Events before this time are not announced again. */
export function oldestUnannounced(now: Date): Date {
  return new Date(now.getTime() - ANNOUNCED_WITHIN_MS);
}

/**
 * The first duty of every new lease holder. It fences off an earlier holder that may only be frozen. Then it repeats the
 * follow-up of groups that may be unfinished: events since `since` (`oldestUnannounced`), refunds of any age.
 */
export async function redoIntents(
  db: Db,
  announcer: Announcer,
  lease: string,
  epoch: number,
  since = new Date(0),
): Promise<void> {
  await fenceIntents(db, { lease, epoch });
  const ids = await readIntents(db, lease);
  if (ids.length === 0) return;
  // Credits are given back by what these documents say, and no failover may undo that: so they are read from a majority.
  const messages = await findEachCommitted(
    db.collection<AnyMessage>('messages'),
    [...new Set(ids)].map((_id) => ({ _id })),
  );
  const changes = messages.flatMap((message) => message.history.map((entry) => ({ message, entry })));
  await followUp({ db, announcer }, { fresh: [], again: changes.filter(({ entry }) => entry.at >= since) }, messages);
}
