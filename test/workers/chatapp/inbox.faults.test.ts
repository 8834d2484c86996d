import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import type { InboundItem, InboxItemDocument } from '../../../shared/messages/chat-inbox.ts';
import { NUMBER } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { inboxWorld } from './inbox-world.ts';
import { makeItem } from './make.ts';
import { customers } from './world.ts';

const ASHA = '919999999999';

describe('chatapp worker: the inbox', () => {
  const { world, sent, item, workedOff } = inboxWorld();

  it('an item that cannot be stored holds up no other', async () => {
    const account = await world.openAccount();
    const good = await sent(account, 1);
    const odd: InboundItem = {
      kind: 'message',
      number: NUMBER,
      upstreamId: 'odd',
      from: ASHA,
      sentAt: new Date(Number.NaN),
      type: 'text',
      body: 'hi',
    };
    await world.store.db
      .collection('chat_inbox')
      .insertMany([
        { ...makeItem(account.id, odd), what: { ...odd, sentAt: 'never' } } as never,
        item(account, { upstreamId: 'wamid.1', status: 'delivered' }) as never,
      ]);
    await world.startWorker();

    await world.until(good._id, ({ state }) => state === 'delivered');
    await eventually(
      async () => (await world.store.db.collection('chat_inbox').findOne({ tries: { $gte: 1 } })) !== null,
      'the odd one is put off',
    );
  });

  it('a flood of one account’s stands before nobody else’s', async () => {
    const flooded = await world.openAccount();
    const quiet = await world.openAccount();
    const ago = new Date(Date.now() - 60_000);
    await world.post(Array.from({ length: 3_000 }, (_, n) => item(flooded, { upstreamId: `wamid.f${n}` }, ago)));
    const message = await sent(quiet, 1);
    await world.post([item(quiet, { upstreamId: 'wamid.1' })]);
    await world.startWorker();

    await world.until(message._id, ({ state }) => state === 'delivered');

    const inbox = world.store.db.collection<InboxItemDocument>('chat_inbox');
    expect(await inbox.countDocuments({ account: flooded.id, tries: 0 })).to.be.above(1_000);
  });

  it('works off a thousand statuses of several accounts', async () => {
    const accounts = await Promise.all([1, 2, 3].map(() => world.openAccount()));
    const items: InboxItemDocument[] = [];
    for (const account of accounts) {
      const at = new Date();
      await world.queue(
        account,
        ...customers(334).map((to, n) => ({
          to,
          state: 'sent' as const,
          parts: [{ key: chatMessageKey(account.id, `wamid.${n}`), state: 'accepted' as const }],
          history: [{ state: 'sent' as const, at }],
        })),
      );
      for (let n = 0; n < 334; n++) items.push(item(account, { upstreamId: `wamid.${n}`, status: 'delivered', at }));
    }
    await world.post(items);
    await world.startWorker();

    await workedOff();

    expect(await world.messages.countDocuments({ state: 'delivered' })).to.equal(1_002);
  });
});
