import { expect } from 'chai';
import type { ScheduleDocument } from '../../../../shared/messages/schedule.ts';
import { pruneOld } from '../../../../workers/maintenance/prune.ts';
import { pruneWorld } from '../../../support/prune-world.ts';

describe('maintenance: what ended long ago is removed, schedules', () => {
  const world = pruneWorld();
  const { daysAgo, deps, idsIn, schedule } = world;

  it('schedules go long after their time; what waits for it, or for a refund, stays', async () => {
    const stay = [
      schedule(100, { state: 'scheduled', due: daysAgo(100) }),
      schedule(100, { state: 'cancelled', due: daysAgo(100) }),
      schedule(100, { at: daysAgo(59) }),
      schedule(100, { releasedAt: daysAgo(1) }),
      schedule(59),
    ];
    const gone = [schedule(61), schedule(100, { state: 'cancelled' })];
    await world.store.db.collection<ScheduleDocument>('schedules').insertMany([...stay, ...gone]);

    await pruneOld(deps());

    expect(await idsIn('schedules')).to.have.members(stay.map(({ _id }) => _id));
  });
});
