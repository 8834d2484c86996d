import { createKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { ChatTemplateDocument } from '../../../../shared/templates/chat/chat-template.ts';
import { linkCustomers } from '../../../../workers/chatapp/customers.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { copyTemplates } from '../../../support/chatapp.ts';
import { expectProblem } from '../../../support/problem.ts';

const IMAGE = 'https://93.184.216.34/a.jpg';
const body = (text: string) => ({ type: 'BODY', text });
const buttons = (...all: readonly object[]) => ({ type: 'BUTTONS', buttons: all });

/** The provider's components by template name. */
const LISTED: Readonly<Record<string, readonly object[]>> = {
  shipped: [
    { type: 'HEADER', format: 'IMAGE' },
    body('Hi {{1}}'),
    buttons(
      { type: 'QUICK_REPLY', text: 'Yes' },
      { type: 'QUICK_REPLY', text: 'No' },
      { type: 'URL', text: 'Track', url: 'https://x.example/{{1}}' },
    ),
  ],
  invoice: [{ type: 'HEADER', format: 'DOCUMENT' }, body('Hi')],
  visit: [{ type: 'HEADER', format: 'LOCATION' }, body('Hi')],
  sale: [{ type: 'HEADER', format: 'TEXT', text: 'Our {{1}} is on' }, body('Hi {{1}}')],
  coupon: [body('Hi'), buttons({ type: 'COPY_CODE', text: 'Copy' })],
  code: [body('{{1}} is your code'), buttons({ type: 'OTP', text: 'Copy code' })],
  plain: [body(`${'x'.repeat(1_000)} {{1}} {{2}}`)],
  pay: [body('Hi {{1}}'), { type: 'ORDER_DETAILS' }],
};
const PLACE = { latitude: 12.9, longitude: 77.6, name: 'Shop', address: 'MG Road' };

type Row = readonly [what: string, template: string, request: object, field: string, code: string, detail: RegExp];

const ROWS: readonly Row[] = [
  [
    'too few params, and says what each is',
    'shipped',
    { params: [IMAGE, 'Asha'] },
    'params',
    'wrong_count',
    /^The template takes 3, in order; 2 are given\. params\[0\]: the https address of the image in the header; params\[1\]: body \{\{1\}\}; params\[2\]: the url suffix of button 2 \("Track"\)\.$/,
  ],
  [
    'the address both in params and in header',
    'shipped',
    { params: [IMAGE, 'Asha', 'x'], header: { url: IMAGE } },
    'params',
    'wrong_count',
    /takes 2, in order; 3 are given\. params\[0\]: body/,
  ],
  [
    'text in place of an address',
    'shipped',
    { params: ['Asha', 'a', 'b'] },
    'params[0]',
    'url_not_allowed',
    /^This is the https address of the image in the header\. /,
  ],
  [
    'an address without TLS',
    'shipped',
    { params: ['http://93.184.216.34/a.jpg', 'a', 'b'] },
    'params[0]',
    'url_not_allowed',
    /https/,
  ],
  [
    'a private address',
    'shipped',
    { params: ['a', 'b'], header: { url: 'https://10.0.0.1/a.jpg' } },
    'header.url',
    'url_not_allowed',
    /private/,
  ],
  [
    'a file of another kind',
    'shipped',
    { params: ['https://93.184.216.34/a.mp4', 'a', 'b'] },
    'params[0]',
    'unsupported_media_type',
    /"image" takes \.jpg/,
  ],
  [
    'a file name for an image',
    'shipped',
    { params: [IMAGE, 'a', 'b'], header: { filename: 'a.jpg' } },
    'header.filename',
    'conflict',
    /an image in its header, which takes `url` only/,
  ],
  [
    'one payload for two quick replies',
    'shipped',
    { params: [IMAGE, 'a', 'b'], buttons: [{ payload: 'Y' }] },
    'buttons',
    'wrong_count',
    /2 quick replies, in order "Yes", "No"; 1 payloads are given/,
  ],
  [
    'a payload that is too long',
    'shipped',
    { params: [IMAGE, 'a', 'b'], buttons: [{ payload: 'x'.repeat(129) }, { payload: 'N' }] },
    'buttons[0].payload',
    'too_long',
    /128/,
  ],
  [
    'a button with an id',
    'shipped',
    { params: [IMAGE, 'a', 'b'], buttons: [{ payload: 'Y', id: '1' }, { payload: 'N' }] },
    'buttons[0].id',
    'unknown_field',
    /payload/,
  ],
  [
    'a line break in a suffix',
    'shipped',
    { params: [IMAGE, 'a', 'b\nc'] },
    'params[2]',
    'invalid_text',
    /^This is the url suffix of button 2 \("Track"\)\. .*line breaks/,
  ],
  [
    'a suffix that makes the address too long',
    'shipped',
    { params: [IMAGE, 'a', 'é'.repeat(332)] },
    'params[2]',
    'too_long',
    /address of button 2 has 2\d{3} characters; at most 2000/,
  ],
  [
    'a location for a document',
    'invoice',
    { params: ['https://93.184.216.34/a.pdf'], header: { latitude: 1 } },
    'header.latitude',
    'conflict',
    /a document in its header/,
  ],
  [
    'an empty file name',
    'invoice',
    { params: ['https://93.184.216.34/a.pdf'], header: { filename: '' } },
    'header.filename',
    'too_short',
    /./,
  ],
  [
    'no location',
    'visit',
    {},
    'header',
    'missing_field',
    /location in its header: give `latitude`, `longitude`, `name`, `address`/,
  ],
  [
    'half a location',
    'visit',
    { header: { ...PLACE, address: undefined } },
    'header.address',
    'missing_field',
    /needs/,
  ],
  ['degrees as text', 'visit', { header: { ...PLACE, latitude: '12.9' } }, 'header.latitude', 'wrong_type', /number/],
  [
    'degrees beyond the pole',
    'visit',
    { header: { ...PLACE, latitude: 91 } },
    'header.latitude',
    'out_of_range',
    /-90 to 90/,
  ],
  ['an address for a location', 'visit', { header: { ...PLACE, url: IMAGE } }, 'header.url', 'conflict', /location/],
  [
    'a header for a text',
    'sale',
    { params: ['a', 'b'], header: { url: IMAGE } },
    'header',
    'conflict',
    /a text in its header\. Leave `header` out/,
  ],
  [
    'a header for a template without',
    'coupon',
    { params: ['A1'], header: { filename: 'a' } },
    'header',
    'conflict',
    /no header/,
  ],
  [
    'payloads without quick replies',
    'coupon',
    { params: ['A1'], buttons: [{ payload: 'x' }] },
    'buttons',
    'conflict',
    /no quick replies/,
  ],
  [
    'a header text that becomes too long',
    'sale',
    { params: ['x'.repeat(51), 'b'] },
    'params[0]',
    'too_long',
    /header has 61 characters; at most 60/,
  ],
  ['a value with a tab', 'sale', { params: ['a', 'b\tc'] }, 'params[1]', 'invalid_text', /^This is body \{\{1\}\}\. /],
  ['five spaces', 'sale', { params: ['a', 'b     c'] }, 'params[1]', 'invalid_text', /4 spaces/],
  [
    'a coupon with a sign',
    'coupon',
    { params: ['25-OFF'] },
    'params[0]',
    'invalid_text',
    /^This is the code that button 0 \("Copy"\) copies/,
  ],
  ['a coupon of 16', 'coupon', { params: ['A'.repeat(16)] }, 'params[0]', 'too_long', /at most 15/],
  ['a password of 16', 'code', { params: ['1'.repeat(16)] }, 'params[0]', 'too_long', /^This is the one-time password/],
  ['a password with an emoji', 'code', { params: ['12🔒'] }, 'params[0]', 'invalid_text', /emojis/],
  [
    'a password given twice',
    'code',
    { params: ['123', '123'] },
    'params',
    'wrong_count',
    /takes 1, in order; 2 are given/,
  ],
  [
    'a body that becomes too long',
    'plain',
    { params: ['x'.repeat(12), 'x'.repeat(12)] },
    'params',
    'too_long',
    /With them the body has 1026 characters; at most 1024/,
  ],
];

describe('POST /v2/chatapp/send: what a template does not take', () => {
  const chat = chatAtGateway(10);
  beforeEach(async () => {
    await chat.configure();
    const listed = Object.entries(LISTED).map(([name, components]) => {
      return { name, status: 'APPROVED', category: 'UTILITY', language: 'en_US', components };
    });
    await copyTemplates(chat.db, chat.account, listed);
  });

  const send = (template: string, request: object) =>
    chat.post('/v2/chatapp/send', { to: CUSTOMER, template, language: 'en_US', ...request });

  for (const [what, template, request, field, code, detail] of ROWS) {
    it(`${what}: ${field}, and nothing is charged`, async () => {
      for (const dry of [{}, { dry_run: true }]) {
        const answer = await send(template, { ...request, ...dry });

        expectProblem(answer, code === 'url_not_allowed' ? code : 'invalid_request');
        const errors: readonly { field: string; code: string; detail: string }[] = answer.body.errors;
        expect(errors.map((one) => [one.field, one.code])).to.deep.equal([[field, code]]);
        expect(errors[0]?.detail).to.match(detail);
      }
      await chat.expectNothingDone(10);
    });
  }

  it('a code to a user id: the number if it is known, and never to a test key', async () => {
    const id = 'IN.91xY1c5hQSPGmVzrQ2LEp8';
    await linkCustomers(chat.db, [{ account: chat.account, names: [CUSTOMER, id] }], new Date());
    const templates = chat.db.collection<ChatTemplateDocument>('chat_templates');
    await templates.updateOne({ account: chat.account, name: 'code' }, { $set: { category: 'authentication' } });
    const key = { account: chat.account, name: 'test', scopes: ['send'], test: true } as const;
    const { key: testKey } = await createKey(chat.db, systemClock, key);
    const asked = { to: id, template: 'code', language: 'en_US', params: ['123'] };

    const live = await chat.post('/v2/chatapp/send', asked);
    const tested = await chat.post('/v2/chatapp/send', asked).set('Authorization', `Bearer ${testKey}`);

    for (const answer of [live, tested]) {
      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors[0]).to.include({ field: 'to', code: 'number_needed' });
    }
    expect(live.body.errors[0].detail).to.include(CUSTOMER);
    expect(JSON.stringify(tested.body)).not.to.include(CUSTOMER);
    await chat.expectNothingDone(10);
  });

  it('a template that cannot be sent: what it has, whatever the params are', async () => {
    for (const params of [[], ['Asha'], ['a', 'b', 'c']]) {
      const answer = await send('pay', { params });

      expectProblem(answer, 'template_not_supported');
      expect(answer.body.detail).to.equal(
        'The template "pay" has a component of type order_details, which cannot be sent. Use a template without it.',
      );
    }
    await chat.expectNothingDone(10);
  });
});
