import { expect } from 'chai';
import { newId } from '../../../shared/runtime/ids.ts';
import { readTemplatePage } from '../../../workers/chatapp/provider/template-list.ts';

const account = newId('acc');
const at = new Date('2026-11-21T10:00:00Z');

function read(entry: object) {
  return readTemplatePage(account, { data: [entry] }, at)?.templates[0];
}

function withComponents(...components: readonly object[]) {
  return read({ name: 'n', status: 'APPROVED', category: 'UTILITY', language: 'en', components });
}

describe('readTemplatePage', () => {
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
      _id: `${account}:order_update:en_US`,
      account,
      name: 'order_update',
      language: 'en_US',
      status: 'approved',
      category: 'utility',
      variables: 2,
      syncedAt: at,
    });
  });

  const SENDABLE: readonly (readonly [what: string, component: object])[] = [
    ['a text header', { type: 'HEADER', format: 'TEXT', text: 'News' }],
    ['a footer', { type: 'FOOTER', text: 'Bye' }],
    ['quick replies', { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Yes' }] }],
    ['a fixed link', { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://example.com' }] }],
    ['a number to call', { type: 'BUTTONS', buttons: [{ type: 'PHONE_NUMBER', phone_number: '+1' }] }],
  ];
  for (const [what, component] of SENDABLE) {
    it(`${what} needs nothing of us`, () => {
      expect(withComponents(component)).not.to.have.property('unsendable');
    });
  }

  const UNSENDABLE: readonly (readonly [what: string, component: object, unsendable: string])[] = [
    ['an image in the header', { type: 'HEADER', format: 'IMAGE' }, 'a header of type image'],
    ['a variable in the header', { type: 'HEADER', format: 'TEXT', text: 'Hi {{1}}' }, 'a variable in its header'],
    [
      'a variable in a link',
      { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY' }, { type: 'URL', url: 'https://example.com/{{1}}' }] },
      'a variable in a button',
    ],
    ['a code to copy', { type: 'BUTTONS', buttons: [{ type: 'COPY_CODE' }] }, 'a button of type copy_code'],
    ['named variables', { type: 'BODY', text: 'Dear {{first_name}}' }, 'variables that have names'],
    ['a carousel', { type: 'CAROUSEL', cards: [] }, 'a component of type carousel'],
  ];
  for (const [what, component, unsendable] of UNSENDABLE) {
    it(`${what} cannot be sent, and it is said why`, () => {
      expect(withComponents({ type: 'BODY', text: 'x' }, component)).to.include({ unsendable });
    });
  }

  it('named variables are also told by the format', () => {
    expect(read({ name: 'n', status: 'APPROVED', language: 'en', parameter_format: 'NAMED' })).to.have.property(
      'unsendable',
    );
  });

  it('goes on behind the cursor while there is a next page', () => {
    const paging = { cursors: { before: 'a', after: 'b' } };

    expect(readTemplatePage(account, { data: [], paging: { ...paging, next: 'https://x' } }, at)?.after).to.equal('b');
    expect(readTemplatePage(account, { data: [], paging }, at)?.after).to.equal(undefined);
    expect(readTemplatePage(account, { data: [], paging: { next: 'https://x' } }, at)?.after).to.equal(undefined);
  });

  it('leaves out what is no template, and is undefined for what is no page', () => {
    const odd = [
      null,
      1,
      {},
      { name: 1, status: 'APPROVED', language: 'en' },
      { name: 'n', status: 'X', language: 'en' },
    ];

    expect(readTemplatePage(account, { data: odd }, at)?.templates).to.have.length(1);
    expect(readTemplatePage(account, { data: {} }, at)).to.equal(undefined);
    expect(readTemplatePage(account, undefined, at)).to.equal(undefined);
  });
});
