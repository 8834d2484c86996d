import { startProvider } from '../../../../scripts/simulator/provider.ts';
import { chatMessageKey, type ProviderDocument } from '../../../../shared/carriers/providers/provider.ts';
import type { ChatMessageDocument, InboundMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { inboundMessage } from '../../../../workers/chatapp/inbox.ts';
import { sendPayload } from '../../../../workers/chatapp/provider/payload.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { NUMBER } from '../../../support/chatapp.ts';
import { expectProblem } from '../../../support/problem.ts';
import { boxOf } from '../../../support/secret-box.ts';
import { use } from '../../../support/use.ts';

const INTERACTIVE = '/v2/chatapp/send-interactive';
const LOCATION = '/v2/chatapp/send-location';
const CONTACTS = '/v2/chatapp/send-contacts';
const REACTION = '/v2/chatapp/send-reaction';

const row = (id: string, more = {}) => ({ id, title: `Row ${id}`, ...more });
const list = (sections: readonly object[], more = {}) => ({
  ...{ type: 'list', body: 'Which one?', button: 'Choose', sections },
  ...more,
});
const URL_BUTTON = { type: 'url', body: 'On its way.', button: 'Track it', url: 'https://shop.example/track/1' };
const FLOW = { type: 'flow', body: 'Book a table.', button: 'Book', flow: { id: '1' } };
const PRODUCT = { type: 'product', catalog_id: '194836987003835', product_id: 'sku-1' };
const PRODUCTS = {
  ...{ type: 'product_list', header: { text: 'Bestsellers' }, body: 'Have a look.', catalog_id: '1948' },
  sections: [{ product_ids: ['sku-1', 'sku-2'] }],
};
const PLACE = { latitude: 12.9758, longitude: -77.6045, name: 'Demo Shop', address: 'MG Road' };
const CARD = { name: { first_name: 'Ravi', last_name: 'Kumar' }, phones: [{ phone: '+91 98765 00001' }] };

describe('chat-app sends beyond the specification', () => {
  const chat = chatAtGateway(3);
  const provider = use(() => startProvider({ sessions: false }));
  beforeEach(async () => {
    const { businessId, phoneNumberId, token } = provider.options;
    await chat.configure({ baseUrl: `${provider.url}/v23.0`, businessId, phoneNumberId, token });
    await chat.customerWrote();
  });

  const lastMessage = async () => {
    const [found] = await chat.db
      .collection<ChatMessageDocument>('messages')
      .find({ account: chat.account, direction: 'out' })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    return found ?? expect.fail('a message is stored');
  };
  /** Stores a message of the customer, as the inbox does. */
  const customersMessage = async (upstreamId = `wamid.${newId('msg')}`, from = CUSTOMER) => {
    const now = new Date();
    const what = {
      kind: 'message',
      number: NUMBER,
      upstreamId,
      from,
      sentAt: now,
      type: 'text',
      body: 'Hello?',
    } as const;
    const message = inboundMessage(chat.account, what, now);
    await chat.db.collection<InboundMessageDocument>('messages').insertOne(message);
    return message;
  };

  describe('200: stored, and taken by a strict provider', () => {
    const rows: readonly (readonly [what: string, path: string, body: object, words: string | null])[] = [
      ['a list of one section', INTERACTIVE, list([{ rows: [row('1'), row('2')] }]), 'Which one?'],
      [
        'a list of several, with everything',
        INTERACTIVE,
        list(
          [
            { title: 'Fast', rows: [row('1', { description: '1 day' })] },
            { title: 'Cheap', rows: [row('2')] },
          ],
          { header: { text: 'Shipping' }, footer: 'Demo Shop' },
        ),
        'Which one?',
      ],
      [
        'a url',
        INTERACTIVE,
        { ...URL_BUTTON, header: { type: 'image', url: 'https://a.example/1.jpg' } },
        'On its way.',
      ],
      [
        'a flow by its name',
        INTERACTIVE,
        { ...FLOW, flow: { name: 'book', ask_server: true, draft: true } },
        'Book a table.',
      ],
      [
        'a flow with its first screen',
        INTERACTIVE,
        { ...FLOW, flow: { id: '1', token: 't', screen: 'ONE', data: { a: 1 } } },
        'Book a table.',
      ],
      ['a request for a location', INTERACTIVE, { type: 'location_request', body: 'Where to?' }, 'Where to?'],
      ['a product', INTERACTIVE, PRODUCT, null],
      ['several products', INTERACTIVE, PRODUCTS, 'Have a look.'],
      ['the catalog', INTERACTIVE, { type: 'catalog', body: 'All we have.', product_id: 'sku-1' }, 'All we have.'],
      ['a location', LOCATION, PLACE, 'Demo Shop, MG Road (12.9758, -77.6045)'],
      ['a location without a name', LOCATION, { latitude: 0, longitude: 0 }, '0, 0'],
      [
        'contacts',
        CONTACTS,
        { contacts: [CARD, { name: { formatted_name: 'Shop', first_name: 'Demo' } }] },
        'Ravi Kumar, Shop',
      ],
      [
        'buttons with header and footer',
        '/v2/chatapp/send-buttons',
        {
          ...{ body: 'Confirm?', buttons: [{ id: 'y', title: 'Yes' }], footer: 'Demo Shop' },
          header: { type: 'document', url: 'https://a.example/terms.pdf' },
        },
        'Confirm?',
      ],
    ];
    for (const [what, path, body, words] of rows) {
      it(what, async () => {
        const answer = await chat.post(path, { to: CUSTOMER, ...body });

        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        const message = await lastMessage();
        expect(answer.body).to.deep.equal({ status: 'success', message_id: message._id });
        expect(await chat.balance()).to.equal(2);
        const { options, url } = provider;
        const taken = await fetch(`${url}/v23.0/${options.phoneNumberId}/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${options.token}` },
          body: new Uint8Array(sendPayload(message)),
        });
        expect(taken.status, await taken.text()).to.equal(200);
        const { body: whole } = await chat.get(`/v2/messages/${message._id}`);
        expect(whole).to.include({ text: words, text_shown: 'whole' });
      });
    }
  });

  it('400: each names its field, and nothing is charged', async () => {
    const rows: readonly (readonly [path: string, body: object, field: string, code: string])[] = [
      [INTERACTIVE, { type: 'carousel', body: 'b' }, 'type', 'invalid_value'],
      [INTERACTIVE, { ...URL_BUTTON, button: undefined }, 'button', 'missing_field'],
      [INTERACTIVE, { ...URL_BUTTON, url: 'javascript:alert(1)' }, 'url', 'invalid_value'],
      [INTERACTIVE, { ...URL_BUTTON, sections: [{ rows: [row('1')] }] }, 'sections', 'conflict'],
      [INTERACTIVE, { ...URL_BUTTON, header: { type: 'image' } }, 'header.url', 'missing_field'],
      [
        INTERACTIVE,
        { ...URL_BUTTON, header: { type: 'image', url: 'https://a.example/a.pdf' } },
        'header.url',
        'unsupported_media_type',
      ],
      [
        INTERACTIVE,
        list([{ title: 'A', rows: [row('1')] }, { rows: [row('2')] }]),
        'sections[1].title',
        'missing_field',
      ],
      [INTERACTIVE, list([{ rows: [row('1'), row('1')] }]), 'sections[0].rows[1].id', 'duplicate'],
      [INTERACTIVE, list([{ rows: [row('1', { title: 't'.repeat(25) })] }]), 'sections[0].rows[0].title', 'too_long'],
      [INTERACTIVE, list([{ product_ids: ['sku'], rows: [row('1')] }]), 'sections[0].product_ids', 'conflict'],
      [
        INTERACTIVE,
        list([{ rows: [row('1')] }], { header: { type: 'image', url: 'https://a.example/1.jpg' } }),
        'header.type',
        'conflict',
      ],
      [INTERACTIVE, { ...FLOW, flow: { id: '1', name: 'n' } }, 'flow.id', 'conflict'],
      [INTERACTIVE, { ...FLOW, flow: { id: '1', data: { a: 'x'.repeat(5_000) } } }, 'flow.data', 'too_long'],
      [INTERACTIVE, { ...PRODUCTS, header: undefined }, 'header', 'missing_field'],
      [LOCATION, { ...PLACE, latitude: 91 }, 'latitude', 'out_of_range'],
      [LOCATION, { ...PLACE, name: undefined }, 'name', 'missing_field'],
      [CONTACTS, { contacts: [{ name: { last_name: 'Kumar' } }] }, 'contacts[0].name.first_name', 'missing_field'],
      [CONTACTS, { contacts: Array.from({ length: 6 }, () => CARD) }, 'contacts', 'wrong_count'],
      [REACTION, { message_id: newId('msg'), emoji: '👍👍' }, 'emoji', 'invalid_value'],
      [REACTION, { message_id: newId('msg'), emoji: '👍' }, 'message_id', 'invalid_value'],
      ['/v2/chatapp/send-text', { message: 'm', reply_to: 'wamid.1' }, 'reply_to', 'invalid_value'],
      ['/v2/chatapp/send-text', { message: 'm', reply_to: newId('msg') }, 'reply_to', 'invalid_value'],
    ];
    for (const [path, body, field, code] of rows) {
      const answer = await chat.post(path, { to: CUSTOMER, ...body });

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors, JSON.stringify(answer.body.errors)).to.have.length(1);
      expect(answer.body.errors[0], `${path} ${field}`).to.include({ field, code });
    }
    await chat.expectNothingDone(3);
  });

  it('403: the session closed, also for a reaction', async () => {
    const stranger = '919876543299';
    const { _id } = await customersMessage('wamid.old', stranger);
    const rows = [
      [INTERACTIVE, { type: 'location_request', body: 'Where to?' }],
      [LOCATION, PLACE],
      [CONTACTS, { contacts: [CARD] }],
      [REACTION, { message_id: _id, emoji: '👍' }],
    ] as const;
    for (const [path, body] of rows) expectProblem(await chat.post(path, { to: stranger, ...body }), 'session_closed');
    expect(await chat.balance()).to.equal(3);
  });

  it('answers and reacts to messages of both directions, and shows it', async () => {
    const theirs = await customersMessage('wamid.theirs');
    const answer = await chat.post('/v2/chatapp/send-text', { to: CUSTOMER, message: 'Hi.', reply_to: theirs._id });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    const sent = await lastMessage();
    expect(sent.replyTo).to.deep.equal({ message: theirs._id, upstreamId: 'wamid.theirs' });

    // The provider does not have it yet.
    const react = { to: CUSTOMER, message_id: sent._id, emoji: '❤️' };
    expect((await chat.post(REACTION, react)).body.errors[0]).to.include({
      field: 'message_id',
      code: 'invalid_value',
    });
    const key = chatMessageKey(chat.account, 'wamid.ours');
    const part = { number: 1, state: 'accepted', key } as const;
    await chat.db.collection<ChatMessageDocument>('messages').updateOne({ _id: sent._id }, { $set: { parts: [part] } });
    expect((await chat.post(REACTION, react)).status).to.equal(200);
    expect((await lastMessage()).content).to.deep.equal({
      ...{ kind: 'reaction', emoji: '❤️' },
      reactsTo: { message: react.message_id, upstreamId: 'wamid.ours' },
    });

    const { body } = await chat.get(`/v2/account/inbox/${CUSTOMER}`);
    const [reaction, reply] = body.data;
    expect(reaction).to.include({ type: 'reaction', body: '❤️', reply_to: react.message_id });
    expect(reply).to.include({ type: 'text', body: 'Hi.', reply_to: theirs._id });
  });

  it('shows what one can choose from, and places, in the inbox', async () => {
    await chat.post(INTERACTIVE, { to: CUSTOMER, ...list([{ rows: [row('1'), row('2')] }]) });
    await chat.post(LOCATION, { to: CUSTOMER, ...PLACE });
    const place = { latitude: 1.5, longitude: 2.5, name: 'Home' };
    const theirs = await customersMessage();
    await chat.db
      .collection<InboundMessageDocument>('messages')
      .updateOne(
        { _id: theirs._id },
        { $set: { inbound: { type: 'location', body: 'Home', more: { location: place } } } },
      );

    const { body } = await chat.get(`/v2/account/inbox/${CUSTOMER}`);
    const shown = body.data.map((one: { body: string; choices?: string[] }) => [one.body, one.choices]);
    expect(shown).to.have.deep.members([
      ['Which one?', ['Row 1', 'Row 2']],
      ['Demo Shop, MG Road (12.9758, -77.6045)', undefined],
      ['Home (1.5, 2.5)', undefined],
    ]);
  });

  describe('POST /v2/chatapp/read', () => {
    const PATH = '/v2/chatapp/read';

    it('tells the provider at once, for nothing, also without a session', async () => {
      const upstreamId = provider.says('919876543277', 'Hello?');
      const { _id } = await customersMessage(upstreamId, '919876543277');

      const read = await chat.post(PATH, { message_id: _id });
      await chat.post(PATH, { message_id: _id, typing: true });

      expect(read.body, JSON.stringify(read.body)).to.deep.equal({ status: 'success', message_id: _id });
      expect(provider.reads()).to.deep.equal([
        { id: upstreamId, typing: false },
        { id: upstreamId, typing: true },
      ]);
      expect(await chat.balance()).to.equal(3);
    });

    it('says what it cannot mark', async () => {
      await chat.post('/v2/chatapp/send-text', { to: CUSTOMER, message: 'Hi.' });
      const ours = await lastMessage();
      expectProblem(await chat.post(PATH, { message_id: newId('msg') }), 'message_not_found');
      expectProblem(await chat.post(PATH, { message_id: ours._id }), 'message_not_found');
      const { _id } = await customersMessage('wamid.unknown-there');
      const refused = await chat.post(PATH, { message_id: _id });
      expectProblem(refused, 'not_marked_read');
      expect(refused.body.detail).to.match(/131009/);
      await chat.configure({ baseUrl: 'http://127.0.0.1:9/v23.0' });
      expectProblem(await chat.post(PATH, { message_id: _id }), 'provider_unavailable');
    });

    it('frees its slot when the token cannot be decrypted: 16 of an account wait at a time', async () => {
      const { _id } = await customersMessage();
      const token = boxOf(Buffer.alloc(32, 9)).seal('EAAother', ['providers', NUMBER, 'token']);
      await chat.db.collection<ProviderDocument>('providers').updateOne({ _id: NUMBER }, { $set: { token } });
      for (let i = 0; i <= 16; i++) expectProblem(await chat.post(PATH, { message_id: _id }), 'secret_unreadable');
    });
  });
});
