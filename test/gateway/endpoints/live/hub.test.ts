import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { LiveHub } from '../../../../gateway/endpoints/live/hub.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('what streams tell', () => {
  it('is read more seldom when a read takes long: twenty times as long lies between two', async () => {
    const hub = new LiveHub({ clock: systemClock, log: silentLog });
    const begins: number[] = [];
    const ends: number[] = [];
    const read = async () => {
      begins.push(systemClock.monotonicMs());
      await wait(150);
      ends.push(systemClock.monotonicMs());
      return {};
    };

    const leave = hub.watch({ name: 'slow', key: 'slow', read }, () => {});
    await eventually(() => begins.length === 2, 'it is read again');
    leave();

    expect((begins[1] ?? 0) - (ends[0] ?? 0)).to.be.at.least(20 * 140);
  });
});
