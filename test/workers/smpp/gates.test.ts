import { expect } from 'chai';
import { queuedMessage } from '../../../shared/messages/document/draft.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { insertFirst } from '../../../shared/messages/queue/insert.ts';
import { MIXED, queueDocuments } from '../../../shared/messages/queue/queue-document.ts';
import { queueOf } from '../../../shared/messages/queue/queue-store.ts';
import { pauseAccount, setAccountStatus } from '../../../shared/money/accounts/store.ts';
import { type AccountId, type GroupId, newId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { enqueue } from '../../support/queue.ts';
import { openWorld } from '../../support/smpp-world.ts';
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

  it('its backlog stays as it is and stands before nobody, until it is resumed', async () => {
    const [paused, other] = [await makeAccount(world.db, 0), await makeAccount(world.db, 0)];
    await pauseAccount(world.db, paused);
    // The worker knows of the pause now: from here on no message of the account may leave.
    await eventually(async () => {
      const [probe] = await put(paused, 1);
      const [marker] = await put(other, 1);
      if (probe === undefined || marker === undefined) throw new Error('nothing was put');
      await world.reaches(marker._id, 'delivered');
      return waits(probe);
    }, 'the pause is known');
    const left = await leftOf(paused);
    const backlog = await put(paused, 500);
    const free = await put(other, 100);

    await world.allReach(
      free.map(({ _id }) => _id),
      'delivered',
    );

    expect(await leftOf(paused)).to.equal(left);
    const ids = backlog.map(({ _id }) => _id);
    await eventually(
      async () => (await messages().countDocuments({ _id: { $in: ids }, state: 'queued', v: 0 })) === 500,
      'it is written out as it was accepted',
    );
    await setAccountStatus(world.db, paused, 'active');
    await world.allReach(ids, 'delivered');
  });

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
