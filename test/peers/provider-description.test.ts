import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { TEMPLATES } from '../../scripts/simulator/provider/templates.ts';
import type { Provider } from '../../scripts/simulator/provider.ts';
import type { KeyScope } from '../../shared/people/keys/key.ts';
import { createKey } from '../../shared/people/keys/store.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { eventually } from '../support/eventually.ts';
import { operations } from '../support/openapi.ts';
import { ask, type Product, startProduct } from '../support/product.ts';
import { MESSAGES, type ProviderDescription, readProviderDescription } from '../support/provider-description.ts';

/** The provider's OpenAPI description, v23 (`business-messaging-api_v23.0.yaml` in its own GitHub repository, MIT). */
const FILE = process.env.PROVIDER_OPENAPI ?? '';
const TEMPLATES_PATH = '/{Version}/{WABA-ID}/message_templates';
const EDIT_PATH = '/{Version}/{TEMPLATE_ID}';

/** Faults of the description, which lags behind the provider's pages or its own samples, and why we are right. */
const BEHIND: readonly (readonly [fault: RegExp, why: string])[] = [
  [
    /^\/template\/components\/N\/index must match pattern/,
    'The pattern `[2-6, 11-14]` is a mistake: its own sample has "0".',
  ],
  [
    /^\/template\/components\/N(\/sub_type)? must be equal to one of.*quick_reply, url, catalog/,
    'copy_code, flow, mpm: "Template components".',
  ],
  [
    /^\/template\/components\/N\/parameters\/N\/type must be equal.*: payload, text$/,
    'coupon_code, action: "Template components".',
  ],
  [
    /^\/template\/components\/N\/parameters\/N\/type must be equal.*currency, date_time/,
    'location, product: "Template components".',
  ],
  [
    /^\/template\/components\/N\/type must be equal.*: header, body, button$/,
    'carousel, limited_time_offer: their pages.',
  ],
  [/^\/interactive\/type must be equal/, 'cta_url, location_request_message: their pages.'],
  [/^\/interactive\/action( must|\/name must be equal)/, 'The same: their actions.'],
  [/^\/interactive\/action\/parameters must/, 'The same: their parameters.'],
  [/^ must have required property 'to'$/, 'A customer without a number is a `recipient`: "Business-scoped user IDs".'],
  [/^ must NOT have additional properties: recipient$/, 'The same.'],
  [/^ must NOT have additional properties: biz_opaque_callback_data$/, '"Messages": statuses repeat it.'],
  [
    /Status.*\/recipient_id|StatusMessageValue\/statuses\/N must have required property 'recipient_id'/,
    '"Business-scoped user IDs".',
  ],
  [/^IncomingMessageValueGeneral\/messages\/N must have required property 'from'/, '"Business-scoped user IDs".'],
  [/statuses\/N\/status must be equal/, 'played: "Status messages webhook reference".'],
  [/list_reply must have required property 'description'/, 'A row may have none: "Interactive list messages".'],
  [/\/context must have required property 'referred_product'/, 'Only of a question about a product: "Text messages".'],
];
const isNew = (fault: string) => !BEHIND.some(([known]) => known.test(fault));

describe("what goes to and comes from the provider, judged by the provider's own description", function () {
  this.timeout(300_000);
  let product: Product;
  let provider: Provider;
  let description: ProviderDescription;
  const requests: (readonly [path: string, body: object])[] = [];
  const posts: object[] = [];

  before(async function () {
    if (!existsSync(FILE)) {
      console.log(
        '        PROVIDER_OPENAPI names no file: the description is the provider’s, and no part of this repository.',
      );
      this.skip();
    }
    description = readProviderDescription(FILE);
    product = await startProduct({
      chatapp: {
        provider: {
          onRequest: (path, body) => requests.push([path, body]),
          onPost: (body) => posts.push(body),
          reviewMs: 20,
        },
      },
    });
    assert(product.provider !== undefined, 'it was asked for');
    provider = product.provider;
  });
  after(() => product?.stop());

  it('refuses most of what is wrong, and takes most of its own samples', () => {
    const wrong = [
      { messaging_product: 'whatsapp', recipient_type: 'individual', to: '1', type: 'text', text: { body: 1 } },
      { messaging_product: 'whatsapp', recipient_type: 'individual', to: '1', type: 'text', txt: { body: 'a' } },
      { messaging_product: 'whatsapp', recipient_type: 'individual', to: '1', type: 'fax' },
    ];
    for (const body of wrong)
      expect(description.requestFaults(MESSAGES, body), JSON.stringify(body)).not.to.deep.equal([]);
    const samples = description.samples(MESSAGES);
    const taken = samples.filter(([, body]) => description.requestFaults(MESSAGES, body).length === 0);
    expect(taken).to.have.length.above(samples.length / 2);
  });

  it('has nothing against the requests', async () => {
    provider.says('919876543210', 'Hello?');
    provider.says('IN.1648738043044942', 'Hello?');
    await eventually(
      async () => ((await product.get('/v2/account/inbox')).body.data as unknown[]).length === 2,
      'both wrote',
    );
    const theirs = ((await product.get('/v2/account/inbox/919876543210')).body.data as { message_id: string }[])[0]
      ?.message_id;
    const all: readonly KeyScope[] = ['send', 'read', 'otp', 'manage'];
    const manager = await createKey(product.db, systemClock, { account: product.account, name: 'all', scopes: all });
    const bodies = operations
      .filter(({ path }) => /^\/v2\/(chatapp\/(send|read)|account\/chatapp\/templates$)/.test(path))
      .flatMap(({ path, operation }) =>
        Object.values(operation.requestBody?.content?.['application/json']?.examples ?? {}).map(
          ({ value }) => [path, Object(value)] as const,
        ),
      );
    for (const [path, body] of bodies) {
      const own = 'message_id' in body ? { ...body, message_id: theirs } : body;
      const answer = await ask(product.url + path, manager.key, own);
      expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.equal(200);
    }
    await product.post('/v2/chatapp/send-text', { to: '919876543210', message: 'Yes?', reply_to: theirs ?? '' });
    await product.post('/v2/chatapp/send-text', { to: 'IN.1648738043044942', message: 'Yes?' });
    for (const { name, language, status, category } of TEMPLATES) {
      if (status !== 'APPROVED' || category !== 'AUTHENTICATION') continue;
      await product.post('/v2/chatapp/send', { to: '919876543210', template: name, language, params: ['482913'] });
    }
    const wanted = bodies.filter(([path]) => !path.includes('/account/')).length + 2;
    await eventually(() => requests.filter(([path]) => path.endsWith('/messages')).length >= wanted, 'all are sent');
    await eventually(() => requests.some(([path]) => path.endsWith('/message_templates')), 'the template is asked for');

    const faults = requests.flatMap(([path, body]) => {
      const place = path.endsWith('/messages')
        ? MESSAGES
        : path.endsWith('/message_templates')
          ? TEMPLATES_PATH
          : EDIT_PATH;
      return description
        .requestFaults(place, body)
        .filter(isNew)
        .map((fault) => `${fault} in ${JSON.stringify(body)}`);
    });
    expect(faults.join('\n')).to.equal('');
  });

  it('has nothing against the callbacks', async () => {
    const business = provider.options.displayNumber;
    const messages = [
      { type: 'image', image: { id: '1', mime_type: 'image/jpeg', sha256: 'SfIn', caption: 'Taj Mahal' } },
      { type: 'location', location: { latitude: 12.9, longitude: 77.6, name: 'Shop', address: 'MG Road' } },
      { type: 'reaction', reaction: { message_id: 'wamid.1', emoji: '👍' } },
    ];
    for (const message of messages) provider.sends('919876543210', message);
    const list = {
      ...{ to: '919876543210', type: 'list', body: 'b', button: 'b' },
      sections: [{ rows: [{ id: '1', title: 'Press' }] }],
    };
    await product.post('/v2/chatapp/send-interactive', list);
    await eventually(() => JSON.stringify(provider.taken().at(-1)?.body).includes('Press'), 'the list is taken');
    await fetch(`${provider.url}/customers/919876543210/presses`, { method: 'POST', body: 'Press' });
    await product.post('/v2/chatapp/send', { to: '919876543301', template: 'welcome', language: 'en_US' });
    await eventually(() => JSON.stringify(posts).includes('"failed"'), 'the failure is told');
    expect(JSON.stringify(posts)).to.include(business).and.include('list_reply');

    const faults = posts.flatMap((body) =>
      description
        .callbackFaults(body)
        .filter(isNew)
        .map((fault) => `${fault} in ${JSON.stringify(body)}`),
    );
    expect(faults.join('\n')).to.equal('');
  });
});
