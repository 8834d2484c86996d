import { expect } from 'chai';
import { propose, type Tag } from '../../../../../gateway/endpoints/account-templates/tags/propose.ts';

const x = (count: number) => 'x'.repeat(count);
const times = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i));

/** What, the values, the tag, and the share in percent where it is not 100. */
const CASES: readonly (readonly [what: string, values: readonly string[], tag: Tag | undefined, percent?: number])[] = [
  ['codes', ['4711', '081512', '7'], 'numeric'],
  ['digits of another script are letters for the scrubbers', ['४७११'], 'alphanumeric'],
  ['a sign before digits', ['-5'], undefined],
  ['an amount with paise', ['499.00', '1299.50'], 'alphanumeric'],
  ['an amount with a comma', ['1,299.00'], undefined],
  ['a currency sign', ['₹499'], undefined],
  ['a date with hyphens', ['2026-11-29', '2026-11-30'], undefined],
  ['a date with strokes', ['29/11/2026'], 'alphanumeric'],
  ['30 characters, the most of {#var#}', [x(30)], 'alphanumeric'],
  ['40 characters, the most of {#alphanumeric#}', [x(40)], 'alphanumeric'],
  ['41 characters', [x(41)], undefined],
  ['40 digits, and 41', ['1'.repeat(40), '1'.repeat(41)], 'numeric', 50],
  ['names', ['Asha Rao', 'R. Kumar', 'O/o Singh'], 'alphanumeric'],
  ['a full stop between words is no link', ['Mr.Singh', 'A.Kumar'], 'alphanumeric'],
  ['names of other scripts', ['आशा', 'ਕੁਲਦੀਪ ਸਿੰਘ', 'José'], 'alphanumeric'],
  ['a joiner of Indic words', ['क्‍ष'], 'alphanumeric'],
  ['an apostrophe', ["O'Brien"], undefined],
  ['an emoji', ['Asha 🎉'], undefined],
  ['an empty value', [''], undefined],
  ['empty now and then', ['', ...times(99, () => 'Asha')], 'alphanumeric', 99],
  ['links', ['https://acme.in/t?id=7', 'http://acme.in'], 'url'],
  ['a link without a scheme', ['acme.in/t/7', 'www.acme.org'], 'url'],
  ['a shortener', ['bit.ly/ACMEBK/7x', 'tinyurl.com/y7'], 'url'],
  ['120 characters of a link, and 121', [`https://acme.in/${x(104)}`, `https://acme.in/${x(105)}`], 'url', 50],
  ['a link with a space', ['https://acme.in/a b'], undefined],
  ['an app in a store', ['https://play.google.com/store/apps/details?id=in.acme'], 'urlott'],
  ['messengers', ['https://wa.me/919494410631', 't.me/acme'], 'urlott'],
  ['an app and a page', ['https://wa.me/919494410631', 'https://acme.in/x'], 'url'],
  ['an app by its own scheme', ['acme://pay/7'], undefined],
  ['email addresses', ['help@acme.in', "o'brien+1@mail.acme.co.in"], 'email'],
  ['an email address and a link', ['help@acme.in', 'https://acme.in'], undefined],
  ['a leading plus', ['+919876543210', '+91 98765 43211'], 'cbn'],
  ['numbers with and without a plus', ['+919876543210', '9876543211'], 'cbn'],
  ['toll-free with hyphens', ['1800-985-6730'], 'cbn'],
  ['mobile numbers of customers are digits', times(20, (i) => String(9_876_543_210 + i)), 'numeric'],
  ['one number again and again is called', times(20, () => '9876543210'), 'cbn'],
  ['one code again and again is not', times(20, () => '471100'), 'numeric'],
  ['numbers of ten digits and order ids', [...times(10, (i) => String(9_876_543_210 + i)), 'AB12'], 'alphanumeric'],
  [
    'mixed: the percentage decides, exactly at the border',
    [...times(95, String), ...times(5, () => '₹5')],
    'numeric',
    95,
  ],
  ['mixed: one less', [...times(94, String), ...times(6, () => '₹5')], undefined, 95],
  ['mixed: a wider one when more is wanted', [...times(95, String), ...times(5, () => 'AB1')], 'alphanumeric', 99],
  ['nothing was sent', [], undefined],
];

describe('tags of what was sent', () => {
  for (const [what, values, tag, percent = 100] of CASES) {
    it(`${what}: ${tag ?? 'none'}`, async () => {
      // An operator whose slots are long, so that the borders of the tags show.
      const template = { content: 'For {#var#}', slots: [{ type: 'var' as const, max: 200 }], exactLineBreaks: true };
      const sent = values.map((value) => ({ id: 'msg_1', text: `For ${value}` }));

      const { slots, messages } = await propose(template, sent, percent / 100, 'IN');

      expect(slots.map((slot) => slot.tag)).to.deep.equal([tag]);
      expect(messages).to.equal(values.length);
    });
  }

  it('counts the messages that the tagged template refuses, by slots, and leaves what nobody can say', async () => {
    const content = 'Hi {#var#}, {#numeric#} points,\nsee {#var#}{#var#}.';
    const sent = [
      { id: 'msg_3', text: 'Hi Asha, 7 points,\r\nsee abc.' },
      { id: 'msg_2', text: "Hi O'Brien, 7 points,\nsee abc." },
      { id: 'msg_1', text: 'Hello Asha' },
    ];

    const made = await propose({ content, exactLineBreaks: false }, sent, 0.5, 'IN');

    expect(made.content).to.equal('Hi {#alphanumeric#}, {#numeric#} points,\nsee {#var#}{#var#}.');
    expect(made.slots.map(({ index, tag, touches }) => [index, tag, touches])).to.deep.equal([
      [0, 'alphanumeric', false],
      [2, undefined, true],
      [3, undefined, true],
    ]);
    expect(made.messages).to.equal(2);
    expect(made.refused.map(({ id, slots }) => [id, slots])).to.deep.equal([['msg_2', [0]]]);
  });

  it('a type that stood beside the text comes into it, and a word of the text stays as it is', async () => {
    const template = {
      content: '{#var#} of {#number#}: {#var#}',
      slots: [{ type: 'cbn' as const }],
      exactLineBreaks: true,
    };

    const made = await propose(template, [{ id: 'msg_1', text: '1800985673 of 2: 3' }], 1, 'IN');

    expect(made.content).to.equal('{#cbn#} of {#number#}: {#numeric#}');
    expect(made.refused).to.deep.equal([]);
  });
});
