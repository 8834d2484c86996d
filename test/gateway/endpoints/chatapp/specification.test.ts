import { expect } from 'chai';
import request from 'supertest';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';

/** "Endpoints", chat-app channel: path, a good body of the row's fields and no others, and the members of the answer. */
interface Row {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Fields that may be left out (decisions.md, Chat-app). */
  readonly optional: readonly string[];
  readonly answer: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    path: '/v2/chatapp/send',
    body: { to: CUSTOMER, template: 'order_update', language: 'en_US', params: ['Asha', '#1234'] },
    optional: [],
    answer: ['status', 'message_id', 'conversation_id'],
  },
  {
    path: '/v2/chatapp/send-text',
    body: { to: CUSTOMER, message: 'On its way' },
    optional: [],
    answer: ['status', 'message_id'],
  },
  {
    path: '/v2/chatapp/send-media',
    body: { to: CUSTOMER, type: 'document', url: 'https://media.example/invoice.pdf', caption: 'Invoice' },
    optional: ['caption'],
    answer: ['status', 'message_id', 'media_id'],
  },
  {
    path: '/v2/chatapp/send-buttons',
    body: { to: CUSTOMER, body: 'Confirm?', buttons: [{ id: 'yes', title: 'Yes' }] },
    optional: [],
    answer: ['status', 'message_id'],
  },
  {
    path: '/v2/chatapp/webhook',
    body: { url: 'https://shop.example/hooks', events: ['message.received', 'message.read'] },
    optional: [],
    // The row's two members and, only in the answer for a new webhook, its secret.
    answer: ['status', 'webhook_id', 'secret'],
  },
];

/** Values whose type or form is wrong for every field. */
const BAD: readonly unknown[] = [
  { $gt: '' },
  { $ne: null },
  { toString: 'x', length: 2 },
  [{ $gt: '' }],
  [[]],
  null,
  true,
  7,
  1e21,
  '\ud800',
  ' ',
  '',
];

describe('the chat-app channel: the specification’s rows', () => {
  const chat = chatAtGateway(10);
  beforeEach(async () => {
    await chat.configure();
    await chat.customerWrote();
  });

  async function expectNothing(): Promise<void> {
    await chat.expectNothingDone(10);
    expect(await chat.db.collection('endpoints').find({ account: chat.account }).toArray()).to.deep.equal([]);
  }

  for (const { path, body, optional, answer } of ROWS) {
    describe(`POST ${path}`, () => {
      it('takes the row’s fields and answers the row’s members with 200', async () => {
        const { status, body: said } = await chat.post(path, body);

        expect(status, JSON.stringify(said)).to.equal(200);
        expect(Object.keys(said)).to.deep.equal(answer);
        expect(said.status).to.equal('success');
        for (const name of answer) expect(said[name], name).to.be.a('string').and.not.empty;
      });

      for (const field of Object.keys(body)) {
        it(`${field}: ${optional.includes(field) ? 'may be left out' : 'is required'}`, async () => {
          const { [field]: _, ...rest } = body;

          const said = await chat.post(path, rest);

          if (optional.includes(field)) {
            expect(said.status).to.equal(200);
            return;
          }
          expectProblem(said, 'invalid_request');
          expect(said.body.errors.map((one: { field: string }) => one.field)).to.deep.equal([field]);
          await expectNothing();
        });

        it(`${field}: nothing else stands in its place`, async () => {
          for (const value of BAD) {
            const said: request.Response = await chat.post(path, { ...body, [field]: value });

            expect(said.status, JSON.stringify(value)).to.equal(400);
            const fields: readonly string[] = said.body.errors.map((one: { field: string }) => one.field);
            expect(fields, JSON.stringify(value)).to.satisfy((all: readonly string[]) =>
              all.every((one) => one === field || one.startsWith(`${field}[`)),
            );
          }
          await expectNothing();
        });
      }

      it('a field of another row is refused by its name', async () => {
        const said = await chat.post(path, { ...body, sender: 'HARKRA', scheduled_for: 'x' });

        expect(said.body.errors).to.have.length(2);
        for (const { code } of said.body.errors) expect(code).to.equal('unknown_field');
        await expectNothing();
      });

      it('needs a key that may send, and JSON', async () => {
        expect((await chat.post(path, body).set('Authorization', 'Bearer hk_live_x')).status).to.equal(401);
        const plain = request(chat.url).post(path).set('Authorization', `Bearer ${chat.key}`).type('text/plain');
        expectProblem(await plain.send(JSON.stringify(body)), 'unsupported_media_type');
        const reader = await makeKey(chat.db, chat.account, ['read']);
        expectProblem(await chat.post(path, body).set('Authorization', `Bearer ${reader}`), 'scope_missing');
        expectProblem(await chat.get(path), 'method_not_allowed');
        await expectNothing();
      });
    });
  }

  it('GET /v2/chatapp/templates: an array of {name, status, language}', async () => {
    const { body } = await chat.get('/v2/chatapp/templates');

    expect(Object.keys(body)).to.deep.equal(['templates']);
    for (const one of body.templates) expect(Object.keys(one)).to.deep.equal(['name', 'status', 'language']);
  });
});
