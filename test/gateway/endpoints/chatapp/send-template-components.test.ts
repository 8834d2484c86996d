import assert from 'node:assert/strict';
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
  /** The documented JSON of `components` (WhatsApp, "Template components"), if there are any. */
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

const MEDIA_CARD = {
  components: [
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: 'Take {{1}} off.' },
    buttons(
      { type: 'QUICK_REPLY', text: 'Send more like this' },
      { type: 'URL', text: 'Shop', url: 'https://a.example/{{1}}' },
    ),
  ],
};
const PRODUCT_CARD = { components: [{ type: 'HEADER', format: 'PRODUCT' }, buttons({ type: 'SPM', text: 'View' })] };

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
    what: 'a limited-time offer ("Limited-time offer templates")',
    listed: {
      components: [
        { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Expiring offer!', has_expiration: true } },
        BODY,
        buttons({ type: 'COPY_CODE' }, { type: 'URL', text: 'Book now!', url: 'https://a.example/offers?code={{1}}' }),
      ],
    },
    request: { params: ['Asha', '#1234', 'CARIBE25', 'n3mtql'], offer_expires_at: '2099-01-01T05:30:00+05:30' },
    sent: `${BODY_SENT},{"type":"limited_time_offer","parameters":[{"type":"limited_time_offer","limited_time_offer":{"expiration_time_ms":4070908800000}}]},{"type":"button","sub_type":"copy_code","index":"0","parameters":[{"type":"coupon_code","coupon_code":"CARIBE25"}]},{"type":"button","sub_type":"url","index":"1","parameters":[{"type":"text","text":"n3mtql"}]}`,
  },
  {
    what: 'an offer that does not end',
    listed: {
      components: [{ type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Offer', has_expiration: false } }, BODY],
    },
    request: { params: ['Asha', '#1234'] },
    sent: BODY_SENT,
  },
  {
    what: 'a carousel of files ("Media card carousel templates")',
    listed: { components: [BODY, { type: 'CAROUSEL', cards: [MEDIA_CARD, MEDIA_CARD] }] },
    request: {
      params: ['Asha', '#1234'],
      cards: [
        { params: ['https://93.184.216.34/1.jpg', '10OFF', 'lilies'], buttons: [{ payload: 'more-lilies' }] },
        { params: ['https://93.184.216.34/2.jpg', '20OFF', 'roses'] },
      ],
    },
    sent: `${BODY_SENT},{"type":"carousel","cards":[{"card_index":0,"components":[{"type":"header","parameters":[{"type":"image","image":{"link":"https://93.184.216.34/1.jpg"}}]},{"type":"body","parameters":[{"type":"text","text":"10OFF"}]},{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"payload","payload":"more-lilies"}]},{"type":"button","sub_type":"url","index":"1","parameters":[{"type":"text","text":"lilies"}]}]},{"card_index":1,"components":[{"type":"header","parameters":[{"type":"image","image":{"link":"https://93.184.216.34/2.jpg"}}]},{"type":"body","parameters":[{"type":"text","text":"20OFF"}]},{"type":"button","sub_type":"url","index":"1","parameters":[{"type":"text","text":"roses"}]}]}]}`,
  },
  {
    what: 'a carousel of products ("Product card carousel templates")',
    listed: { components: [BODY, { type: 'CAROUSEL', cards: [PRODUCT_CARD, PRODUCT_CARD] }] },
    request: {
      params: ['Asha', '#1234'],
      products: { catalog_id: '194836987003835' },
      cards: [{ product_id: 'p7gqk7x9ys' }, { product_id: 'nqryix03ez' }],
    },
    sent: `${BODY_SENT},{"type":"carousel","cards":[{"card_index":0,"components":[{"type":"header","parameters":[{"type":"product","product":{"product_retailer_id":"p7gqk7x9ys","catalog_id":"194836987003835"}}]}]},{"card_index":1,"components":[{"type":"header","parameters":[{"type":"product","product":{"product_retailer_id":"nqryix03ez","catalog_id":"194836987003835"}}]}]}]}`,
  },
  {
    what: 'one product ("Single-product message templates")',
    listed: { components: [{ type: 'HEADER', format: 'PRODUCT' }, BODY, buttons({ type: 'SPM', text: 'View' })] },
    request: { params: ['Asha', '#1234'], products: { catalog_id: '194836987003835', product_id: 'nqryix03ez' } },
    sent: `{"type":"header","parameters":[{"type":"product","product":{"product_retailer_id":"nqryix03ez","catalog_id":"194836987003835"}}]},${BODY_SENT}`,
  },
  {
    what: 'several products ("Multi-product message templates")',
    listed: { components: [BODY, buttons({ type: 'MPM', text: 'View items' })] },
    request: {
      params: ['Asha', '#1234'],
      products: {
        product_id: '2lc20305pt',
        sections: [{ title: 'Popular Bundles', product_ids: ['2lc20305pt', 'nseiw1x3ch'] }],
      },
    },
    sent: `${BODY_SENT},{"type":"button","sub_type":"mpm","index":"0","parameters":[{"type":"action","action":{"thumbnail_product_retailer_id":"2lc20305pt","sections":[{"title":"Popular Bundles","product_items":[{"product_retailer_id":"2lc20305pt"},{"product_retailer_id":"nseiw1x3ch"}]}]}}]}`,
  },
  {
    what: 'a catalog with the picture of a product ("Catalog templates")',
    listed: { components: [BODY, buttons({ type: 'CATALOG', text: 'View catalog' })] },
    request: { params: ['Asha', '#1234'], products: { product_id: '2lc20305pt' } },
    sent: `${BODY_SENT},{"type":"button","sub_type":"catalog","index":"0","parameters":[{"type":"action","action":{"thumbnail_product_retailer_id":"2lc20305pt"}}]}`,
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

  it('400: cards, offers and products that do not fit, each by its field', async () => {
    await chat.configure();
    const offer = { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Soon over', has_expiration: true } };
    const listed = {
      cards: [BODY, { type: 'CAROUSEL', cards: [MEDIA_CARD, MEDIA_CARD] }],
      products: [BODY, { type: 'CAROUSEL', cards: [PRODUCT_CARD, PRODUCT_CARD] }],
      offer: [BODY, offer],
      mpm: [BODY, buttons({ type: 'MPM', text: 'View' })],
      plain: [BODY],
    };
    await copyTemplates(
      chat.db,
      chat.account,
      Object.entries(listed).map(([name, components]) => ({ name, components, status: 'APPROVED', language: 'en' })),
    );
    const card = (more = {}) => ({ params: ['https://93.184.216.34/1.jpg', '10', 'x'], ...more });
    const rows: readonly (readonly [template: keyof typeof listed, request: object, field: string, code: string])[] = [
      ['cards', {}, 'cards', 'wrong_count'],
      ['cards', { cards: [card()] }, 'cards', 'wrong_count'],
      [
        'cards',
        { cards: [card(), card({ params: ['https://93.184.216.34/1.jpg'] })] },
        'cards[1].params',
        'wrong_count',
      ],
      [
        'cards',
        { cards: [card(), card({ params: ['https://93.184.216.34/1.pdf', '1', 'x'] })] },
        'cards[1].params[0]',
        'unsupported_media_type',
      ],
      [
        'cards',
        { cards: [card(), card({ params: ['https://93.184.216.34/1.jpg', 'x'.repeat(160), 'x'] })] },
        'cards[1].params[1]',
        'too_long',
      ],
      ['cards', { cards: [card(), card({ product_id: 'a' })] }, 'cards[1].product_id', 'conflict'],
      [
        'cards',
        { cards: [card(), card({ buttons: [{ payload: 'a' }, { payload: 'b' }] })] },
        'cards[1].buttons',
        'wrong_count',
      ],
      ['products', { cards: [{ product_id: 'a' }, { product_id: 'b' }] }, 'products.catalog_id', 'missing_field'],
      [
        'products',
        { products: { catalog_id: '1' }, cards: [{ product_id: 'a' }, {}] },
        'cards[1].product_id',
        'missing_field',
      ],
      ['offer', {}, 'offer_expires_at', 'missing_field'],
      ['offer', { offer_expires_at: '2020-01-01T00:00:00Z' }, 'offer_expires_at', 'out_of_range'],
      ['mpm', { products: { product_id: 'a' } }, 'products.sections', 'missing_field'],
      ['plain', { cards: [card()] }, 'cards', 'conflict'],
      ['plain', { products: { product_id: 'a' } }, 'products.product_id', 'conflict'],
      ['plain', { offer_expires_at: '2099-01-01T00:00:00Z' }, 'offer_expires_at', 'conflict'],
    ];
    for (const [template, more, field, code] of rows) {
      const params = ['Asha', '#1234'];
      const { body } = await chat.post('/v2/chatapp/send', { to: CUSTOMER, template, language: 'en', params, ...more });
      expect(body.errors, `${template} ${field} ${JSON.stringify(body)}`).to.have.length(1);
      expect(body.errors[0]).to.include({ field, code });
    }
    await chat.expectNothingDone(10);
  });
});
