import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { recordInbound } from '../../../../shared/money/conversations/store.ts';
import { isoTimestamp } from '../../../../shared/platform/runtime/clock.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { NUMBER } from '../../../support/chatapp.ts';
import { expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/chatapp/send-text';
const GOOD = { to: CUSTOMER, message: 'On its way' };
const HOUR_MS = 3_600_000;

describe('POST /v2/chatapp/send-text', () => {
  const chat = chatAtGateway(3);
  const messages = () => chat.db.collection<ChatMessageDocument>('messages').find({ account: chat.account }).toArray();

  describe('200', () => {
    it('inside the session: answers exactly the two fields, stores the message, charges the user’s price once', async () => {
      await chat.configure();
      await chat.customerWrote();

      const { status, body } = await chat.post(PATH, GOOD);
      const second = await chat.post(PATH, { ...GOOD, valid_until: new Date(Date.now() + HOUR_MS).toISOString() });

      expect(status, JSON.stringify(body)).to.equal(200);
      const stored = await messages();
      expect(body).to.deep.equal({ status: 'success', message_id: stored[0]?._id });
      expect(stored[0]).to.deep.include({ to: CUSTOMER, content: { kind: 'text', text: 'On its way' } });
      expect(second.status).to.equal(200);
      expect(await chat.balance()).to.equal(2);
    });

    const texts: readonly [string, string][] = [
      ['the longest', 'a'.repeat(4_096)],
      ['as many emoji, each one character', '😀'.repeat(4_096)],
      ['Hindi, lines and spaces around it', '  नमस्ते\nआपका ऑर्डर  '],
    ];
    for (const [what, message] of texts) {
      it(`takes ${what}`, async () => {
        await chat.configure();
        await chat.customerWrote();

        const { status, body } = await chat.post(PATH, { ...GOOD, message });

        expect(status, JSON.stringify(body)).to.equal(200);
        expect((await messages())[0]?.content).to.deep.equal({ kind: 'text', text: message });
      });
    }

    it('takes the user id of a customer who shows no number, and finds the message by it', async () => {
      const userId = 'US.13491208655302741918';
      await chat.configure();
      await recordInbound(chat.db, [{ account: chat.account, customer: userId, number: NUMBER, at: new Date() }]);

      const { status, body } = await chat.post(PATH, { ...GOOD, to: userId });

      expect(status, JSON.stringify(body)).to.equal(200);
      expect((await messages())[0]).to.include({ to: userId });
      const closed = await chat.post(PATH, { ...GOOD, to: 'US.13491208655302741919' });
      expect(closed.body.code).to.equal('session_closed');
      const list = await chat.get(`/v2/messages?to=${userId}`);
      expect(list.body.data).to.have.lengthOf(1);
      expect(list.body.data[0]).to.include({ message_id: body.message_id, to: userId });
    });

    it('dry_run: costs nothing in a conversation that is paid for', async () => {
      await chat.configure();
      await chat.customerWrote();

      expect((await chat.post(PATH, { ...GOOD, dry_run: true })).body.credits_required).to.equal(1);
      await chat.expectNothingDone(3);
      await chat.post(PATH, GOOD);
      expect((await chat.post(PATH, { ...GOOD, dry_run: true })).body.credits_required).to.equal(0);
    });
  });

  describe('400', () => {
    const rows: readonly [string, object, string, string][] = [
      ['no text', { to: CUSTOMER }, 'message', 'missing_field'],
      ['an empty text', { ...GOOD, message: '' }, 'message', 'too_short'],
      ['a blank text', { ...GOOD, message: ' \n\t ' }, 'message', 'too_short'],
      ['an over-long text', { ...GOOD, message: 'a'.repeat(4_097) }, 'message', 'too_long'],
      ['a text that is null', { ...GOOD, message: null }, 'message', 'wrong_type'],
      ['half an emoji', { ...GOOD, message: 'x\udc00' }, 'message', 'invalid_text'],
      ['the number of the business', { ...GOOD, to: '918000000001' }, 'to', 'invalid_value'],
      ['no recipient', { message: 'x' }, 'to', 'missing_field'],
      ['a sender, which is the other channel’s', { ...GOOD, sender: 'HARKRA' }, 'sender', 'unknown_field'],
      ['a dry run that is a word', { ...GOOD, dry_run: 'yes' }, 'dry_run', 'wrong_type'],
    ];
    for (const [what, body, field, code] of rows) {
      it(`${what}, and nothing is charged`, async () => {
        await chat.configure();
        await chat.customerWrote();

        const answer = await chat.post(PATH, body);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code });
        await chat.expectNothingDone(3);
      });
    }
  });

  describe('403', () => {
    it('the session closed: says when', async () => {
      await chat.configure();
      const wrote = new Date(Date.now() - 25 * HOUR_MS);
      await chat.customerWrote(wrote);

      const answer = await chat.post(PATH, GOOD);

      expectProblem(answer, 'session_closed');
      const closed = isoTimestamp(new Date(wrote.getTime() + 24 * HOUR_MS));
      expect(answer.body.session_closed_at).to.equal(closed);
      expect(answer.body.detail).to.include(closed);
      await chat.expectNothingDone(3);
    });

    it('the conversation has as many messages as the account allows, however many ask at once', async () => {
      await chat.configure();
      await chat.customerWrote();
      await chat.db
        .collection<AccountDocument>('accounts')
        .updateOne({ _id: chat.account }, { $set: { conversationMessages: 4 } });

      const answers = await Promise.all(Array.from({ length: 12 }, () => chat.post(PATH, GOOD)));

      expect(answers.filter(({ status }) => status === 200)).to.have.lengthOf(4);
      const refused = answers.filter(({ status }) => status === 403);
      expect(refused).to.have.lengthOf(8);
      expect(refused[0]?.body).to.include({ code: 'conversation_limit_reached', limit: 'conversation', most: 4 });
      expectProblem(await chat.post(PATH, { ...GOOD, dry_run: true }), 'conversation_limit_reached');
      expect(await messages()).to.have.lengthOf(4);
      expect(await chat.balance()).to.equal(2);
    });

    it('the customer never wrote: there is nothing that closed', async () => {
      await chat.configure();

      const answer = await chat.post(PATH, GOOD);

      expectProblem(answer, 'session_closed');
      expect(answer.body.session_closed_at).to.equal(null);
      expectProblem(await chat.post(PATH, { ...GOOD, dry_run: true }), 'session_closed');
    });

    it('a conversation that is paid for opens no session', async () => {
      await chat.configure();
      await chat.post('/v2/chatapp/send', { to: CUSTOMER, template: 'hello', language: 'en' });

      expectProblem(await chat.post(PATH, GOOD), 'session_closed');
    });

    it('an account without a number', async () => {
      expectProblem(await chat.post(PATH, GOOD), 'chatapp_not_configured');
    });

    it('a suspended account', async () => {
      await chat.configure();
      await chat.customerWrote();
      await chat.db
        .collection<{ _id: string }>('accounts')
        .updateOne({ _id: chat.account }, { $set: { status: 'suspended' } });

      expectProblem(await chat.post(PATH, GOOD), 'account_suspended');
      await chat.expectNothingDone(3);
    });
  });

  it('Idempotency-Key: a message that costs nothing is stored once too', async () => {
    await chat.configure();
    await chat.customerWrote();
    await chat.post(PATH, GOOD);

    const first = await chat.post(PATH, GOOD, 'text-1');
    await chat.db.collection('idempotency').updateMany({}, { $unset: { answer: '' } });
    const again = await chat.post(PATH, GOOD, 'text-1');

    expect(first.status).to.equal(200);
    expect(again.body).to.deep.equal(first.body);
    expect(await messages()).to.have.length(2);
    expectProblem(await chat.post(PATH, { ...GOOD, message: 'x' }, 'text-1'), 'idempotency_key_reused');
  });
});
