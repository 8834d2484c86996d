import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/chatapp/send-buttons';
const YES = { id: 'yes', title: 'Yes' };
const NO = { id: 'no', title: 'No' };
const GOOD = { to: CUSTOMER, body: 'Confirm?', buttons: [YES, NO] };

describe('POST /v2/chatapp/send-buttons', () => {
  const chat = chatAtGateway(3);
  beforeEach(async () => {
    await chat.configure();
    await chat.customerWrote();
  });

  describe('200', () => {
    it('answers exactly the two fields and stores the buttons in order', async () => {
      const { status, body } = await chat.post(PATH, GOOD);

      expect(status, JSON.stringify(body)).to.equal(200);
      const [message] = await chat.db
        .collection<ChatMessageDocument>('messages')
        .find({ account: chat.account })
        .toArray();
      expect(body).to.deep.equal({ status: 'success', message_id: message?._id });
      expect(message?.content).to.deep.equal({ kind: 'buttons', body: 'Confirm?', buttons: [YES, NO] });
    });

    const rows: readonly [string, object][] = [
      ['one button', { ...GOOD, buttons: [YES] }],
      [
        'three with the longest of everything',
        {
          to: CUSTOMER,
          body: 'b'.repeat(1_024),
          buttons: ['1', '2', '3'].map((n) => ({ id: n.repeat(256), title: `${n}${'😀'.repeat(19)}` })),
        },
      ],
      ['an id with a space inside', { ...GOOD, buttons: [{ id: 'a b', title: 'A' }] }],
      ['titles that differ in case', { ...GOOD, buttons: [YES, { id: 'YES', title: 'YES' }] }],
    ];
    for (const [what, body] of rows) {
      it(`takes ${what}`, async () => {
        const answer = await chat.post(PATH, body);

        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      });
    }
  });

  describe('400', () => {
    const button = (overrides: object) => ({ ...GOOD, buttons: [YES, { ...NO, ...overrides }] });
    const rows: readonly [string, object, string, string][] = [
      ['no buttons', { ...GOOD, buttons: undefined }, 'buttons', 'missing_field'],
      ['no entry', { ...GOOD, buttons: [] }, 'buttons', 'wrong_count'],
      [
        'four buttons',
        { ...GOOD, buttons: [YES, NO, { id: '3', title: '3' }, { id: '4', title: '4' }] },
        'buttons',
        'wrong_count',
      ],
      ['an object', { ...GOOD, buttons: { 0: YES } }, 'buttons', 'wrong_type'],
      ['a button that is a word', { ...GOOD, buttons: [YES, 'No'] }, 'buttons[1]', 'wrong_type'],
      ['equal titles', button({ title: 'Yes' }), 'buttons[1].title', 'duplicate'],
      ['equal ids', button({ id: 'yes' }), 'buttons[1].id', 'duplicate'],
      ['no title', button({ title: undefined }), 'buttons[1].title', 'missing_field'],
      ['an empty title', button({ title: '' }), 'buttons[1].title', 'too_short'],
      ['a blank title', button({ title: '   ' }), 'buttons[1].title', 'too_short'],
      ['an over-long title', button({ title: 't'.repeat(21) }), 'buttons[1].title', 'too_long'],
      ['no id', button({ id: undefined }), 'buttons[1].id', 'missing_field'],
      ['an id that is a number', button({ id: 7 }), 'buttons[1].id', 'wrong_type'],
      ['an over-long id', button({ id: 'i'.repeat(257) }), 'buttons[1].id', 'too_long'],
      ['an id with a space before it', button({ id: ' no' }), 'buttons[1].id', 'invalid_value'],
      ['an id with a line break behind it', button({ id: 'no\n' }), 'buttons[1].id', 'invalid_value'],
      ['a member that is none', button({ type: 'reply' }), 'buttons[1].type', 'unknown_field'],
      ['no body', { ...GOOD, body: undefined }, 'body', 'missing_field'],
      ['an empty body', { ...GOOD, body: '' }, 'body', 'too_short'],
      ['an over-long body', { ...GOOD, body: 'b'.repeat(1_025) }, 'body', 'too_long'],
    ];
    for (const [what, body, field, code] of rows) {
      it(`${what}, and nothing is charged`, async () => {
        const answer = await chat.post(PATH, body);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors, JSON.stringify(answer.body.errors)).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code });
        await chat.expectNothingDone(3);
      });
    }

    it('says all that is wrong with all buttons', async () => {
      const buttons = [YES, { id: '', title: 'Yes' }, { id: 'x', title: 'Yes' }, { id: 'y', title: '' }];

      const { body } = await chat.post(PATH, { ...GOOD, buttons });

      expect(body.errors.map(({ field }: { field: string }) => field)).to.have.members([
        'buttons',
        'buttons[1].id',
        'buttons[2].title',
        'buttons[3].title',
      ]);
    });
  });

  it('403: the session closed', async () => {
    expectProblem(await chat.post(PATH, { ...GOOD, to: '919876543299' }), 'session_closed');
    await chat.expectNothingDone(3);
  });
});
