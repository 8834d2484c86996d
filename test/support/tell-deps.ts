import type { Db } from 'mongodb';
import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { type Clock, systemClock } from '../../shared/platform/runtime/clock.ts';
import { TEST_BOX } from './chatapp.ts';
import { silentLog } from './silent-log.ts';

/** What maintenance needs for announcements. */
export function tellDeps(db: Db, clock: Clock = systemClock) {
  return { db, clock, log: silentLog, box: TEST_BOX, announcer: createAnnouncer({ db, clock }) };
}
