import { createSender, findSender, isSenderForm, listSenders, SenderExists } from '../../../shared/carriers/sender.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { useStore } from '../../support/store.ts';

describe('isSenderForm', () => {
  for (const sender of [
    'A',
    'HARKRA',
    'My Shop 24',
    "O'Neil & Co",
    'abcdefghijk',
    'B_C-D.E',
    '123',
    '123456789012345',
  ]) {
    it(`takes ${sender}`, () => {
      expect(isSenderForm(sender)).to.equal(true);
    });
  }

  const refused = [
    '',
    '12',
    '1234567890123456',
    'abcdefghijkl',
    '...',
    '1 2 3',
    ' SHOP',
    'SHOP ',
    'SH\0OP',
    'SHOP\n',
    'SH\tOP',
    'me@shop',
    'Ünder',
    'दुकान',
    'A😀',
    'A\u0000',
  ];
  for (const sender of refused) {
    it(`refuses ${JSON.stringify(sender)}`, () => {
      expect(isSenderForm(sender)).to.equal(false);
    });
  }
});

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
