import request from 'supertest';
import { addOptIns } from '../../../../shared/carriers/chat-opt-in-store.ts';
import { pauseProvider, stopProvider } from '../../../../shared/carriers/providers/store.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { recordMarketing } from '../../../../shared/money/conversations/conversation.ts';
import { isoTimestamp, systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { ChatTemplateDocument } from '../../../../shared/templates/chat/chat-template.ts';
import { replaceChatTemplates } from '../../../../shared/templates/chat/store.ts';
import { linkCustomers } from '../../../../workers/chatapp/customers.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { copyTemplates, makeChatTemplate, NUMBER, ownerOf } from '../../../support/chatapp.ts';
import { openGateway } from '../../../support/gateway.ts';
import { expectFieldRefusal, expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/chatapp/send';
const GOOD = { to: CUSTOMER, template: 'order_update', language: 'en_US', params: ['Asha', '#1234'] };

describe('POST /v2/chatapp/send', () => {
  const chat = chatAtGateway(10);
  const messages = () => chat.db.collection<ChatMessageDocument>('messages').find({ account: chat.account }).toArray();

  describe('200', () => {
    it('answers exactly the three fields, stores the message and charges the business’s price', async () => {
      await chat.configure();

      const { status, body } = await chat.post(PATH, { ...GOOD, reference: 'order 7' });

      expect(status, JSON.stringify(body)).to.equal(200);
      const [message] = await messages();
      expect(body).to.deep.equal({
        status: 'success',
        message_id: message?._id,
        conversation_id: message?.conversation,
      });
      expect(message).to.deep.include({
        channel: 'chatapp',
        to: CUSTOMER,
        state: 'queued',
        reference: 'order 7',
        content: { kind: 'template', name: 'order_update', language: 'en_US', params: ['Asha', '#1234'] },
      });
      expect(await chat.balance()).to.equal(8);
    });

    it('charges the user’s price when the customer wrote, and nothing for what follows', async () => {
      await chat.configure();
      await chat.customerWrote();

      const first = await chat.post(PATH, GOOD);
      const second = await chat.post(PATH, GOOD);

      expect(second.body.conversation_id).to.equal(first.body.conversation_id);
      expect(await chat.balance()).to.equal(9);
    });

    it('takes a template without variables with no params, or an empty list', async () => {
      await chat.configure();
      const body = { to: CUSTOMER, template: 'hello', language: 'en' };

      for (const one of [body, { ...body, params: [] }]) expect((await chat.post(PATH, one)).status).to.equal(200);
    });

    it('goes to a customer on the opt-in list', async () => {
      await chat.configure({ optIn: 'list' });
      await addOptIns(chat.db, systemClock, chat.account, [CUSTOMER]);

      expect((await chat.post(PATH, GOOD)).status).to.equal(200);
    });

    it('is accepted while the number is paused, and waits', async () => {
      await chat.configure();
      await pauseProvider(chat.db, NUMBER);

      expect((await chat.post(PATH, GOOD)).status).to.equal(200);
    });

    it('dry_run: says what it would take, and does nothing', async () => {
      await chat.configure();

      const { status, body } = await chat.post(PATH, { ...GOOD, dry_run: true });

      expect(status).to.equal(200);
      expect(body).to.deep.equal({ status: 'success', dry_run: true, credits_used: 0, credits_required: 2 });
      await chat.expectNothingDone(10);
    });
  });

  describe('400', () => {
    const rows: readonly [string, object, string, string, RegExp?][] = [
      ['no template', { to: CUSTOMER, language: 'en' }, 'template', 'missing_field'],
      ['no language', { to: CUSTOMER, template: 'hello' }, 'language', 'missing_field'],
      ['an empty name', { ...GOOD, template: '' }, 'template', 'too_short'],
      ['too few params', { ...GOOD, params: ['Asha'] }, 'params', 'wrong_count', /takes 2, in order; 1 are given/],
      ['too many params', { ...GOOD, params: ['a', 'b', 'c'] }, 'params', 'wrong_count', /takes 2, in order; 3/],
      ['no params at all', { ...GOOD, params: undefined }, 'params', 'wrong_count', /takes 2, in order; 0/],
      [
        'params for a template without',
        { to: CUSTOMER, template: 'hello', language: 'en', params: ['x'] },
        'params',
        'wrong_count',
        /takes no params/,
      ],
      ['params that are no list', { ...GOOD, params: 'Asha' }, 'params', 'wrong_type'],
      ['a param that is a number', { ...GOOD, params: ['Asha', 1234] }, 'params[1]', 'wrong_type'],
      ['a param that is an object', { ...GOOD, params: ['Asha', { $ne: 1 }] }, 'params[1]', 'wrong_type'],
      ['an empty param', { ...GOOD, params: ['', 'x'] }, 'params[0]', 'too_short'],
      ['an over-long param', { ...GOOD, params: ['x', 'y'.repeat(1_025)] }, 'params[1]', 'too_long'],
      ['half an emoji', { ...GOOD, params: ['x', '\ud83d'] }, 'params[1]', 'invalid_text'],
      ['a name that is an object', { ...GOOD, template: { $gt: '' } }, 'template', 'wrong_type'],
      ['a number with a plus', { ...GOOD, to: `+${CUSTOMER}` }, 'to', 'invalid_phone'],
      ['a field that is none', { ...GOOD, parms: [] }, 'parms', 'unknown_field', /Did you mean "params"/],
      ['a validity that is over', { ...GOOD, valid_until: '2020-01-01T00:00:00Z' }, 'valid_until', 'out_of_range'],
    ];
    for (const [what, body, field, code, detail] of rows) {
      it(`${what}: ${field}, and nothing is charged`, async () => {
        await chat.configure();

        const answer = await chat.post(PATH, body);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors.map((one: object) => ({ ...one, detail: undefined }))).to.deep.equal([
          { field, code, detail: undefined },
        ]);
        if (detail !== undefined) expect(answer.body.errors[0].detail).to.match(detail);
        await chat.expectNothingDone(10);
      });
    }

    it('says all of it at once', async () => {
      await chat.configure();

      const answer = await chat.post(PATH, { ...GOOD, to: '12', params: [1, 'b', 'c'], reference: '', x: 1 });

      expect(answer.body.errors.map(({ field }: { field: string }) => field)).to.have.members([
        'x',
        'to',
        'params[0]',
        'params',
        'reference',
      ]);
    });

    it('a template that params cannot fill', async () => {
      await chat.configure();
      const picture = makeChatTemplate(chat.account, { name: 'picture', variables: 0, unsendable: 'a media header' });
      await replaceChatTemplates(chat.db, ownerOf(chat.account), [picture]);

      const answer = await chat.post(PATH, { ...GOOD, template: 'picture', params: [] });

      expectFieldRefusal(answer, 'template_not_supported', 'template');
      expect(answer.body.detail).to.include('a media header');
    });
  });

  describe('403', () => {
    it('an account without a number', async () => {
      expectProblem(await chat.post(PATH, GOOD), 'chatapp_not_configured');
      await chat.expectNothingDone(10);
    });

    for (const status of ['pending', 'rejected', 'paused', 'disabled', 'unheard_of']) {
      it(`a template that is ${status}`, async () => {
        await chat.configure();
        await replaceChatTemplates(chat.db, ownerOf(chat.account), [makeChatTemplate(chat.account, { status })]);

        const answer = await chat.post(PATH, GOOD);

        expectFieldRefusal(answer, 'template_not_approved', 'template');
        expect(answer.body.detail).to.include(status);
        await chat.expectNothingDone(10);
      });
    }

    it('a customer who did not opt in, for templates of an account with a list', async () => {
      await chat.configure({ optIn: 'list' });

      expectFieldRefusal(await chat.post(PATH, GOOD), 'recipient_not_opted_in', 'to');
      await chat.expectNothingDone(10);
    });

    it('marketing to a customer who stopped it, under whichever number; other templates go', async () => {
      await chat.configure();
      const alias = '9198765432100';
      const now = new Date();
      await linkCustomers(chat.db, [{ account: chat.account, names: [CUSTOMER, alias] }], now);
      const wish = { account: chat.account, customer: alias, at: new Date(now.getTime() - 1_000) };
      await recordMarketing(chat.db, [{ ...wish, stopped: true }]);
      await recordMarketing(chat.db, [{ ...wish, stopped: false, at: new Date(now.getTime() - 2_000) }]);
      await chat.db
        .collection<ChatTemplateDocument>('chat_templates')
        .updateOne({ account: chat.account, name: 'order_update' }, { $set: { category: 'marketing' } });

      expectFieldRefusal(await chat.post(PATH, GOOD), 'marketing_opted_out', 'to');
      await chat.expectNothingDone(10);
      const { body } = await chat.get('/v2/account/marketing-stops');
      expect(body.data).to.deep.equal([{ customer: alias, since: isoTimestamp(wish.at) }]);
      expect((await chat.post(PATH, { to: CUSTOMER, template: 'hello', language: 'en' })).status).to.equal(200);

      await recordMarketing(chat.db, [{ ...wish, customer: CUSTOMER, stopped: false, at: now }]);
      expect((await chat.post(PATH, GOOD)).status).to.equal(200);
    });

    it('not enough credits for a conversation', async () => {
      await chat.configure();
      for (let i = 0; i < 5; i++) await chat.post(PATH, { ...GOOD, to: `91987654330${i}` });

      const answer = await chat.post(PATH, GOOD);

      expectProblem(answer, 'insufficient_credits');
      expect(answer.body.detail).to.include('2 credits').and.include('is 0');
      expectProblem(await chat.post(PATH, { ...GOOD, dry_run: true }), 'insufficient_credits');
    });
  });

  describe('404', () => {
    const rows: readonly [string, object, string][] = [
      ['a name that is none', { ...GOOD, template: 'order_updates' }, 'template'],
      ['another language', { ...GOOD, language: 'hi' }, 'language'],
    ];
    for (const [what, body, field] of rows) {
      it(what, async () => {
        await chat.configure();

        const answer = await chat.post(PATH, body);

        expectFieldRefusal(answer, 'template_not_found', field);
        await chat.expectNothingDone(10);
      });
    }

    it('names the languages that the template is there in', async () => {
      await chat.configure();

      const { body } = await chat.post(PATH, { ...GOOD, language: 'hi' });

      expect(body.detail).to.include('It has it in en_US.');
    });
  });

  describe('503', () => {
    it('the provider stopped the account', async () => {
      await chat.configure();
      await stopProvider(chat.db, NUMBER, '190: the access token has expired');

      const answer = await chat.post(PATH, GOOD);

      expectProblem(answer, 'chatapp_stopped');
      expect(answer.headers['retry-after']).to.equal('60');
      expect(JSON.stringify(answer.body)).not.to.include('token');
      await chat.expectNothingDone(10);
    });

    it('says what the account itself can put right, without the words of the provider', async () => {
      await chat.configure();
      await stopProvider(chat.db, NUMBER, 'provider_payment_problem: (131042) Card 4242 declined');

      const answer = await chat.post(PATH, GOOD);

      expectProblem(answer, 'chatapp_stopped');
      expect(answer.body.detail).to.include('Correct the means of payment at the provider.');
      expect(answer.body.detail).to.include('by themselves when that is solved');
      expect(answer.body.detail).not.to.match(/131042|4242/);
    });
  });

  it('the host of a header’s file: looked up as for send-media, and said of which position', async () => {
    await chat.configure();
    const components = [{ type: 'HEADER', format: 'IMAGE' }];
    await copyTemplates(chat.db, chat.account, [{ name: 'n', status: 'APPROVED', language: 'en', components }]);
    const gateway = await openGateway(chat.db, { resolveHost: async () => ['93.184.215.14', '10.0.0.7'] });
    const body = { to: CUSTOMER, template: 'n', language: 'en', params: ['https://inside.example/a.jpg'] };

    for (const dry of [false, true]) {
      const asked = request(gateway.url).post(PATH).set('Authorization', `Bearer ${chat.key}`);
      const answer = await asked.send({ ...body, dry_run: dry });

      expectProblem(answer, 'url_not_allowed');
      expect(answer.body.detail).to.match(
        /^params\[0\]: This is the https address of the image in the header\. .*private/,
      );
    }
    await gateway.close();
    await chat.expectNothingDone(10);
  });

  describe('Idempotency-Key', () => {
    it('is answered the same, and charged and stored once', async () => {
      await chat.configure();

      const asked = await Promise.all(Array.from({ length: 4 }, () => chat.post(PATH, GOOD, 'order-7')));
      const again = await chat.post(PATH, GOOD, 'order-7');

      expect(again.headers['idempotency-replayed']).to.equal('true');
      for (const { status } of asked) expect(status).to.be.oneOf([200, 409]);
      const answers = [...asked, again].filter(({ status }) => status === 200);
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      expect(await messages()).to.have.length(1);
      expect(await chat.balance()).to.equal(8);
    });

    it('of a process that died after it paid: the same answer, from what is stored', async () => {
      await chat.configure();
      const first = await chat.post(PATH, GOOD, 'order-8');
      await chat.db.collection('idempotency').updateMany({}, { $unset: { answer: '' } });

      const again = await chat.post(PATH, GOOD, 'order-8');

      expect(again.status).to.equal(200);
      expect(again.body).to.deep.equal(first.body);
      expect(await messages()).to.have.length(1);
    });

    it('what was refused leaves it free', async () => {
      await chat.configure();

      expectProblem(await chat.post(PATH, { ...GOOD, template: 'none' }, 'order-9'), 'template_not_found');
      expect((await chat.post(PATH, GOOD, 'order-9')).status).to.equal(200);
    });
  });
});
