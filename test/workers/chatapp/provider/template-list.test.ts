import type { Exchange } from '../../../../shared/carriers/http/client.ts';
import { systemClock as clock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { readTemplate, readTemplatePage, readTemplates } from '../../../../workers/chatapp/provider/template-list.ts';
import { ownerOf } from '../../../support/chatapp.ts';

const account = newId('acc');
const at = new Date('2026-11-21T10:00:00Z');

function read(entry: object) {
  return readTemplate(ownerOf(account), entry, at);
}

function withComponents(...components: readonly object[]) {
  return read({ name: 'n', status: 'APPROVED', category: 'UTILITY', language: 'en', components });
}

describe('readTemplate', () => {
  it('a template is stored by name and language, its words in lower case', () => {
    const entry = {
      name: 'order_update',
      status: 'APPROVED',
      category: 'UTILITY',
      language: 'en_US',
      id: '1',
      components: [{ type: 'BODY', text: 'Dear {{1}}, {{2}} is on its way to {{1}}.' }],
    };

    expect(read(entry)).to.deep.equal({
      _id: `${account}:2055:order_update:en_US`,
      account,
      business: '2055',
      name: 'order_update',
      language: 'en_US',
      status: 'approved',
      category: 'utility',
      upstreamId: '1',
      variables: 2,
      components: { body: 'Dear {{1}}, {{2}} is on its way to {{1}}.', buttons: [] },
      syncedAt: at,
    });
  });

  const SENDABLE: readonly (readonly [what: string, component: object])[] = [
    ['a text header', { type: 'HEADER', format: 'TEXT', text: 'News' }],
    ['a footer', { type: 'FOOTER', text: 'Bye' }],
    ['quick replies', { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Yes' }] }],
    ['a fixed link', { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://example.com' }] }],
    ['a number to call', { type: 'BUTTONS', buttons: [{ type: 'PHONE_NUMBER', phone_number: '+1' }] }],
    ['an image in the header', { type: 'HEADER', format: 'IMAGE' }],
    ['a location in the header', { type: 'header', format: 'location' }],
    ['a variable in the header', { type: 'HEADER', format: 'TEXT', text: 'Hi {{1}}' }],
    [
      'a variable in a link',
      { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY' }, { type: 'URL', url: 'https://example.com/{{1}}' }] },
    ],
    ['a code to copy', { type: 'BUTTONS', buttons: [{ type: 'COPY_CODE' }] }],
    ['named variables', { type: 'BODY', text: 'Dear {{first_name}}' }],
    ['a flow', { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Sign up', flow_id: '1' }] }],
    ['a product', { type: 'HEADER', format: 'PRODUCT' }],
    ['several products', { type: 'BUTTONS', buttons: [{ type: 'MPM', text: 'View' }] }],
    ['a limited-time offer', { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Soon over' } }],
    ['a carousel', { type: 'CAROUSEL', cards: [{ components: [{ type: 'HEADER', format: 'IMAGE' }] }] }],
  ];
  for (const [what, component] of SENDABLE) {
    it(`${what} can be sent`, () => {
      expect(withComponents(component)).not.to.have.property('unsendable');
    });
  }

  const UNSENDABLE: readonly (readonly [what: string, component: object, unsendable: string])[] = [
    ['a picture that moves', { type: 'HEADER', format: 'GIF' }, 'a header of type gif'],
    ['an order to pay', { type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS' }] }, 'a button of type order_details'],
    ['a permission to call', { type: 'CALL_PERMISSION_REQUEST' }, 'a component of type call_permission_request'],
    [
      'a card with a part that is none',
      { type: 'CAROUSEL', cards: [{ components: [{ type: 'HEADER', format: 'GIF' }] }] },
      'a header of type gif',
    ],
    ['a number left out', { type: 'BODY', text: '{{1}} {{3}}' }, 'variables that are not numbered 1, 2, 3'],
    ['names and numbers', { type: 'BODY', text: '{{1}} {{name}}' }, 'variables of which some have names'],
    [
      'two variables in a link',
      { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://example.com/{{1}}/{{2}}' }] },
      'a button with more than one variable',
    ],
    ['a carousel of nothing', { type: 'CAROUSEL', cards: [] }, 'a carousel without cards'],
  ];
  for (const [what, component, unsendable] of UNSENDABLE) {
    it(`${what} cannot be sent, and it is said why`, () => {
      expect(withComponents(component)).to.include({ unsendable });
    });
  }

  it('every component is kept, types in lower case', () => {
    const components = [
      { type: 'HEADER', format: 'DOCUMENT', example: { header_handle: ['https://scontent.example/x'] } },
      { type: 'BODY', text: 'Dear {{name}}', example: { body_text_named_params: [] } },
      { type: 'FOOTER', text: 'Reply STOP' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Yes' },
          { type: 'URL', text: 'Track', url: 'https://x.example/{{1}}', example: ['abc'] },
          { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550051310' },
          { type: 'COPY_CODE', text: 'Copy offer code', example: '25OFF' },
          { type: 'VOICE_CALL', text: 'Call us' },
          { type: 'CATALOG', text: 'View' },
          { type: 'FLOW', text: 'Sign up', flow_id: 1 },
          { type: 'OTP', text: 'Copy', otp_type: 'COPY_CODE' },
        ],
      },
    ];

    const template = read({ name: 'n', status: 'APPROVED', language: 'en', parameter_format: 'NAMED', components });

    expect(template).not.to.have.property('unsendable');
    expect(template).to.deep.include({
      variables: 0,
      components: {
        header: { format: 'document' },
        body: 'Dear {{name}}',
        footer: 'Reply STOP',
        buttons: [
          { type: 'quick_reply', text: 'Yes' },
          { type: 'url', text: 'Track', url: 'https://x.example/{{1}}' },
          { type: 'phone_number', text: 'Call', phoneNumber: '+15550051310' },
          { type: 'copy_code', text: 'Copy offer code' },
          { type: 'voice_call', text: 'Call us' },
          { type: 'catalog', text: 'View' },
          { type: 'flow', text: 'Sign up' },
          { type: 'otp', text: 'Copy' },
        ],
      },
    });
  });

  it('an authentication template: the button that is listed as a url takes the code', () => {
    const url = 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}';
    const components = [
      { type: 'BODY', text: '*{{1}}* is your verification code.' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Copy code', url }] },
    ];

    const template = read({ name: 'n', status: 'APPROVED', category: 'AUTHENTICATION', language: 'en', components });

    expect(template).to.have.nested.property('components.buttons[0].type', 'otp');
  });

  const ODD: readonly (readonly [what: string, entry: unknown])[] = [
    ['null', null],
    ['a number', 1],
    ['an empty object', {}],
    ['a name that is a number', { name: 1, status: 'APPROVED', language: 'en' }],
  ];
  for (const [what, entry] of ODD) {
    it(`${what} is no template`, () => {
      expect(readTemplate(ownerOf(account), entry, at)).to.deep.equal({
        problem: 'it has no name, language or status',
      });
    });
  }

  const many = (what: object) => Array.from({ length: 65 }, () => what);
  const TOO_LARGE: readonly (readonly [problem: string, entry: object])[] = [
    ['its name is too long', { name: 'n'.repeat(513) }],
    ['its language is too long', { language: 'l'.repeat(36) }],
    ['its status or category is too long', { status: 's'.repeat(65) }],
    ['its status or category is too long', { category: 'c'.repeat(65) }],
    ['a text of it is too long', { components: [{ type: 'BODY', text: '{{1}}'.repeat(4_000) }] }],
    ['a text of it is too long', { components: [{ type: 'BUTTONS', buttons: [{ url: 'u'.repeat(20_000) }] }] }],
    ['it has too many components', { components: many({ type: 'FOOTER' }) }],
    ['it has too many buttons', { components: [{ type: 'BUTTONS', buttons: many({ type: 'QUICK_REPLY' }) }] }],
  ];
  for (const [problem, entry] of TOO_LARGE) {
    it(`${Object.keys(entry)[0]}: ${problem}`, () => {
      const template = { name: 'n', status: 'APPROVED', category: 'UTILITY', language: 'en', ...entry };

      expect(readTemplate(ownerOf(account), template, at)).to.deep.equal({ problem, name: template.name.slice(0, 64) });
    });
  }

  it('a body with thousands of variables has the highest of their numbers', () => {
    expect(withComponents({ type: 'BODY', text: `${'{{1}}'.repeat(3_000)}{{7}}` })).to.include({ variables: 7 });
  });

  it('an odd word for a type is kept, cut', () => {
    const template = withComponents({ type: 'X'.repeat(10_000) });

    expect(template).to.include({ unsendable: `a component of type ${'x'.repeat(64)}` });
  });
});

function template(name: string, more: object = {}): object {
  return { name, language: 'en', status: 'APPROVED', category: 'UTILITY', ...more };
}

function answered(body: object | string, status = 200): Exchange {
  return { kind: 'answered', status, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
}

function page(number: number, entries: readonly unknown[]): Exchange {
  return answered({ data: entries, paging: { next: 'https://x', cursors: { after: String(number + 1) } } });
}

function readPages(answer: (page: number) => Exchange) {
  return readTemplates({ owner: ownerOf(account), clock, ask: (after) => Promise.resolve(answer(Number(after ?? 0))) });
}

describe('readTemplates', () => {
  it('brings all pages together; the later word counts', async () => {
    const list = await readPages((n) =>
      n < 3 ? page(n, [template(`n${n}`), template('same', { status: `S${n}` })]) : answered({ data: [] }),
    );

    if (typeof list === 'string') throw new Error(list);
    expect(list.templates.map(({ name, status }) => `${name} ${status}`)).to.deep.equal([
      'n0 approved',
      'same s2',
      'n1 approved',
      'n2 approved',
    ]);
  });

  it('an entry that cannot be read is left out and told, the others are kept', async () => {
    const body = (text: string) => ({ components: [{ type: 'BODY', text }] });
    const list = await readPages(() =>
      answered({ data: [template('a'), template('long', body('{{1}}'.repeat(10_000))), null, template('b')] }),
    );

    if (typeof list === 'string') throw new Error(list);
    expect(list.templates.map(({ name }) => name)).to.deep.equal(['a', 'b']);
    expect(list).to.deep.include({ skipped: 2, firstSkipped: { name: 'long', problem: 'a text of it is too long' } });
  });

  it('texts without end are given up, and the list stays as it is', async () => {
    const text = 'x'.repeat(16_000);
    const entries = Array.from({ length: 60 }, (_, i) => template(`n${i}`, { components: [{ type: 'BODY', text }] }));
    const { body } = page(0, entries) as { readonly body: Buffer };
    const one = { kind: 'answered', status: 200, body } as const;

    expect(await readPages(() => one)).to.equal('more than 67108864 bytes of templates');
  });

  it('a page of hundreds of kilobytes is read', async () => {
    const text = 'नमस्ते '.repeat(100);
    const entries = Array.from({ length: 200 }, (_, i) => template(`n${i}`, { components: [{ type: 'BODY', text }] }));

    const list = await readPages(() => answered({ data: entries }));

    expect(list).to.have.property('templates').that.has.length(200);
  });

  it('while a large page is read, others have their turn', async () => {
    const entries = Array.from({ length: 9_000 }, (_, i) => template(`n${i}`));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);

    await readPages(() => answered({ data: entries }));
    clearImmediate(counting);

    expect(turns).to.be.at.least(400);
  });

  for (const [what, answer, reason] of [
    [
      'of more templates than any account has',
      () => answered({ data: Array(10_001).fill({}) }),
      'more than 10000 templates',
    ],
    [
      'of as many on several pages',
      (n: number) => page(n, Array(2_000).fill(template(`n${n}`))),
      'more than 10000 templates',
    ],
    ['without an end', (n: number) => page(n, []), 'more than 250 pages'],
    [
      'that is refused',
      () => answered({ error: { code: 190 } }, 401),
      'the access token is refused (HTTP 401, code 190)',
    ],
    ['that is no JSON', () => answered('<html>'), 'the answer is no JSON'],
    ['that is something else', () => answered({ items: [] }), 'the answer is no list of templates'],
    [
      'that is nested without an end',
      () => answered(`{"data":${'['.repeat(100_000)}`),
      'the answer cannot be read: it may be nested at most 64 levels deep',
    ],
    [
      'that never came',
      (): Exchange => ({ kind: 'no_answer', code: 'timeout' }),
      'no whole answer from the provider (timeout)',
    ],
  ] as const) {
    it(`a list ${what} cannot be had: ${reason}`, async () => {
      expect(await readPages(answer)).to.equal(reason);
    });
  }
});

describe('readTemplatePage', () => {
  const paging = { cursors: { before: 'a', after: 'b' } };

  it('goes on behind the cursor while there is a next page', () => {
    const data = [{}];

    expect(readTemplatePage({ data, paging: { ...paging, next: 'https://x' } })).to.deep.equal({
      entries: data,
      after: 'b',
    });
    expect(readTemplatePage({ data, paging })).to.deep.equal({ entries: data, after: undefined });
    expect(readTemplatePage({ data, paging: { next: 'https://x' } })).to.deep.equal({
      entries: data,
      after: undefined,
    });
  });

  it('says what is wrong with what is no page', () => {
    const after = 'c'.repeat(2_049);

    expect(readTemplatePage({ data: {} })).to.equal('the answer is no list of templates');
    expect(readTemplatePage(undefined)).to.equal('the answer is no list of templates');
    expect(readTemplatePage({ data: [], paging: { cursors: { after }, next: 'https://x' } })).to.equal(
      'the cursor has more than 2048 characters',
    );
  });
});
