import assert from 'node:assert/strict';
import type { Provider } from '../../scripts/simulator/provider.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, useProduct } from '../support/product.ts';

const SETTLED_MS = 120_000;
const BUSINESS_PRICE = 2;
const CUSTOMER = '919876543210';
/** An IP address needs no lookup. */
const FILES = 'https://93.184.216.34';

/** Requests for each kind of demo template (scripts/simulator/provider/templates.ts). */
const SENDS: readonly (readonly [template: string, request: object])[] = [
  ['order_update', { params: ['Asha', '1234'] }],
  ['welcome', {}],
  ['sale_begins', { params: ['Summer', 'Asha', '25'] }],
  ['picture_offer', { params: [`${FILES}/a.jpg`] }],
  ['how_to', { params: [`${FILES}/a.mp4`] }],
  ['invoice', { params: ['Asha'], header: { url: `${FILES}/4711`, filename: 'May.pdf' } }],
  [
    'store_visit',
    { params: ['Asha'], header: { latitude: 12.9758, longitude: 77.6045, name: 'Shop', address: 'MG Road' } },
  ],
  ['appointment', { params: ['Asha', 'Dr Rao', '10:30'] }],
  ['coupon', { params: ['25', '25OFF'] }],
  ['login_code', { params: ['482913'] }],
  ['login_code_one_tap', { params: ['482913'] }],
  ['login_code_zero_tap', { params: ['482913'] }],
  ['catalogue', { params: ['Asha'] }],
  ['sign_up', {}],
  ['flash_sale', { params: ['Asha', '25OFF', 'n1'], offer_expires_at: '2099-01-01T00:00:00Z' }],
  [
    'season',
    {
      params: ['Asha'],
      cards: [1, 2].map((n) => ({ params: [`${FILES}/${n}.jpg`, '20', 'roses'], buttons: [{ payload: `MORE-${n}` }] })),
    },
  ],
  [
    'new_in_shop',
    { params: ['Asha'], products: { catalog_id: '1948' }, cards: [{ product_id: 'a' }, { product_id: 'b' }] },
  ],
  ['back_in_stock', { params: ['Asha'], products: { catalog_id: '1948', product_id: 'a' } }],
  [
    'forgotten_cart',
    { params: ['Asha', '10OFF'], products: { product_id: 'a', sections: [{ product_ids: ['a', 'b'] }] } },
  ],
  [
    'order_shipped',
    {
      params: [`${FILES}/parcel.jpg`, 'Asha', '1234', 'a b'],
      buttons: [{ payload: 'WHERE-1234' }, { payload: 'CALL-1234' }],
    },
  ],
];

describe('templates with every component, through real processes', function () {
  this.timeout(SETTLED_MS * 2);
  const product = useProduct({ chatapp: {} });
  let provider: Provider;

  before(async () => {
    assert(product.provider !== undefined, 'it was asked for');
    provider = product.provider;
  });

  const send = (template: string, request: object, to = CUSTOMER): Promise<Answer> =>
    product.post('/v2/chatapp/send', { to, template, language: 'en_US', ...request });
  const balance = async () => Number((await product.get('/v2/balance')).body.balance);

  async function reaches(id: unknown, status: string): Promise<Answer['body']> {
    return eventually(
      async () => {
        const { body } = await product.get(`/v2/status/${id}`);
        if (body.status !== status) throw new Error(JSON.stringify(body));
        return body;
      },
      `${id} ${status}`,
      SETTLED_MS,
    );
  }
  const received = (from: string) =>
    eventually(
      () => {
        const post = product.receiver
          .received()
          .findLast(({ json }) => json.event === 'message.received' && json.from === from);
        if (post === undefined) throw new Error('nothing was received');
        expect(post.signature).equal('valid');
        return post.json;
      },
      'what the customer sent',
      SETTLED_MS,
    );

  it('each is taken by a provider that checks it strictly, is read, and one conversation is paid for all', async () => {
    const before = await balance();
    const ids: unknown[] = [];
    for (const [template, request] of SENDS) {
      const { status, body } = await send(template, request);
      expect(status, `${template}: ${JSON.stringify(body)}`).equal(200);
      ids.push(body.message_id);
    }

    for (const id of ids) await reaches(id, 'read');
    expect(await balance()).equal(before - BUSINESS_PRICE);
    expect(provider.seen().filter(({ status }) => status !== 200)).deep.equal([]);
    const shipped = provider.taken().find(({ opaque }) => opaque === ids.at(-1))?.body.template;
    expect(shipped).deep.equal({
      name: 'order_shipped',
      language: { code: 'en_US', policy: 'deterministic' },
      components: [
        { type: 'header', parameters: [{ type: 'image', image: { link: `${FILES}/parcel.jpg` } }] },
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Asha' },
            { type: 'text', text: '1234' },
          ],
        },
        ...['WHERE-1234', 'CALL-1234'].map((payload, i) => {
          return { type: 'button', sub_type: 'quick_reply', index: `${i}`, parameters: [{ type: 'payload', payload }] };
        }),
        { type: 'button', sub_type: 'url', index: '2', parameters: [{ type: 'text', text: 'a%20b' }] },
      ],
    });
  });

  it('a quick reply comes back with its payload, in the webhook, in the events and in the list', async () => {
    const sent = await send('order_shipped', SENDS.at(-1)?.[1] ?? {}, '919876543230');
    await reaches(sent.body.message_id, 'read');

    const pressed = await fetch(`${provider.url}/customers/919876543230/presses`, {
      method: 'POST',
      body: 'Where is it?',
    });
    expect(pressed.status).equal(200);

    const json = await received('919876543230');
    const upstreamId = provider.taken().find(({ opaque }) => opaque === sent.body.message_id)?.id;
    expect(json).deep.equal({
      event: 'message.received',
      from: '919876543230',
      message_id: json.message_id,
      type: 'button',
      body: 'Where is it?',
      timestamp: json.timestamp,
      to: provider.options.displayNumber,
      context: { from: provider.options.displayNumber, id: upstreamId },
      reply_to: sent.body.message_id,
      button: { payload: 'WHERE-1234', text: 'Where is it?' },
      customer: { id: Object(json.customer).id, number: '919876543230', name: 'Simulated customer' },
    });
    const events = await product.get('/v2/events?event=message.received');
    const told = Object(events.body.data).find((one: { message_id: unknown }) => one.message_id === json.message_id);
    expect(told).deep.include({ type: 'button', body: 'Where is it?', button: json.button });
    const list = await product.get('/v2/messages?direction=in');
    const listed = Object(list.body.data).find((one: { message_id: unknown }) => one.message_id === json.message_id);
    expect(listed).include({ type: 'button', direction: 'in', from: '919876543230', status: 'received' });
    // The customer pressed a button, which opened the session.
    const text = await product.post('/v2/chatapp/send-text', { to: '919876543230', message: 'At the corner.' });
    expect(text.status, JSON.stringify(text.body)).equal(200);
  });

  it('without payloads the label comes back; a reply button of send-buttons comes back with its id', async () => {
    const to = '919876543231';
    const { params } = Object(SENDS.at(-1)?.[1]);
    const sent = await send('order_shipped', { params }, to);
    await reaches(sent.body.message_id, 'read');
    await fetch(`${provider.url}/customers/${to}/presses`, { method: 'POST', body: 'Call me back' });
    expect((await received(to)).button).deep.equal({ payload: 'Call me back', text: 'Call me back' });

    const buttons = [{ id: 'yes-1', title: 'Yes' }];
    const asked = await product.post('/v2/chatapp/send-buttons', { to, body: 'Now?', buttons });
    await reaches(asked.body.message_id, 'read');
    await fetch(`${provider.url}/customers/${to}/presses`, { method: 'POST', body: 'Yes' });
    await eventually(
      async () => {
        expect(await received(to)).deep.include({
          type: 'interactive',
          body: 'Yes',
          interactive: { type: 'button_reply', button_reply: { id: 'yes-1', title: 'Yes' } },
        });
        return true;
      },
      'the reply',
      SETTLED_MS,
    );
  });

  it('a header that the provider cannot fetch fails, and is given back', async () => {
    const before = await balance();
    const sent = await send('picture_offer', { params: [`${FILES}/unfetchable.jpg`] }, '919876543232');

    expect(await reaches(sent.body.message_id, 'failed')).include({ error_code: 'media_unavailable' });
    await eventually(async () => (await balance()) === before, 'the refund', SETTLED_MS);
  });

  it('what a template does not take costs nothing and reaches nobody', async () => {
    const [before, seen] = [await balance(), provider.seen().length];

    for (const [template, request, code] of [
      ['order_shipped', { params: ['Asha'] }, 'invalid_request'],
      ['store_visit', { params: ['Asha'] }, 'invalid_request'],
      ['season', { params: ['x'] }, 'invalid_request'],
      ['flash_sale', { params: ['x'] }, 'invalid_request'],
      ['pay_now', { params: ['x'] }, 'template_not_supported'],
      ['disabled_offer', { params: ['x'] }, 'template_not_approved'],
    ] as const) {
      const { body } = await send(template, request, '919876543233');
      expect([template, body.code]).deep.equal([template, code]);
    }

    expect(await balance()).equal(before);
    expect(provider.seen()).have.length(seen);
    expect(await verifyLedger(product.db, product.account)).deep.include({ problems: [] });
  });
});
