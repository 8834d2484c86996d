import assert from 'node:assert/strict';
import { expect } from 'chai';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { sendPayload } from '../../../../workers/chatapp/provider/payload.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { copyTemplates } from '../../../support/chatapp.ts';

const BODY = { type: 'BODY', text: 'Hi {{1}}, order {{2}} has left.' };
const BODY_SENT = '{"type":"body","parameters":[{"type":"text","text":"Asha"},{"type":"text","text":"#1234"}]}';
const OTP_URL = 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}';

interface Case {
  readonly what: string;
  /** The template as the provider lists it (WhatsApp, "Message templates"). */
  readonly listed: Readonly<Record<string, unknown>>;
  /** The request, without `to`, `template` and `language`. */
  readonly request: object;
  /** The documented JSON of `components` (WhatsApp, "Template components"); undefined: there are none. */
  readonly sent: string | undefined;
}

const buttons = (...all: readonly object[]) => ({ type: 'BUTTONS', buttons: all });
const onlyButtons = (...all: readonly object[]) => ({ components: [{ type: 'BODY', text: 'Hi' }, buttons(...all)] });
const onlyHeader = (header: object) => ({
  components: [
    { type: 'HEADER', ...header },
    { type: 'BODY', text: 'Hi' },
  ],
});
const code = (button: object) => ({
  category: 'AUTHENTICATION',
  components: [{ type: 'BODY', text: '*{{1}}* is your code.' }, buttons(button)],
});
const CODE_SENT =
  '{"type":"body","parameters":[{"type":"text","text":"482913"}]},{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"482913"}]}';

const CASES: readonly Case[] = [
  {
    what: 'a body with numbered variables',
    listed: { components: [BODY] },
    request: { params: ['Asha', '#1234'] },
    sent: BODY_SENT,
  },
  {
    what: 'a body whose variables stand in another order than their numbers, one of them twice',
    listed: { components: [{ type: 'BODY', text: '{{2}} for {{1}}. Thanks, {{1}}!' }] },
    request: { params: ['Asha', '#1234'] },
    sent: BODY_SENT,
  },
  {
    what: 'named variables, in the order in which they stand',
    listed: {
      parameter_format: 'NAMED',
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Our {{sale_name}} is on!' },
        { type: 'BODY', text: 'Hi {{first_name}}, take {{percent}} off.' },
      ],
    },
    request: { params: ['Summer Sale', 'Asha', '25'] },
    sent: '{"type":"header","parameters":[{"type":"text","parameter_name":"sale_name","text":"Summer Sale"}]},{"type":"body","parameters":[{"type":"text","parameter_name":"first_name","text":"Asha"},{"type":"text","parameter_name":"percent","text":"25"}]}',
  },
  {
    what: 'a header without variables, a footer and buttons that take nothing',
    listed: {
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'News' },
        { type: 'BODY', text: 'Hi' },
        { type: 'FOOTER', text: 'Reply STOP to opt out' },
        buttons(
          { type: 'QUICK_REPLY', text: 'Stop' },
          { type: 'URL', text: 'Shop', url: 'https://x.example/' },
          { type: 'PHONE_NUMBER', text: 'Call', phone_number: '15550051310' },
          { type: 'CATALOG', text: 'View catalog' },
        ),
      ],
    },
    request: {},
    sent: undefined,
  },
  {
    what: 'a text header with a variable',
    listed: { components: [{ type: 'HEADER', format: 'TEXT', text: 'Our {{1}} is on!' }, BODY] },
    request: { params: ['Summer Sale', 'Asha', '#1234'] },
    sent: `{"type":"header","parameters":[{"type":"text","text":"Summer Sale"}]},${BODY_SENT}`,
  },
  {
    what: 'an image in the header',
    listed: { components: [{ type: 'HEADER', format: 'IMAGE' }, BODY] },
    request: { params: ['https://93.184.216.34/a.jpg', 'Asha', '#1234'] },
    sent: `{"type":"header","parameters":[{"type":"image","image":{"link":"https://93.184.216.34/a.jpg"}}]},${BODY_SENT}`,
  },
  {
    what: 'an image by header.url',
    listed: { components: [{ type: 'HEADER', format: 'IMAGE' }, BODY] },
    request: { params: ['Asha', '#1234'], header: { url: 'https://93.184.216.34/a.png' } },
    sent: `{"type":"header","parameters":[{"type":"image","image":{"link":"https://93.184.216.34/a.png"}}]},${BODY_SENT}`,
  },
  {
    what: 'a video',
    listed: onlyHeader({ format: 'VIDEO' }),
    request: { params: ['https://93.184.216.34/a.mp4'] },
    sent: '{"type":"header","parameters":[{"type":"video","video":{"link":"https://93.184.216.34/a.mp4"}}]}',
  },
  {
    what: 'a document, with a file name',
    listed: onlyHeader({ format: 'DOCUMENT' }),
    request: { header: { url: 'https://93.184.216.34/4711', filename: 'invoice.pdf' } },
    sent: '{"type":"header","parameters":[{"type":"document","document":{"link":"https://93.184.216.34/4711","filename":"invoice.pdf"}}]}',
  },
  {
    what: 'a document in params, with a file name',
    listed: onlyHeader({ format: 'DOCUMENT' }),
    request: { params: ['https://93.184.216.34/4711'], header: { filename: 'invoice.pdf' } },
    sent: '{"type":"header","parameters":[{"type":"document","document":{"link":"https://93.184.216.34/4711","filename":"invoice.pdf"}}]}',
  },
  {
    what: 'a document, named by its address',
    listed: onlyHeader({ format: 'DOCUMENT' }),
    request: { params: ['https://93.184.216.34/x/may.pdf?v=1'] },
    sent: '{"type":"header","parameters":[{"type":"document","document":{"link":"https://93.184.216.34/x/may.pdf?v=1","filename":"may.pdf"}}]}',
  },
  {
    what: 'a document without any name',
    listed: onlyHeader({ format: 'DOCUMENT' }),
    request: { params: ['https://93.184.216.34/4711'] },
    sent: '{"type":"header","parameters":[{"type":"document","document":{"link":"https://93.184.216.34/4711","filename":"document.pdf"}}]}',
  },
  {
    what: 'a location',
    listed: { components: [{ type: 'HEADER', format: 'LOCATION' }, BODY] },
    request: {
      params: ['Asha', '#1234'],
      header: { latitude: 37.44, longitude: -122.16, name: 'Philz', address: '101 Forest Ave' },
    },
    sent: `{"type":"header","parameters":[{"type":"location","location":{"latitude":"37.44","longitude":"-122.16","name":"Philz","address":"101 Forest Ave"}}]},${BODY_SENT}`,
  },
  {
    what: 'quick replies with payloads, between other buttons',
    listed: onlyButtons(
      { type: 'URL', text: 'Shop', url: 'https://x.example/' },
      { type: 'QUICK_REPLY', text: 'Yes' },
      { type: 'QUICK_REPLY', text: 'No' },
    ),
    request: { buttons: [{ payload: 'YES-42' }, { payload: 'NO-42' }] },
    sent: '{"type":"button","sub_type":"quick_reply","index":"1","parameters":[{"type":"payload","payload":"YES-42"}]},{"type":"button","sub_type":"quick_reply","index":"2","parameters":[{"type":"payload","payload":"NO-42"}]}',
  },
  {
    what: 'a url suffix, encoded as the provider wants it',
    listed: onlyButtons({ type: 'URL', text: 'Track', url: 'https://x.example/t/{{1}}' }),
    request: { params: ['a b/č?x=1%20'] },
    sent: '{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"a%20b/%C4%8D?x=1%20"}]}',
  },
  {
    what: 'a code to copy',
    listed: onlyButtons(
      { type: 'QUICK_REPLY', text: 'Stop' },
      { type: 'URL', text: 'Shop', url: 'https://x.example/' },
      { type: 'COPY_CODE', text: 'Copy offer code', example: '25OFF' },
    ),
    request: { params: ['25OFF'] },
    sent: '{"type":"button","sub_type":"copy_code","index":"2","parameters":[{"type":"coupon_code","coupon_code":"25OFF"}]}',
  },
  {
    what: 'a flow',
    listed: onlyButtons({ type: 'FLOW', text: 'Sign up', flow_id: '123' }),
    request: {},
    sent: '{"type":"button","sub_type":"flow","index":"0","parameters":[{"type":"action","action":{"flow_token":"unused"}}]}',
  },
  {
    what: 'a one-time password, listed as url',
    listed: code({ type: 'URL', text: 'Copy code', url: OTP_URL }),
    request: { params: ['482913'] },
    sent: CODE_SENT,
  },
  {
    what: 'a one-time password, one tap',
    listed: code({ type: 'OTP', otp_type: 'ONE_TAP', text: 'Copy code', autofill_text: 'Autofill' }),
    request: { params: ['482913'] },
    sent: CODE_SENT,
  },
  {
    what: 'everything at once',
    listed: {
      components: [
        { type: 'HEADER', format: 'IMAGE' },
        { type: 'BODY', text: '{{1}} {{2}} {{1}}' },
        buttons(
          { type: 'QUICK_REPLY', text: 'Yes' },
          { type: 'URL', text: 'Track', url: 'https://x/{{1}}' },
          { type: 'PHONE_NUMBER', text: 'Call', phone_number: '1' },
          { type: 'COPY_CODE', text: 'Copy' },
        ),
      ],
    },
    request: {
      params: ['https://93.184.216.34/a.jpg', 'Asha', '#1234', 'order/123', '25OFF'],
      buttons: [{ payload: 'YES-42' }],
    },
    sent: `{"type":"header","parameters":[{"type":"image","image":{"link":"https://93.184.216.34/a.jpg"}}]},${BODY_SENT},{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"payload","payload":"YES-42"}]},{"type":"button","sub_type":"url","index":"1","parameters":[{"type":"text","text":"order/123"}]},{"type":"button","sub_type":"copy_code","index":"3","parameters":[{"type":"coupon_code","coupon_code":"25OFF"}]}`,
  },
];

describe('POST /v2/chatapp/send: from the listed template to the bytes for the provider', () => {
  const chat = chatAtGateway(10);

  for (const { what, listed, request, sent } of CASES) {
    it(what, async () => {
      await chat.configure();
      const entry = { name: 'n', status: 'APPROVED', category: 'UTILITY', language: 'en_US', ...listed };
      await copyTemplates(chat.db, chat.account, [entry]);

      const body = { to: CUSTOMER, template: 'n', language: 'en_US', ...request };
      const dry = await chat.post('/v2/chatapp/send', { ...body, dry_run: true });
      const answer = await chat.post('/v2/chatapp/send', body);

      expect(dry.body).to.include({ status: 'success', dry_run: true });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      const message = await chat.db.collection<ChatMessageDocument>('messages').findOne({ account: chat.account });
      assert(message !== null);
      const components = sent === undefined ? '' : `,"components":[${sent}]`;
      expect(sendPayload(message).toString()).to.equal(
        `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+${CUSTOMER}","type":"template","template":{"name":"n","language":{"code":"en_US","policy":"deterministic"}${components}},"biz_opaque_callback_data":"${message._id}"}`,
      );
    });
  }

  it('shows nothing of the values in lists and states', async () => {
    await chat.configure();
    const components = [BODY, buttons({ type: 'COPY_CODE', text: 'Copy' })];
    await copyTemplates(chat.db, chat.account, [{ name: 'n', status: 'APPROVED', language: 'en', components }]);
    const body = { to: CUSTOMER, template: 'n', language: 'en', params: ['Asha', '#1234', 'SECRET25'] };

    const { body: sent } = await chat.post('/v2/chatapp/send', body);

    for (const path of ['/v2/messages', `/v2/status/${sent.message_id}`]) {
      const { status, text } = await chat.get(path);
      expect(status).to.equal(200);
      expect(text).not.to.match(/SECRET25|Asha/);
    }
  });
});
