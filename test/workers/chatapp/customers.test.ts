import { expect } from 'chai';
import type { InboxItemDocument } from '../../../shared/messages/chat-inbox-item.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { customerWrites } from '../../support/chat.ts';
import { inboxWorld } from './inbox-world.ts';
import { makeItem } from './make.ts';
import type { ChatAccount } from './world.ts';

const TYPED = '5531987654321';
const KNOWN = '553187654321';

describe('chatapp worker: numbers that the provider knows customers by', () => {
  const { world, sent, item, workedOff } = inboxWorld();
  const aliasesOf = async ({ id }: ChatAccount, customer: string) =>
    (
      await world.store.db
        .collection<ConversationDocument>('conversations')
        .findOne({ _id: conversationKey(id, customer) })
    )?.aliases;

  it('learns them from statuses', async () => {
    const account = await world.openAccount();
    await sent(account, 1, { to: TYPED });
    await world.post(
      (['sent', 'delivered', 'read'] as const).map((status) =>
        item(account, { upstreamId: 'wamid.1', status, recipient: KNOWN }),
      ),
    );
    await world.startWorker();
    await workedOff();

    expect(await aliasesOf(account, TYPED)).to.deep.equal([KNOWN]);
    expect(await aliasesOf(account, KNOWN)).to.deep.equal([TYPED]);
  });

  it('learns them from the answers to sends, before the message counts as sent', async () => {
    const account = await world.openAccount((send, res) => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ contacts: [{ input: send.body.to, wa_id: KNOWN }], messages: [{ id: 'wamid.9' }] }));
    });
    const [message] = await world.queue(account, { to: TYPED });
    await world.startWorker();
    if (message === undefined) throw new Error('one was queued');
    await world.until(message._id, ({ state }) => state === 'sent');

    expect(await aliasesOf(account, TYPED)).to.deep.equal([KNOWN]);
    expect(await aliasesOf(account, KNOWN)).to.deep.equal([TYPED]);
  });

  it('learns the number of a customer who was known by a user id, and no number of others', async () => {
    const account = await world.openAccount();
    const [known, unknown] = ['BR.1502576394655843', 'BR.1502576394655844'];
    await customerWrites(world.store.db, account.id, known);
    const wrote = (n: number, from: string, userId: string): InboxItemDocument =>
      makeItem(account.id, {
        ...{ kind: 'message', upstreamId: `wamid.${n}`, from, sentAt: new Date(), type: 'text', body: 'hi' },
        who: { userId },
      });
    await world.post([wrote(1, KNOWN, known), wrote(2, '553187654322', unknown)]);
    await world.startWorker();
    await workedOff();

    expect(await aliasesOf(account, known)).to.deep.equal([KNOWN]);
    expect(await aliasesOf(account, KNOWN)).to.deep.equal([known]);
    expect([await aliasesOf(account, unknown), await aliasesOf(account, '553187654322')]).to.deep.equal([
      undefined,
      undefined,
    ]);
  });

  it('learns nothing from a status that names the number as it was written, or none', async () => {
    const account = await world.openAccount();
    const [one, two] = [await sent(account, 1, { to: TYPED }), await sent(account, 2, { to: KNOWN })];
    await world.post([
      item(account, { upstreamId: 'wamid.1', status: 'delivered', recipient: TYPED }),
      item(account, { upstreamId: 'wamid.2', status: 'delivered' }),
    ]);
    await world.startWorker();
    for (const { _id } of [one, two]) await world.until(_id, ({ state }) => state === 'delivered');
    await workedOff();

    expect([await aliasesOf(account, TYPED), await aliasesOf(account, KNOWN)]).to.deep.equal([undefined, undefined]);
  });
});
