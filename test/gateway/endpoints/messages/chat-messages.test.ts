import { chatMessageKey } from '../../../../shared/carriers/providers/provider.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { ChatMessageDocument, InboundMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { answerRecord } from '../../../../shared/messages/settlement/message-log.ts';
import { applyCredits } from '../../../../shared/money/ledger/change.ts';
import { idDay, idTime, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { NUMBER } from '../../../support/chatapp.ts';
import { makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

const BUSINESS = '918000000001';

describe('reading back: messages of the chat-app channel', () => {
  const chat = chatAtGateway(10);
  beforeEach(async () => {
    await chat.configure();
  });
  const messages = () => chat.db.collection<AnyMessage>('messages');

  async function sendTemplate(): Promise<{ id: MessageId; conversation: string }> {
    const params = ['secret name', 'secret order'];
    const body = { to: CUSTOMER, template: 'order_update', language: 'en_US', params, reference: 'order 7' };
    const answer = await chat.post('/v2/chatapp/send', body);
    return { id: answer.body.message_id, conversation: answer.body.conversation_id };
  }
  async function change(id: MessageId, set: Partial<ChatMessageDocument>): Promise<void> {
    await messages().updateOne({ _id: id }, { $set: set });
  }
  async function receive(overrides: Partial<InboundMessageDocument> = {}): Promise<InboundMessageDocument> {
    const _id = newId('msg');
    const message: InboundMessageDocument = {
      _id,
      day: idDay(_id),
      channel: 'chatapp',
      direction: 'in',
      account: chat.account,
      from: CUSTOMER,
      to: BUSINESS,
      upstreamId: 'wamid.IN',
      inbound: { type: 'image', body: 'a secret picture', more: { id: '4711', sha256: 'secret' } },
      state: 'received',
      v: 0,
      validUntil: idTime(_id),
      tries: 0,
      history: [{ state: 'received', at: idTime(_id) }],
      ...overrides,
    };
    await chat.db.collection<InboundMessageDocument>('messages').insertOne(message);
    return message;
  }
  const idsIn = ({ body }: { readonly body: { readonly data: readonly { readonly message_id: string }[] } }) =>
    body.data.map((one) => one.message_id);

  describe('GET /v2/status/{message_id}', () => {
    it('of a message of ours: the five fields, then those of the channel', async () => {
      const { id, conversation } = await sendTemplate();
      const at = new Date(idTime(id).getTime() + 1_000);
      await change(id, { state: 'read', deliveredAt: at, history: [{ state: 'read', at }] });

      const { status, body } = await chat.get(`/v2/status/${id}`);

      expect(status).to.equal(200);
      const { timeline, delivered_at: deliveredAt, ...rest } = body;
      expect(rest).to.deep.equal({
        message_id: id,
        to: CUSTOMER,
        status: 'read',
        operator: 'chatapp',
        from: NUMBER,
        reference: 'order 7',
        channel: 'chatapp',
        direction: 'out',
        conversation_id: conversation,
      });
      expect(deliveredAt).to.match(/\+00:00$/);
      expect(timeline.map((one: { status: string }) => one.status)).to.deep.equal(['queued', 'read']);
    });

    it('of a customer’s: received, from whom, and nothing that it says', async () => {
      const { _id } = await receive();

      const { body } = await chat.get(`/v2/status/${_id}`);

      const { timeline, ...rest } = body;
      expect(rest).to.deep.equal({
        message_id: _id,
        to: BUSINESS,
        status: 'received',
        delivered_at: null,
        operator: null,
        channel: 'chatapp',
        direction: 'in',
        from: CUSTOMER,
      });
      expect(timeline.map((one: { status: string }) => one.status)).to.deep.equal(['received']);
    });

    it('of another account’s: 404', async () => {
      const { _id } = await receive({ account: newId('acc') });

      expectProblem(await chat.get(`/v2/status/${_id}`), 'message_not_found');
    });
  });

  describe('GET /v2/messages', () => {
    it('has all channels and directions, newest first, and never what was written', async () => {
      const sms = makeMessage({ account: chat.account, text: 'secret' });
      await messages().insertOne(sms);
      const { id, conversation } = await sendTemplate();
      const inbound = await receive({ from: null });

      const { status, body, text } = await chat.get('/v2/messages');

      expect(status).to.equal(200);
      expect(idsIn({ body })).to.deep.equal([inbound._id, id, sms._id]);
      expect(body.data[0]).to.deep.include({ channel: 'chatapp', direction: 'in', from: null, type: 'image' });
      expect(body.data[1]).to.include({ direction: 'out', conversation_id: conversation, type: 'template' });
      expect(body.data[2]).to.include({ channel: 'sms', sender: 'HARKRA' });
      expect(text).not.to.include('secret');
    });

    it('by channel and direction', async () => {
      const sms = makeMessage({ account: chat.account });
      await messages().insertOne(sms);
      const { id } = await sendTemplate();
      const inbound = await receive();

      const rows: readonly [string, readonly string[]][] = [
        ['channel=sms', [sms._id]],
        ['channel=chatapp', [inbound._id, id]],
        ['direction=in', [inbound._id]],
        ['direction=out', [id, sms._id]],
        ['channel=chatapp&direction=out', [id]],
        ['channel=sms&direction=in', []],
        ['state=received', [inbound._id]],
      ];
      for (const [query, expected] of rows) {
        expect(idsIn(await chat.get(`/v2/messages?${query}`)), query).to.deep.equal(expected);
      }
    });

    it('refuses channels and directions that are none', async () => {
      const answer = await chat.get('/v2/messages?channel=whatsapp&direction=up');

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors.map(({ field }: { field: string }) => field)).to.deep.equal(['channel', 'direction']);
    });
  });

  describe('GET /v2/messages/{message_id}', () => {
    const timelineOf = (body: { timeline: { at: string }[] }) => body.timeline.map((one) => ({ ...one, at: '' }));

    it('of the message that opened a conversation: what it cost, where it went, nothing of its text', async () => {
      const { id, conversation } = await sendTemplate();
      const at = new Date(idTime(id).getTime() + 60_000);
      await change(id, {
        state: 'sent',
        claim: { id: newId('clm'), carrier: 'chatapp:3', epoch: 1, at },
        parts: [{ key: chatMessageKey(chat.account, 'wamid.A:B'), state: 'accepted' }],
        history: [{ state: 'sent', at }],
      });

      const { status, body, text } = await chat.get(`/v2/messages/${id}`);

      expect(status).to.equal(200);
      expect(body).to.deep.include({
        channel: 'chatapp',
        direction: 'out',
        conversation_id: conversation,
        type: 'template',
        template: 'order_update',
        language: 'en_US',
        path: 'chatapp',
        tries: 0,
        parts: [{ number: 1, state: 'accepted', carrier_message_id: 'wamid.A:B', error: null }],
      });
      expect(timelineOf(body)).to.deep.equal([
        { at: '', what: 'accepted' },
        { at: '', what: 'template', template: 'order_update', language: 'en_US' },
        { at: '', what: 'paid', credits: 2, ledger_seq: 2, change_id: body.timeline[2].change_id },
        { at: '', what: 'taken' },
        { at: '', what: 'state', status: 'sent' },
      ]);
      expect(body).to.deep.include({ params: ['secret name', 'secret order'], text: null, text_shown: 'whole' });
      expect(text).not.to.include('chatapp:3');
    });

    it('of one that the provider refused: what was given back', async () => {
      const { id, conversation } = await sendTemplate();
      const at = new Date(idTime(id).getTime() + 60_000);
      await change(id, { state: 'failed', errorCode: '131026', history: [{ state: 'failed', at }] });
      const credit = { id: `ref_${conversation}`, amount: 2, reason: 'refund', reference: conversation } as const;
      await applyCredits(chat.db, chat.account, [credit]);

      const { body } = await chat.get(`/v2/messages/${id}`);

      expect(body).to.include({ status: 'failed', error_code: '131026' });
      expect(timelineOf(body)).to.deep.include({
        at: '',
        what: 'refunded',
        credits: 2,
        ledger_seq: 3,
        change_id: `ref_${conversation}`,
      });
    });

    it('of one that the provider did not take at once: what it answered, and nothing of who asked it', async () => {
      const { id } = await sendTemplate();
      const at = new Date(idTime(id).getTime() + 60_000);
      const claimed = { ...makeMessage({ _id: id }), claim: { id: newId('clm'), carrier: 'chatapp:3', epoch: 1, at } };
      const key = chatMessageKey(chat.account, 'wamid.A:B');
      const later = new Date(at.getTime() + 1_000);
      const records = [
        answerRecord(claimed, { kind: 'retry', code: 'provider_unavailable', reason: '(131016) Busy' }, at),
        answerRecord(claimed, { kind: 'sent', parts: [{ key, state: 'accepted' }] }, later),
      ];
      await chat.db.collection('message_log').insertMany(records as never[]);

      const { body, text } = await chat.get(`/v2/messages/${id}`);

      const refusal = { error_code: 'provider_unavailable', error_reason: '(131016) Busy' };
      const part = { number: 1, state: 'accepted', carrier_message_id: 'wamid.A:B', error: null };
      expect(timelineOf(body)).to.include.deep.members([
        { at: '', what: 'answer', outcome: 'retry', ...refusal },
        { at: '', what: 'answer', outcome: 'sent', parts: [part] },
      ]);
      expect(text).not.to.include('chatapp:3');
    });

    it('of one that rode in it: it cost nothing', async () => {
      await sendTemplate();
      const second = await sendTemplate();

      const { body } = await chat.get(`/v2/messages/${second.id}`);

      expect(timelineOf(body).map((one) => Reflect.get(one, 'what'))).to.deep.equal(['accepted', 'template']);
    });

    it('of a text, a file and buttons: their type and words', async () => {
      await chat.customerWrote();
      const sends: readonly [string, string, object][] = [
        ['send-text', 'text', { message: 'a secret' }],
        ['send-media', 'video', { type: 'video', url: 'https://media.example/secret', caption: 'a secret' }],
        ['send-buttons', 'buttons', { body: 'a secret', buttons: [{ id: 'secret', title: 'secret' }] }],
      ];
      for (const [path, type, fields] of sends) {
        const sent = await chat.post(`/v2/chatapp/${path}`, { to: CUSTOMER, ...fields });

        const { body, text } = await chat.get(`/v2/messages/${sent.body.message_id}`);

        expect(body, path).to.include({ type, channel: 'chatapp', text: 'a secret' });
        expect(text, path).not.to.include('https://media.example');
      }
    });

    it('of a customer’s: its type and words, and when it came', async () => {
      const { _id } = await receive();

      const { status, body, text } = await chat.get(`/v2/messages/${_id}`);

      expect(status).to.equal(200);
      expect(body).to.include({
        text: 'a secret picture',
        message_id: _id,
        direction: 'in',
        from: CUSTOMER,
        type: 'image',
        status: 'received',
      });
      expect(body.timeline).to.deep.equal([{ at: body.created_at, what: 'state', status: 'received' }]);
      expect(text).not.to.include('4711');
    });
  });
});
