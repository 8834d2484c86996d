import type { Db } from 'mongodb';
import type { VerificationEnd } from '../../shared/events/verification-end.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import { type VerificationDocument, verificationsOf } from '../../shared/messages/document/verification.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { announceUnannounced } from './announce.ts';

/** Verifications that expire in one turn. */
const GROUP = 200;

/**
 * Ends the verifications whose time is over, and announces those that ended: a check that decides adds its end to `unannounced` of the
 * same document. Announced twice, it is one delivery. Returns how many it was about.
 */
export async function announceVerifications({
  db,
  clock,
  announcer,
}: {
  readonly db: Db;
  readonly clock: Clock;
  readonly announcer: Announcer;
}): Promise<number> {
  const expired = await expire(db, clock.now());
  const told = await announceUnannounced<VerificationDocument>(db, 'verifications', (found) =>
    announcer.announce(
      found.flatMap((verification) =>
        (verification.unannounced ?? []).map(
          ({ event, at }): VerificationEnd => ({ verification, outcome: event, at }),
        ),
      ),
    ),
  );
  return expired + told;
}

/** A check that was just before is not undone: its verification is pending no more. */
async function expire(db: Db, now: Date): Promise<number> {
  const over = await verificationsOf(db)
    .find({ state: 'pending', expiresAt: { $lte: now } }, { projection: { expiresAt: 1 } })
    .sort({ expiresAt: 1 })
    .limit(GROUP)
    .toArray();
  if (over.length === 0) return 0;
  await verificationsOf(db).bulkWrite(
    over.map(({ _id, expiresAt }) => ({
      updateOne: {
        filter: { _id, state: 'pending' },
        update: {
          $set: { state: 'expired' },
          $unset: { codeHash: '' },
          $push: { unannounced: { event: 'expired', at: expiresAt } },
        },
      },
    })),
    { ordered: false },
  );
  return over.length;
}
