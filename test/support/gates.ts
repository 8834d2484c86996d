import type { Db } from 'mongodb';
import { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';

/** Gates without promotional hours: they hold only what the store says. */
export function openGates(db: Db, clock: Clock): ClaimGates {
  return new ClaimGates({ db, clock, hours: { fromMinute: 0, untilMinute: 0 } });
}
