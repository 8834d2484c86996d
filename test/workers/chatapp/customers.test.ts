import { addOptIns, optedInOf } from '../../../shared/carriers/chat-opt-in-store.ts';
import { changeOptOuts, readScopes, WHOLE_ACCOUNT } from '../../../shared/carriers/opt-outs/store.ts';
import type { InboundItem, InboxItemDocument } from '../../../shared/messages/chat-inbox.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { findPerson } from '../../../shared/money/conversations/person.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { customerWrites } from '../../support/chat.ts';
import { NUMBER } from '../../support/chatapp.ts';
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
        ...{
          kind: 'message',
          number: NUMBER,
          upstreamId: `wamid.${n}`,
          from,
          sentAt: new Date(),
          type: 'text',
          body: 'hi',
        },
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

  const [OLD, NEW, OTHER] = ['919876543210', '919876543999', '919876500000'];
  const [OLD_ID, NEW_ID, PARENT] = ['IN.1648738043044942', 'IN.1648738043044943', 'IN.ENT.11815799212886844830'];
  const shared = (origin: string) => ({ contacts: [{ origin, phones: [{ phone: `+${NEW}`, wa_id: NEW }] }] });
  for (const [what, type, more, names] of [
    [
      'a changed number',
      'system',
      { system: { type: 'user_changed_number', wa_id: NEW, user_id: NEW_ID, previous_user_id: OLD_ID } },
      [OLD, NEW, OLD_ID, NEW_ID],
    ],
    [
      'a changed id',
      'system',
      { system: { type: 'user_changed_user_id', user_id: NEW_ID, previous_user_id: OLD_ID, parent_user_id: PARENT } },
      [OLD, OLD_ID, NEW_ID, PARENT],
    ],
    ['another system message', 'system', { system: { type: 'customer_identity_changed', wa_id: NEW } }, [OLD, OLD_ID]],
    ['the number that was asked for', 'contacts', shared('contact_request'), [OLD, NEW, OLD_ID]],
    ['any other contact', 'contacts', shared('other'), [OLD, OLD_ID]],
  ] as const) {
    it(`${what} ${names.length > 2 ? 'links' : 'links nothing'}, opt-ins and opt-outs with it`, async () => {
      const { db } = world.store;
      const account = await world.openAccount();
      for (const customer of [OLD, OTHER]) await customerWrites(db, account.id, customer);
      await addOptIns(db, systemClock, account.id, [OLD]);
      const stop = { account: account.id, scope: WHOLE_ACCOUNT, kind: 'out', at: new Date(), source: 'api' } as const;
      await changeOptOuts(db, [{ ...stop, customer: OLD }]);
      const wrote = (n: number, message: Pick<InboundItem, 'type'> & Partial<InboundItem>) =>
        makeItem(account.id, {
          ...{
            kind: 'message',
            number: NUMBER,
            upstreamId: `wamid.${n}`,
            from: OLD,
            sentAt: new Date(),
            body: '',
            ...message,
          },
        });
      await world.post([wrote(1, { type: 'text', who: { userId: OLD_ID } })]);
      await world.startWorker();
      await workedOff();
      await world.post([wrote(2, { type, more })]);
      await workedOff();

      const person = await findPerson(db, account.id, OLD_ID);
      expect(new Set(person?.names)).to.deep.equal(new Set(names));
      const numbers = names.filter((name) => !name.startsWith('IN.'));
      const optedIn = await optedInOf(db, account.id, [...names, OTHER], async () => new Map());
      const inherits = numbers.length > 1 ? names : [OLD];
      expect([...optedIn]).to.have.members([...inherits]);
      const isChange = numbers.length > 1 && type === 'system';
      const scopes = await readScopes(db, account.id, [OLD, NEW, OTHER]);
      expect([...scopes.keys()]).to.have.members(isChange ? [OLD, NEW] : [OLD]);
    });
  }

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
