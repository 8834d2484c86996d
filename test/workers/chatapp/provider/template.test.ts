import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { readTemplate } from '../../../../workers/chatapp/provider/template.ts';
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
