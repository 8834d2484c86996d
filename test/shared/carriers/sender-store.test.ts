import { expect } from 'chai';
import { createSender, findSender, listSenders, SenderExists } from '../../../shared/carriers/sender-store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { useStore } from '../../support/store.ts';

describe('senders store', () => {
  const store = useStore();

  it('finds a sender by account and exact name', async () => {
    const account = newId('acc');
    const created = await createSender(store.db, systemClock, {
      account,
      sender: 'HARKRA',
      routes: ['transactional'],
      status: 'approved',
    });

    expect(await findSender(store.db, account, 'HARKRA')).to.deep.equal(created);
    expect(await findSender(store.db, account, 'Harkra')).to.equal(undefined);
    expect(await findSender(store.db, newId('acc'), 'HARKRA')).to.equal(undefined);
  });

  it('lists the senders of one account by name', async () => {
    const account = newId('acc');
    for (const sender of ['ZEBRA', 'ALPHA']) {
      await createSender(store.db, systemClock, { account, sender, routes: ['promotional'], status: 'submitted' });
    }

    const listed = await listSenders(store.db, account);

    expect(listed.map((one) => one.sender)).to.deep.equal(['ALPHA', 'ZEBRA']);
  });

  it('registers a sender once per account', async () => {
    const account = newId('acc');
    const sender = { account, sender: 'TWICE', routes: ['transactional'], status: 'approved' } as const;
    await createSender(store.db, systemClock, sender);

    const second = await createSender(store.db, systemClock, sender).catch((error: unknown) => error);
    await createSender(store.db, systemClock, { ...sender, account: newId('acc') });

    expect(second).to.be.instanceOf(SenderExists);
  });
});
