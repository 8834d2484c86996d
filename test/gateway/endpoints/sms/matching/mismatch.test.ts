import fc from 'fast-check';
import {
  explainMismatch,
  type Mismatch,
  otherSender,
  quoted,
} from '../../../../../gateway/endpoints/sms/matching/mismatch.ts';
import { indexTemplates, templateOf } from '../../../../shared/templates/sms/reference.ts';

const ID = '1107160000000000001';
const template = { dltId: ID, name: `template ${ID}` };
const nothing = indexTemplates([]);
const explain = (content: string, text: string): Mismatch =>
  explainMismatch(indexTemplates([templateOf(content, ID)]), text);

/** Template, text, the expected mismatch. */
const CASES: readonly (readonly [string, string, Partial<Mismatch>])[] = [
  ['Your OTP is {#var#}. Bye', 'Your OTP was 12. Bye', { at: 9, expected: 'is ', found: 'was 12. Bye' }],
  ['Your OTP is {#var#}. Bye', 'Your OTP is 12. Byebye', { at: 19, expected: '', found: 'bye' }],
  ['Your OTP is {#var#}. Bye', 'Your OTP is 12. By', { at: 18, expected: 'e', found: '' }],
  ['Your OTP is {#var#}. Bye', '', { at: 0, expected: 'Your OTP is ', found: '' }],
  ['Your OTP is {#var#}. Bye', 'Your OTP is 12, Bye', { at: 14, expected: '. Bye', found: ', Bye' }],
  ['One\nTwo {#var#}', 'One\r\nTwo x', { at: 3, expected: '\nTwo ', found: '\r\nTwo x' }],
  [
    'Dear {#var#}, order {#var#} ships.',
    'Dear A, odrer 7 ships.',
    { at: 9, expected: 'rder ', found: 'drer 7 ships.' },
  ],
  ['🎉 Hi {#var#} it is very very late', '🎉 Hi you it is very, very late', { at: 20, found: ', very late' }],
  ['Hello {#var#}', 'Hullo you', { at: 1, found: 'ullo you' }],
  // These emoji differ in their second half only.
  ['Hi {#var#} 😀 bye', 'Hi you 😁 bye', { at: 7, expected: '😀 bye', found: '😁 bye' }],
];

describe('templates/mismatch', () => {
  for (const [content, text, said] of CASES) {
    it(`marks where ${JSON.stringify(text)} leaves ${JSON.stringify(content)}`, () => {
      const mismatch = explain(content, text);

      expect(mismatch).to.include({ kind: 'text_differs', scrubCode: '633', ...said });
      expect(mismatch.template).to.deep.equal(template);
    });
  }

  const UNSEEN: readonly (readonly [what: string, content: string, text: string, said: string])[] = [
    [
      'a no-break space',
      'OTP is {#var#}.',
      'OTP\u00a0is 12.',
      '4 the text has "\\u00a0is 12." where the template has " is "',
    ],
    [
      'a byte order mark',
      'OTP is {#var#}.',
      '\ufeffOTP is 12.',
      '1 the text has "\\ufeffOTP is 12." where the template has "OTP is "',
    ],
    [
      'a letter with its accent apart',
      'café {#var#}',
      'cafe\u0301 12',
      '4 the text has "e\\u0301 12" where the template has "é "',
    ],
    ['no line break', 'Hi\n{#var#} you', 'Hi 12 you', '3 the text has " 12 you" where the template has "\\n"'],
    [
      'a sign of another script',
      'नमस्ते {#var#}',
      'नमस्त {#var#}',
      '6 the text has " {#var#}" where the template has "े "',
    ],
  ];
  for (const [what, content, text, said] of UNSEEN) {
    it(`shows a difference that nobody sees: ${what}`, () => {
      expect(explain(content, text).detail).to.equal(`The nearest template is ${ID}. At character ${said}.`);
    });
  }

  it('shows what nobody sees in a value of the wrong type', () => {
    expect(explain('OTP {#numeric#}.', 'OTP 12\u200b34.').detail).to.match(/takes digits, but got "12\\u200b34"\.$/);
  });

  it('names the slot that is too long, with its length and limit', () => {
    const value = 'x'.repeat(31);

    expect(explain('Dear {#var#}, from {#var#}.', `Dear Asha, from ${value}.`)).to.deep.equal({
      kind: 'slot_too_long',
      scrubCode: '635',
      detail: `The nearest template is ${ID}. Its slot 2 ({#var#}, at character 17) takes 30 characters, but got 31.`,
      template,
      at: 16,
      expected: '{#var#}',
      found: 'x'.repeat(20),
      slot: { number: 2, type: 'var', length: 31, max: 30 },
    });
  });

  it('finds a too long slot at the start, at the end, beside another difference and when there are several', () => {
    const long = 'y'.repeat(45);

    expect(explain('{#var#} ok', `${long} ok`).slot).to.include({ number: 1, length: 45 });
    expect(explain('ok {#var#}', `ok ${long}`).slot).to.include({ number: 1, length: 45 });
    expect(explain('a {#numeric#} b', `a ${'1'.repeat(41)} b`).slot).to.include({ number: 1, length: 41, max: 40 });
    expect(explain('Mr {#var#}, come {#var#}.', `Mr ${long}, come ${long}.`).slot).to.include({
      number: 1,
      length: 45,
    });
    expect(explain('Mr {#var#}, come now.', `Mr ${long}, come later.`)).to.include({ kind: 'text_differs' });
    expect(explain('Mr {#var#}, come {#var#} now.', `Mr ${long}, come x later.`).slot).to.include({ length: 45 });
  });

  it('names the slot whose value is of the wrong type', () => {
    const mismatch = explain('OTP {#numeric#} for {#var#}', 'OTP 12a4 for Asha');

    expect(mismatch).to.include({ kind: 'slot_wrong_type', scrubCode: '633', at: 4, found: '12a4' });
    expect(mismatch.slot).to.deep.equal({ number: 1, type: 'numeric', length: 4, max: 40 });
    expect(mismatch.detail).to.match(/slot 1 \(\{#numeric#\}, at character 5\) takes digits, but got "12a4"/);
    expect(explain('OTP {#numeric#}.', 'OTP .')).to.include({ kind: 'slot_wrong_type', found: '' });
    expect(explain('Go {#url#} {#numeric#}', 'Go there now')).to.include({ kind: 'slot_wrong_type', at: 3 });
  });

  it('says when another sender of the account has the template', () => {
    const mismatch = otherSender({ ...templateOf('Hi {#var#}', ID), senders: ['OTHERS'] });

    expect(mismatch).to.include({ kind: 'other_sender', scrubCode: '634' });
    expect(mismatch.detail).to.match(/approved for OTHERS/);
    expect(mismatch.template).to.deep.equal(template);
  });

  it('says when the sender has no template', () => {
    expect(explainMismatch(nothing, 'Hi')).to.include({ kind: 'no_template', scrubCode: '630' });
  });

  it('finds the nearest of thousands, also when they differ by a number only', () => {
    const contents = Array.from(
      { length: 2_000 },
      (_, i) => `Dear {#var#}, your parcel ${i + 10_000} comes {#var#} by van.`,
    );
    const index = indexTemplates(contents.map((content, i) => templateOf(content, `${1_000_000_000 + i}`)));

    const typo = explainMismatch(index, 'Dear Asha, your parcel 11234 comes today by vam.');
    const long = explainMismatch(index, `Dear Asha, your parcel 11987 comes ${'z'.repeat(31)} by van.`);

    expect(typo).to.include({ kind: 'text_differs', at: 46, expected: 'n.', found: 'm.' });
    expect(typo.template?.dltId).to.equal('1000001234');
    expect(long.template?.dltId).to.equal('1000001987');
    expect(long.slot).to.include({ number: 2, length: 31 });
  });

  const COSTLY: readonly (readonly [what: string, content: string, text: string])[] = [
    ['web addresses', `${'{#url#}'.repeat(280)}x`, 'a.b/'.repeat(375)],
    ['phone numbers', `${'{#cbn#}'.repeat(280)}x`, '123 '.repeat(375)],
    ['free text', `${'{#var#}a'.repeat(240)}x`, 'a'.repeat(1_500)],
  ];
  for (const [what, content, text] of COSTLY) {
    it(`names the nearest template, and no place, where finding it would take too long: slots of ${what}`, () => {
      expect(explain(content, text)).to.deep.equal({
        kind: 'text_differs',
        scrubCode: '633',
        detail: `The nearest template is ${ID}. It has too many slots, and the text is too long, to say where they differ.`,
        template,
      });
    });
  }

  it('finds the place in a long text of a template with many slots, as templates have them', () => {
    const content = `${'Dear {#var#}, see {#url#} or call {#cbn#}. '.repeat(5)}Bye`;
    const text = `${'Dear Asha, see a.b/c or call 12345. '.repeat(5)}By`;

    expect(explain(content, text)).to.include({ kind: 'text_differs', at: text.length, expected: 'e' });
    expect(explain('Go {#url#} now or never', `Go ${'a.b/'.repeat(375)} now`)).to.have.property('at');
  });

  it('says something of any text, with a place inside it', () => {
    const piece = fc.constantFrom('a', 'ab', ' b ', '🎊', '{#var#}', '{#numeric#}', '{#url#}', '{#email#}', '{#cbn#}');
    const contents = fc.array(
      fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('')),
      { minLength: 1, maxLength: 6 },
    );
    const texts = fc
      .array(fc.constantFrom('a', 'b', ' ', '1', '.', '🎉', '🎊'), { maxLength: 80 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(contents, texts, (all, text) => {
        const index = indexTemplates(all.map((content, i) => templateOf(content, `${1_000_000_000 + i}`)));

        const mismatch = explainMismatch(index, text);

        expect(mismatch.at).to.be.within(0, text.length);
        expect(mismatch.detail).to.match(/^The nearest template is \d+\./);
        expect(`${mismatch.expected} ${mismatch.found}`, 'half a character').to.not.match(/\p{Surrogate}/u);
      }),
      { numRuns: 500 },
    );
  });
});

describe('templates/quoted', () => {
  const ROWS: readonly (readonly [text: string, quoted: string])[] = [
    ['Hi "you" – नमस्ते 🎉', '"Hi \\"you\\" – नमस्ते 🎉"'],
    ['a\u00a0b\u200bc\ufeffd\u00ade\u2003f', '"a\\u00a0b\\u200bc\\ufeffd\\u00ade\\u2003f"'],
    ['tab\tline\nend\u0085', '"tab\\tline\\nend\\u0085"'],
    ['e\u0301 ❤\ufe0f', '"e\\u0301 ❤\\ufe0f"'],
    ['\u{e0067}', '"\\udb40\\udc67"'],
  ];
  for (const [text, expected] of ROWS) {
    it(`writes ${expected}`, () => {
      expect(quoted(text)).to.equal(expected);
      expect(JSON.parse(quoted(text))).to.equal(text);
    });
  }
});
