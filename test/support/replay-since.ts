import type { Db } from 'mongodb';
import { type DeliveryId, replayPage } from '../../shared/events/webhooks/delivery.ts';

/** Posts again everything that was lost, page by page. Returns the number. */
export async function replaySince(db: Db, lost: Parameters<typeof replayPage>[1], now: Date): Promise<number> {
  let replayed = 0;
  for (let before: DeliveryId | undefined; ; ) {
    const page = await replayPage(db, lost, before, now);
    replayed += page.replayed;
    if (page.next === undefined) return replayed;
    before = page.next;
  }
}
