import type { Db } from 'mongodb';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import type { Settler } from '../../shared/messages/settlement/settle.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { decideDue } from './decide-due.ts';

/**
 * The most messages in one group. A large backlog, for example after a carrier was down for two days, is worked off in several
 * groups.
 */
const GROUP_MAX = 200;

/**
 * Settles one group of messages whose `due` has come, the longest overdue first. Returns how many there were. If
 * nothing is due, still finishes the events and refunds of earlier groups.
 */
export async function settleDue(db: Db, settler: Settler, clock: Clock): Promise<number> {
  await settler.finishFollowUps();
  const found = await db
    .collection<AnyMessage>('messages')
    .find({ due: { $lte: clock.now() } })
    .sort({ due: 1 })
    .limit(GROUP_MAX)
    .toArray();
  if (found.length === 0) return 0;
  await settler.settle(
    found.map((message) => ({
      message,
      decide: (current) => (isDue(current, clock.now()) ? decideDue(current, clock.now()) : undefined),
    })),
  );
  return found.length;
}

/** Another process may have settled it since it was read. */
function isDue(message: AnyMessage, now: Date): boolean {
  return message.due !== undefined && message.due <= now;
}
