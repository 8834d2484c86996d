import { addOptIns, removeOptIn } from '../../../shared/carriers/chat-opt-in-store.ts';
import { pauseAccount, setAccountStatus } from '../../../shared/money/accounts/store.ts';
import { recordInbound } from '../../../shared/money/conversations/conversation.ts';
import { createChatAccepter } from '../../../shared/money/conversations/open.ts';
import type { LedgerEntryDocument } from '../../../shared/money/ledger/store.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { NUMBER } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { silentLog } from '../../support/silent-log.ts';
import { chatWorld, customers } from './world.ts';

describe('chatapp worker: what may leave', () => {
  const world = chatWorld();

  it('messages of an account that is held wait until it is not', async () => {
    const account = await world.openAccount();
    const other = await world.openAccount();
    await pauseAccount(world.store.db, account.id);
    await world.startWorker();
    await world.queue(account, {});
    await world.queue(other, {});
    await world.allIn(other, 'sent', 1);
    expect(account.provider.sends).to.deep.equal([]);

    await setAccountStatus(world.store.db, account.id, 'active');

    await world.allIn(account, 'sent', 1);
  });

  it('a text whose session has closed while it waited is rejected and never reaches the provider', async () => {
    const account = await world.openAccount();
    const text = { content: { kind: 'text', text: 'hi' } } as const;
    const [late, fresh] = customers(2);
    await recordInbound(world.store.db, [
      { account: account.id, customer: late ?? '', number: NUMBER, at: new Date(Date.now() - 25 * 3_600_000) },
      { account: account.id, customer: fresh ?? '', number: NUMBER, at: new Date() },
    ]);
    const [closed] = await world.queue(account, { ...text, to: late ?? '' }, { ...text, to: fresh ?? '' });
    await world.startWorker();

    const rejected = await world.until(closed?._id ?? 'msg_', ({ state }) => state === 'rejected');
    await world.allIn(account, 'sent', 1);

    expect(rejected.errorCode).to.equal('session_closed');
    expect(account.provider.sends.map(({ to }) => to)).to.deep.equal([fresh]);
  });

  it('a template to a customer who was taken off the opt-in list while it waited is rejected and refunded', async () => {
    const { db } = world.store;
    const account = await world.openAccount(undefined, { optIn: 'list' });
    const accepter = createChatAccepter({ db, clock, log: silentLog, prices: { userCredits: 1, businessCredits: 2 } });
    const validUntil = new Date(Date.now() + 3_600_000);
    const content = { kind: 'template', name: 'hello', language: 'en', params: [] } as const;
    const [left, stayed] = [customers(1)[0] ?? '', '919876543210'];
    await addOptIns(db, clock, account.id, [left, stayed]);
    for (const to of [left, stayed]) {
      await accepter.accept(account.id, { _id: newId('msg'), from: account.number, to, content, validUntil });
    }
    await removeOptIn(db, account.id, [left]);

    await world.startWorker();

    await world.allIn(account, 'rejected', 1);
    await world.allIn(account, 'sent', 1);
    const rejected = await world.messages.findOne({ account: account.id, state: 'rejected' });
    expect(rejected).to.include({ to: left, errorCode: 'recipient_not_opted_in' });
    expect(account.provider.sends.map(({ to }) => to)).to.deep.equal([stayed]);
    const refund = await eventually(
      () => db.collection<LedgerEntryDocument>('ledger').findOne({ account: account.id, reason: 'refund' }),
      'its conversation is given back',
    );
    expect(refund).to.include({ amount: 2, reference: rejected?.conversation });
  });

  for (const [what, look] of [
    ['it is not known whether they may leave', async () => new Map()],
    [
      'the store fails at the look',
      async () => {
        throw new Error('the store is away');
      },
    ],
  ] as const) {
    it(`messages that were claimed go back to their places when ${what}, and leave later, once`, async () => {
      const account = await world.openAccount();
      let looks = 0;
      const queued = await world.queue(account, ...customers(5).map((to) => ({ to })));
      await world.startWorker({
        depart: async (messages) => {
          if (++looks === 1) {
            expect(messages.map(({ state }) => state)).to.deep.equal(queued.map(() => 'submitting'));
            return look();
          }
          return new Map(messages.map((one) => [one._id, { kind: 'go' }]));
        },
      });

      await world.allIn(account, 'sent', queued.length);

      expect(looks).to.be.greaterThan(1);
      expect(account.provider.sends).to.have.length(queued.length);
      const stored = await Promise.all(queued.map(({ _id }) => world.read(_id)));
      expect(stored.map(({ tries, history }) => [tries, history.length])).to.deep.equal(queued.map(() => [0, 1]));
    });
  }

  it('what rode with a text that is refused here stands for the conversation, which stays paid', async () => {
    const { db } = world.store;
    const account = await world.openAccount();
    const prices = { userCredits: 1, businessCredits: 2 };
    const accepter = createChatAccepter({ db, clock, log: silentLog, prices });
    const all = customers(10);
    const wrote = (at: Date) => all.map((customer) => ({ account: account.id, customer, number: NUMBER, at }));
    await recordInbound(db, wrote(new Date()));
    const validUntil = new Date(Date.now() + 3_600_000);
    for (const to of all) {
      await accepter.accept(account.id, {
        _id: newId('msg'),
        from: account.number,
        to,
        content: { kind: 'text', text: 'hi' },
        validUntil,
      });
      const content = { kind: 'template', name: 'hello', language: 'en', params: [] } as const;
      await accepter.accept(account.id, { _id: newId('msg'), from: account.number, to, content, validUntil });
    }
    const over = new Date(Date.now() - 25 * 3_600_000);
    await db
      .collection('conversations')
      .updateMany({ account: account.id }, { $set: { lastInboundAt: over, [`sessions.${account.number}`]: over } });

    await world.startWorker();

    await world.allIn(account, 'rejected', all.length);
    await world.allIn(account, 'sent', all.length);
    const ledger = await db.collection<LedgerEntryDocument>('ledger').find({ account: account.id }).toArray();
    const chats = ledger.filter(({ reason }) => reason === 'conversation' || reason === 'refund');
    expect(chats.map(({ reason, amount }) => `${reason} ${amount}`)).to.deep.equal(all.map(() => 'conversation -1'));
  });
});
