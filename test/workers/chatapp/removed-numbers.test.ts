import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import { pauseProvider, removeProvider } from '../../../shared/carriers/providers/store.ts';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import type { BusinessNumber } from '../../../shared/messages/document/chat-message.ts';
import { Settler } from '../../../shared/messages/settlement/settle.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { queuedFromOthers, refuseRemoved } from '../../../workers/chatapp/claim.ts';
import { makeProvider } from '../../support/chatapp.ts';
import { chatWorld } from './world.ts';

describe('chatapp worker: messages of a number that was removed', () => {
  const world = chatWorld();
  const SECOND = '918100000002';

  it('are refused and told; what may have left stays unconfirmed, and those of other numbers leave', async () => {
    const account = await world.openAccount();
    const { db } = world.store;
    const also = { baseUrl: account.provider.url, phoneNumberId: '1099', number: SECOND };
    await makeProvider(db, account.id, also);
    await pauseProvider(db, SECOND);
    const part = { key: chatMessageKey(account.id, 'wamid.1'), state: 'unknown' } as const;
    const [waits, again, other] = await world.queue(
      account,
      { from: SECOND },
      {
        from: SECOND,
        earlier: [{ id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: new Date(), parts: [part] }],
        to: '919876543211',
      },
      {},
    );
    await world.startWorker();
    await world.until(other?._id ?? 'msg_', ({ state }) => state === 'sent');
    expect(await world.read(waits?._id ?? 'msg_')).to.include({ state: 'queued' });

    await removeProvider(db, SECOND, account.id);

    const refused = await world.until(waits?._id ?? 'msg_', ({ state }) => state === 'rejected');
    expect(refused).to.include({ errorCode: 'number_removed' }).and.not.to.have.property('due');
    const open = await world.until(again?._id ?? 'msg_', ({ state }) => state === 'failed');
    expect(open).to.include({ errorCode: 'unconfirmed' });
    const told = await world.events(account);
    expect(told.map(({ event, message_id }) => [event, message_id])).to.deep.include(['message.rejected', waits?._id]);
    expect(account.provider.sends).to.have.length(1);
  });

  it('are those of no number of the account: one that was just added is read before anything is refused', async () => {
    const account = await world.openAccount();
    const { db } = world.store;
    await world.queue(account, {});
    const announcer = createAnnouncer({ db, clock });
    const unknowns = new Settler({ db, announcer, lease: 'chatapp:0', epoch: 1, stream: 'unknowns' });

    expect(await refuseRemoved(db, clock, { unknowns }, account.id, [])).to.equal(0);
    await world.allIn(account, 'queued', 1);
  });

  it('are found between those of its own numbers, the oldest of each first', async () => {
    const account = await world.openAccount();
    const { db } = world.store;
    const own: readonly BusinessNumber[] = ['918100000001', '918100000003'];
    const numbers: readonly BusinessNumber[] = ['918100000004', ...own, SECOND, '918100000000', SECOND];
    const queued = await world.queue(account, ...numbers.map((from) => ({ from })));
    const others = await world.openAccount();
    await world.queue(others, { from: SECOND });

    const found = await queuedFromOthers(db, account.id, own);

    const [last, , , second, first, again] = queued.map(({ _id }) => _id);
    expect(found.map(({ _id }) => _id)).to.deep.equal([first, second, again, last]);
  });
});
