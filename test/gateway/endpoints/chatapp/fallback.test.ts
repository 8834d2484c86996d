import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/chatapp/send';
const FALLBACK = { channel: 'sms', after_seconds: 60, sender: 'HARKRA', message: 'Your order has left.' };
const GOOD = {
  to: CUSTOMER,
  template: 'order_update',
  language: 'en_US',
  params: ['Asha', '#1234'],
  fallback: FALLBACK,
};

describe('`fallback` of a chat-app send', () => {
  // Two credits for a conversation, one for an SMS.
  const chat = chatAtGateway(3);

  it('is kept with the message and paid for when it goes; a dry run says what it would cost, and 403 that both cannot be paid', async () => {
    await chat.configure();
    const dry = await chat.post(PATH, { ...GOOD, dry_run: true });
    expect(dry.body).to.deep.include({
      credits_required: 2,
      fallback: { credits_required: 1, segments: 1, encoding: 'GSM7', template_id: null },
    });

    const { body, status } = await chat.post(PATH, GOOD);

    expect(status, JSON.stringify(body)).to.equal(200);
    expect(Object.keys(body)).to.deep.equal(['status', 'message_id', 'conversation_id']);
    const stored = await chat.db.collection<ChatMessageDocument>('messages').findOne({ _id: body.message_id });
    expect(stored?.fallback).to.deep.nested.include({ afterSeconds: 60, 'sms.text': FALLBACK.message, 'sms.lane': 1 });
    expect(await chat.balance()).to.equal(1);
    const shown = await chat.get(`/v2/status/${body.message_id}`);
    expect(shown.body.fallback).to.deep.include({ channel: 'sms', after_seconds: 60, state: 'waiting' });
    // One credit is left: enough while the conversation is free, too little for another customer.
    expect((await chat.post(PATH, GOOD)).status).to.equal(200);
    expectProblem(await chat.post(PATH, { ...GOOD, to: '919876543211' }), 'insufficient_credits');
  });

  const later = new Date(Date.now() + 3_600_000).toISOString();
  const rows: readonly [what: string, change: object, fallback: object, errors: readonly string[]][] = [
    [
      'all that is wrong at once',
      {},
      { after_seconds: 9, sender: '!', message: '', x: 1 },
      [
        'fallback.x unknown_field',
        'fallback.after_seconds out_of_range',
        'fallback.sender invalid_sender',
        'fallback.message too_short',
      ],
    ],
    ['neither text nor template', {}, { message: undefined }, ['fallback.message missing_field']],
    ['both', {}, { template_id: '1' }, ['fallback.message conflict']],
    ['params of a text', {}, { params: ['x'] }, ['fallback.params conflict']],
    ['another channel', {}, { channel: 'voice' }, ['fallback.channel invalid_value']],
    [
      'a time that ends behind the validity',
      { valid_until: later },
      { after_seconds: 86_400 },
      ['fallback.after_seconds out_of_range'],
    ],
    ['a customer without a number', { to: 'IN.13491208655302741918' }, {}, ['fallback conflict']],
    [
      'together with what is wrong beside it',
      { params: ['Asha'] },
      { sender: '!' },
      ['params wrong_count', 'fallback.sender invalid_sender'],
    ],
  ];
  for (const [what, change, fallback, errors] of rows) {
    it(`400: ${what}`, async () => {
      await chat.configure();

      const answer = await chat.post(PATH, { ...GOOD, ...change, fallback: { ...FALLBACK, ...fallback } });

      expectProblem(answer, 'invalid_request');
      const told = answer.body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
      expect(told).to.have.members(errors);
      await chat.expectNothingDone(3);
    });
  }

  it('is refused as /v2/send refuses it, by the name of its field', async () => {
    await chat.configure();
    await chat.db
      .collection<AccountDocument>('accounts')
      .updateOne({ _id: chat.account }, { $set: { senders: 'registered' } });

    const answer = await chat.post(PATH, GOOD);

    expectProblem(answer, 'sender_not_allowed');
    expect(answer.body.errors[0].field).to.equal('fallback.sender');
    await chat.expectNothingDone(3);
  });
});
