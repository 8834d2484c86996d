import { draftOf } from '../../../../gateway/endpoints/chat-templates/draft.ts';
import type { Given } from '../../../../gateway/endpoints/chat-templates/draft-fields.ts';
import { FieldProblems } from '../../../../gateway/http/field-problems.ts';
import { type SampleHandles, templatePayload } from '../../../../workers/chatapp/provider/template-request.ts';

const BASE: Given = { category: 'marketing', body: 'Look what came in.', body_examples: [], buttons: [] };
const button = (type: Given['buttons'][number]['type'], more: Partial<Given['buttons'][number]> = {}) => ({
  ...{ type },
  ...more,
});
const SHOP = 'https://www.luckyshrub.com/rare-succulents/{{1}}';
const photo = (name: string, example: string) => ({
  header: { format: 'image' as const, example_url: `https://files.example.com/${name}.png` },
  body: `Meet the {{1}} succulent.`,
  body_examples: [example],
  buttons: [
    button('quick_reply', { text: 'Send more like this' }),
    button('url', { text: 'Shop', url: SHOP, example: name }),
  ],
});
const PRODUCT = { header: { format: 'product' as const }, body_examples: [], buttons: [button('spm')] };
const CODE = button('copy_code', { example: 'CARIBE25' });
const LINK = button('url', { text: 'Book now!', url: 'https://trip.example.com/?code={{1}}', example: 'n3mtql' });

/** From the provider's pages on each kind of template, except for the case of words, which it ignores. */
const DOCUMENTED: readonly (readonly [
  page: string,
  given: Partial<Given>,
  components: object,
  handles?: SampleHandles,
])[] = [
  [
    'Limited-time offer templates',
    {
      header: { format: 'image', example_url: 'https://files.example.com/a.png' },
      ...{ body: 'Good news, {{1}}! Take a quarter off.', body_examples: ['Pablo'] },
      offer: { text: 'Expiring offer!', expires: true },
      buttons: [CODE, LINK],
    },
    [
      { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::aW'] } },
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Expiring offer!', has_expiration: true } },
      { type: 'BODY', text: 'Good news, {{1}}! Take a quarter off.', example: { body_text: [['Pablo']] } },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'COPY_CODE', example: 'CARIBE25' },
          { type: 'URL', text: 'Book now!', url: 'https://trip.example.com/?code={{1}}', example: ['n3mtql'] },
        ],
      },
    ],
    { header: '4::aW' },
  ],
  [
    'Media card carousel templates',
    {
      ...{ body: 'Rare succulents for sale! {{1}}, look.', body_examples: ['Pablo'] },
      cards: [photo('BLUE_ELF', 'Blue Elf'), photo('BUDDHA', 'Buddha')],
    },
    [
      { type: 'BODY', text: 'Rare succulents for sale! {{1}}, look.', example: { body_text: [['Pablo']] } },
      {
        type: 'CAROUSEL',
        cards: [
          ['4::an', 'Blue Elf', 'BLUE_ELF'],
          ['4::Zm', 'Buddha', 'BUDDHA'],
        ].map(([handle, name, suffix]) => ({
          components: [
            { type: 'HEADER', format: 'IMAGE', example: { header_handle: [handle] } },
            { type: 'BODY', text: 'Meet the {{1}} succulent.', example: { body_text: [[name]] } },
            {
              type: 'BUTTONS',
              buttons: [
                { type: 'QUICK_REPLY', text: 'Send more like this' },
                { type: 'URL', text: 'Shop', url: SHOP, example: [suffix] },
              ],
            },
          ],
        })),
      },
    ],
    { cards: ['4::an', '4::Zm'] },
  ],
  [
    'Product card carousel templates',
    { cards: [PRODUCT, PRODUCT] },
    [
      { type: 'BODY', text: 'Look what came in.' },
      {
        type: 'CAROUSEL',
        cards: [1, 2].map(() => ({
          components: [
            { type: 'HEADER', format: 'PRODUCT' },
            { type: 'BUTTONS', buttons: [{ type: 'SPM', text: 'View' }] },
          ],
        })),
      },
    ],
  ],
  [
    'Multi-product message templates',
    {
      header: { format: 'text', text: 'Forget something, {{1}}?', example: 'Pablo' },
      buttons: [button('mpm')],
    },
    [
      { type: 'HEADER', format: 'TEXT', text: 'Forget something, {{1}}?', example: { header_text: ['Pablo'] } },
      { type: 'BODY', text: 'Look what came in.' },
      { type: 'BUTTONS', buttons: [{ type: 'MPM', text: 'View items' }] },
    ],
  ],
  [
    'Single-product message templates',
    { header: { format: 'product' }, footer: 'Until Sunday', buttons: [button('spm')] },
    [
      { type: 'HEADER', format: 'PRODUCT' },
      { type: 'BODY', text: 'Look what came in.' },
      { type: 'FOOTER', text: 'Until Sunday' },
      { type: 'BUTTONS', buttons: [{ type: 'SPM', text: 'View' }] },
    ],
  ],
  [
    'Catalog templates',
    { buttons: [button('catalog')] },
    [
      { type: 'BODY', text: 'Look what came in.' },
      { type: 'BUTTONS', buttons: [{ type: 'CATALOG', text: 'View catalog' }] },
    ],
  ],
];

const REFUSED: readonly (readonly [what: string, given: Partial<Given>, fields: readonly string[]])[] = [
  ['a carousel that is not marketing', { category: 'utility', cards: [PRODUCT, PRODUCT] }, ['category']],
  ['an offer without a code', { offer: { text: 'Now!', expires: true }, buttons: [LINK] }, ['buttons']],
  ['an offer with its code behind', { offer: { text: 'Now!', expires: true }, buttons: [LINK, CODE] }, ['buttons']],
  [
    'an offer with a footer and a document',
    {
      offer: { text: 'Now!', expires: false },
      header: { format: 'document', example_url: 'https://files.example.com/a.pdf' },
      ...{ footer: 'Bye', buttons: [LINK] },
    },
    ['footer', 'header.format'],
  ],
  ['a carousel with buttons of its own', { cards: [PRODUCT, PRODUCT], buttons: [CODE] }, ['buttons']],
  ['cards that differ', { cards: [PRODUCT, photo('A', 'A')] }, ['cards[1]']],
  [
    'a card with a bad body',
    { cards: [photo('A', 'A'), { ...photo('B', 'B'), body: '{{1}} now' }] },
    ['cards[1].body'],
  ],
  ['a product without its button', { header: { format: 'product' } }, ['buttons']],
  ['products to choose from without a header', { buttons: [button('mpm')] }, ['header']],
  ['the catalog beside another button', { buttons: [button('catalog'), CODE] }, ['buttons']],
  ['a label of one’s own', { buttons: [button('catalog', { text: 'Mine' })] }, ['buttons[0].text']],
];

describe('templates for marketing, as they are asked for', () => {
  for (const [page, given, components, handles] of DOCUMENTED) {
    it(`as in "${page}"`, () => {
      const problems = new FieldProblems();
      const draft = draftOf({ ...BASE, ...given }, problems);

      expect(problems.count).to.equal(0);
      const payload = templatePayload(draft, { name: 'n', language: 'en_US', category: draft.category }, handles);
      const head = { name: 'n', language: 'en_US', category: 'MARKETING' };
      expect(payload.toString()).to.equal(JSON.stringify({ ...head, components }));
    });
  }

  for (const [what, given, fields] of REFUSED) {
    it(`not ${what}`, () => {
      const problems = new FieldProblems();
      draftOf({ ...BASE, ...given }, problems);

      expect(problems.listed.map(({ field }) => field)).to.have.members(fields);
    });
  }
});
