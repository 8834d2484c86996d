import { addRoute } from '../../../shared/carriers/routing/store.ts';
import { type MessageDocument, type MessageDraft, queuedMessage } from '../../../shared/messages/document/message.ts';
import type { Daytime } from '../../../shared/messages/document/routing.ts';
import { MIXED, queueDocuments } from '../../../shared/messages/queue/queue-document.ts';
import { insertFirst, queueOf } from '../../../shared/messages/queue/queue-store.ts';
import { countRetrying } from '../../../shared/messages/settlement/unknowns.ts';
import { pauseAccount, setAccountStatus, updateAccount } from '../../../shared/money/accounts/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, type GroupId, newId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { enqueue } from '../../support/queue.ts';
import { CARRIER, openWorld } from '../../support/smpp-world.ts';
import { use } from '../../support/use.ts';

describe('smpp worker: a paused account', () => {
  const world = use(() => openWorld({ carrier: { perSecond: 200 } }));

  const messages = () => world.db.collection<MessageDocument>('messages');
  const put = async (account: AccountId, count: number): Promise<MessageDocument[]> => {
    const made = Array.from({ length: count }, () =>
      queuedMessage(account, newId('grp'), makeDraft({ _id: newId('msg') })),
    );
    await enqueue(world.db, made);
    return made;
  };
  const waits = async (message: MessageDocument): Promise<boolean> =>
    (await queueOf(world.db).findOne({ first: message._id, next: 0 })) !== null;
  const leftOf = (account: AccountId) => messages().countDocuments({ account, state: { $ne: 'queued' } });

  it('its lines in mixed documents wait, the lines beside them leave; its own leave once when it is resumed', async () => {
    const [paused, other] = [await makeAccount(world.db, 0), await makeAccount(world.db, 0)];
    await pauseAccount(world.db, paused);
    await eventually(async () => {
      const [probe] = await put(paused, 1);
      const [marker] = await put(other, 1);
      if (probe === undefined || marker === undefined) throw new Error('nothing was put');
      await world.reaches(marker._id, 'delivered');
      return waits(probe);
    }, 'the pause is known');
    const made = (account: AccountId, group: GroupId) => ({
      group,
      messages: [1, 2].map(() => queuedMessage(account, group, makeDraft({ _id: newId('msg') }))),
    });
    const idsOf = (account: AccountId) =>
      groups.flatMap(({ messages: some }) => some.flatMap((one) => (one.account === account ? one._id : [])));
    const groups = Array.from({ length: 20 }, () => newId('grp')).flatMap((group) => [
      made(paused, group),
      made(other, group),
    ]);
    const left = await leftOf(paused);
    await insertFirst(world.db, queueDocuments(groups, new Date()));

    await world.allReach(idsOf(other), 'delivered');

    const held = { _id: { $in: idsOf(paused) }, state: 'queued' } as const;
    await eventually(async () => (await messages().countDocuments(held)) === 40, 'they were given back');
    expect(await leftOf(paused)).to.equal(left);
    await eventually(
      async () => (await queueOf(world.db).countDocuments({ account: MIXED })) === 0,
      'the mixed documents have ended',
    );
    await setAccountStatus(world.db, paused, 'active');
    await world.allReach(idsOf(paused), 'delivered');
    const submitted = world.smsc.messages().length;
    expect(await messages().countDocuments({ state: 'delivered' })).to.equal(submitted);
  });
});

const HOUR_MS = 3_600_000;
const INDIA = '919876543219';
const DUBAI = '971501234569';

describe("smpp worker: a recipient's daytime", () => {
  const world = use(openWorld);

  /** An hour that begins at this time in India. */
  const hoursAt = (at: Date): Daytime => {
    const inIndia = (ms: number) => new Date(ms + 5.5 * HOUR_MS).toISOString().slice(11, 16);
    return { from: inIndia(at.getTime()), to: inIndia(at.getTime() + HOUR_MS), countries: ['IN'] };
  };
  const begin = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 3 * HOUR_MS);
  const waits = async (draft: Partial<MessageDraft>) => world.reaches(await world.send(draft), 'waiting');

  it('of the account: what may not leave waits for it, what may leaves', async () => {
    await updateAccount(world.db, world.account, { daytime: hoursAt(begin) });
    // The worker knows it within two seconds. Until then such messages arrive.
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
    await updateAccount(world.db, world.account, { daytime: undefined });
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
