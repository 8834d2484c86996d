import { expect } from 'chai';
import { addRoute } from '../../../shared/carriers/routing/store.ts';
import type { Daytime } from '../../../shared/messages/document/daytime.ts';
import type { MessageDraft } from '../../../shared/messages/document/draft.ts';
import { countRetrying } from '../../../shared/messages/settlement/unknowns.ts';
import { setAccountLimits } from '../../../shared/money/accounts/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { CARRIER, openWorld } from '../../support/smpp-world.ts';
import { use } from '../../support/use.ts';

const HOUR_MS = 3_600_000;
const INDIA = '919876543219';
const DUBAI = '971501234569';

describe("smpp worker: a recipient's daytime", () => {
  const world = use(openWorld);

  /** Begins in India at this time, and lasts an hour. */
  const hoursAt = (at: Date): Daytime => {
    const inIndia = (ms: number) => new Date(ms + 5.5 * HOUR_MS).toISOString().slice(11, 16);
    return { from: inIndia(at.getTime()), to: inIndia(at.getTime() + HOUR_MS), countries: ['IN'] };
  };
  const begin = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 3 * HOUR_MS);
  const waits = async (draft: Partial<MessageDraft>) => world.reaches(await world.send(draft), 'waiting');

  it('of the account: what may not leave waits for it, what may leaves', async () => {
    await setAccountLimits(world.db, world.account, { daytime: hoursAt(begin) });
    // The worker knows of it within two seconds. Until then such messages arrive.
    await eventually(async () => {
      const id = await world.send({ to: INDIA });
      const state = await eventually(async () => {
        const { state } = await world.message(id);
        return state === 'waiting' || state === 'delivered' ? state : undefined;
      }, 'it waits or arrives');
      return state === 'waiting';
    }, 'the daytime is known');

    const held = await waits({ to: INDIA, lane: 2 });
    const urgent = await world.send({ to: INDIA, lane: 0 });
    const abroad = await world.send({ to: DUBAI });
    const soonOver = await waits({ to: INDIA, validUntil: new Date(Date.now() + HOUR_MS) });
    await world.allReach([urgent, abroad], 'delivered');

    expect(held).to.deep.include({ due: begin, tries: 0 });
    expect(held).to.not.have.any.keys('claim', 'parts', 'outcome');
    expect(soonOver.due).to.deep.equal(soonOver.validUntil);
    expect(await countRetrying(world.db, CARRIER, 10)).to.deep.equal({ count: 0 });
  });

  it('of the route, as it is when the message is claimed', async () => {
    await setAccountLimits(world.db, world.account, {});
    const route = { match: {}, groups: [[{ carrier: CARRIER, weight: 1 }]], waitSeconds: 30, order: 0 };
    await addRoute(world.db, systemClock, { _id: 'day', ...route, daytime: hoursAt(begin) });
    const routed = { path: `@30:${CARRIER}`, routed: { route: 'day' } };
    await eventually(async () => {
      const id = await world.send({ to: DUBAI, ...routed });
      await world.reaches(id, 'delivered');
      return true;
    }, 'the route is known');

    expect(await waits({ to: INDIA, ...routed })).to.deep.include({ due: begin });
  });
});
