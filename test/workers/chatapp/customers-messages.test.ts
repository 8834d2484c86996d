import { pauseProvider } from '../../../shared/carriers/providers/store.ts';
import type { InboundItem } from '../../../shared/messages/chat-inbox.ts';
import type { InboundMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { customerId } from '../../../shared/platform/runtime/ids.ts';
import { NUMBER } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { makeItem } from './make.ts';
import { chatWorld } from './world.ts';

const ASHA = '919999999999';

describe('chatapp worker: customers’ messages', () => {
  const world = chatWorld();

  const due = () => world.store.db.collection('chat_inbox').countDocuments({ due: { $exists: true } });

  const workedOff = () => eventually(async () => (await due()) === 0, 'the inbox is worked off');

  const INBOUND: readonly Pick<InboundItem, 'type' | 'body' | 'more'>[] = [
    { type: 'text', body: 'hi' },
    {
      type: 'image',
      body: 'my cat',
      more: { image: { id: '1', mime_type: 'image/jpeg', sha256: 'x', caption: 'my cat' } },
    },
    { type: 'audio', body: '', more: { audio: { id: '2', mime_type: 'audio/ogg' } } },
    { type: 'video', body: '', more: { video: { id: '3' } } },
    { type: 'document', body: '', more: { document: { id: '4', filename: 'a.pdf' } } },
    { type: 'sticker', body: '', more: { sticker: { id: '5' } } },
    { type: 'location', body: '', more: { location: { latitude: 1.5, longitude: 2 } } },
    { type: 'contacts', body: '', more: { contacts: [{ name: { formatted_name: 'B' } }] } },
    { type: 'reaction', body: '👍', more: { reaction: { message_id: 'wamid.1', emoji: '👍' } } },
    { type: 'button', body: 'Yes', more: { button: { payload: 'YES', text: 'Yes' } } },
    { type: 'interactive', body: 'Yes', more: { interactive: { button_reply: { id: 'yes', title: 'Yes' } } } },
    { type: 'order', body: '', more: { order: { product_items: [] } } },
    { type: 'unsupported', body: '', more: { errors: [{ code: 131_051 }] } },
    { type: 'hologram', body: '', more: { hologram: { anything: { at: ['all'] } } } },
  ];

  it('customers’ messages of every type are stored and told once, at the provider’s time', async () => {
    const account = await world.openAccount();
    const sentAt = new Date('2026-11-21T09:00:00Z');
    const received = INBOUND.map((content, n): InboundItem => {
      return {
        kind: 'message',
        number: NUMBER,
        upstreamId: `wamid.in${n}`,
        from: n === 3 ? null : ASHA,
        sentAt,
        ...content,
      };
    });
    await world.post(received.map((what) => makeItem(account.id, what)));
    // The provider repeats them. The callback would give them the same ids; these are new items of the same content.
    await world.post(received.map((what, n) => ({ ...makeItem(account.id, what), _id: `${account.id}:again:${n}` })));
    await world.startWorker();
    await workedOff();

    const stored = await world.store.db
      .collection<InboundMessageDocument>('messages')
      .find({ account: account.id, direction: 'in' })
      .toArray();
    expect(stored).to.have.length(INBOUND.length);
    const byUpstream = new Map(stored.map((message) => [message.upstreamId, message]));
    for (const what of received) {
      const { type, body, more } = what;
      expect(byUpstream.get(what.upstreamId)).to.deep.include({
        from: what.from,
        to: NUMBER,
        state: 'received',
        inbound: { type, body, ...(more === undefined ? {} : { more }) },
        history: [{ state: 'received', at: sentAt }],
      });
    }
    const events = await world.events(account);
    const customer = { id: customerId(account.id, ASHA), number: ASHA };
    expect(events).to.have.length(INBOUND.length);
    expect(events.find(({ type }) => type === 'text')).to.deep.equal({
      event: 'message.received',
      from: ASHA,
      message_id: byUpstream.get('wamid.in0')?._id,
      type: 'text',
      body: 'hi',
      timestamp: '2026-11-21T09:00:00+00:00',
      customer,
      to: NUMBER,
    });
    expect(events.find(({ type }) => type === 'image')).to.deep.equal({
      event: 'message.received',
      from: ASHA,
      message_id: byUpstream.get('wamid.in1')?._id,
      type: 'image',
      body: 'my cat',
      timestamp: '2026-11-21T09:00:00+00:00',
      to: NUMBER,
      image: { id: '1', mime_type: 'image/jpeg', sha256: 'x', caption: 'my cat' },
      customer,
    });
  });

  it('a customer’s message comes in also while the channel is paused', async () => {
    const account = await world.openAccount();
    await pauseProvider(world.store.db, account.number);
    await world.startWorker();
    const what: InboundItem = {
      kind: 'message',
      number: NUMBER,
      upstreamId: 'a',
      from: ASHA,
      sentAt: new Date(),
      type: 'text',
      body: 'hi',
    };
    await world.post([makeItem(account.id, what)]);

    await eventually(async () => (await world.events(account)).length === 1, 'its event');
  });
});
