import fc from 'fast-check';
import {
  captureSlots,
  type IndexedTemplate,
  matchTemplate,
} from '../../../../../gateway/endpoints/sms/matching/match.ts';
import {
  fits,
  indexTemplates,
  type Limits,
  patternOf,
  referenceMatches,
  templateOf,
} from '../../../../shared/templates/sms/reference.ts';

const x = (count: number) => 'x'.repeat(count);

/** Template, text, the slots' values (undefined: no match). */
const CASES: readonly (readonly [string, string, readonly string[] | undefined])[] = [
  ['Your OTP is {#var#}.', 'Your OTP is 123456.', ['123456']],
  ['Your OTP is {#var#}.', 'Your OTP is .', ['']],
  ['Your OTP is {#var#}.', 'Your  OTP is 123456.', undefined],
  ['Your OTP is {#var#}.', 'your OTP is 123456.', undefined],
  ['Your OTP is {#var#}.', 'Your OTP is 123456. ', undefined],
  ['Your OTP is {#var#}.', ' Your OTP is 123456.', undefined],
  ['Your OTP is {#var#}.', 'Your OTP is 123456', undefined],
  ['no slot at all', 'no slot at all', []],
  ['no slot at all', 'no slot at al', undefined],
  ['{#var#} is late', 'The bus is late', ['The bus']],
  ['It is {#var#}', 'It is', undefined],
  ['It is {#var#}', 'It is ', ['']],
  // The limit of a slot at the start, in the middle and at the end.
  ['{#var#}!', `${x(30)}!`, [x(30)]],
  ['{#var#}!', `${x(31)}!`, undefined],
  ['a{#var#}b', `a${x(30)}b`, [x(30)]],
  ['a{#var#}b', `a${x(31)}b`, undefined],
  ['a{#var#}', `a${x(30)}`, [x(30)]],
  ['a{#var#}', `a${x(31)}`, undefined],
  // Adjacent slots share their limits.
  ['a{#var#}{#var#}b', `a${x(31)}b`, ['x', x(30)]],
  ['a{#var#}{#var#}b', `a${x(60)}b`, [x(30), x(30)]],
  ['a{#var#}{#var#}b', `a${x(61)}b`, undefined],
  ['{#numeric#}{#alphanumeric#}', '12ab', ['1', '2ab']],
  // The literal also occurs in a value, so its first occurrence is the wrong one.
  ['{#var#}-{#var#}', `a-b-${x(30)}`, ['a-b', x(30)]],
  ['{#var#} of {#var#}', 'King of Kings of Persia', ['King', 'Kings of Persia']],
  ['{#var#}ab{#var#}ab', 'ababab', ['', 'ab']],
  ['Ref {#var#} -{#var#}-', `Ref a-b- -${x(29)}--`, ['a-b-', `${x(29)}-`]],
  ['{#var#}.{#var#}.', `${'.'.repeat(62)}`, ['.'.repeat(30), '.'.repeat(30)]],
  ['{#var#}.{#var#}.', `${'.'.repeat(63)}`, undefined],
  // Scripts, emoji (two code units each) and line breaks.
  ['प्रिय {#var#}, आपका ओटीपी {#numeric#} है।', 'प्रिय आशा, आपका ओटीपी 4711 है।', ['आशा', '4711']],
  ['प्रिय {#var#}, आपका ओटीपी {#numeric#} है।', 'प्रिय आशा, आपका ओटीपी ४७११ है।', undefined],
  ['🎉 {#var#} 🎊', '🎉 🎂🎂 🎊', ['🎂🎂']],
  ['🎉{#var#}', `🎉${'🎂'.repeat(15)}`, ['🎂'.repeat(15)]],
  ['🎉{#var#}', `🎉${'🎂'.repeat(16)}`, undefined],
  ['Line one\nHi {#var#}\nBye', 'Line one\nHi Asha\nBye', ['Asha']],
  ['Line one\nHi {#var#}\nBye', 'Line one\r\nHi Asha\r\nBye', undefined],
  ['Line one\r\nHi {#var#}', 'Line one\r\nHi Asha', ['Asha']],
  ['To {#var#}.', 'To 12 High St\nPune.', ['12 High St\nPune']],
  // Typed slots.
  ['OTP {#numeric#}', 'OTP 004711', ['004711']],
  ['OTP {#number#}', 'OTP 004711', ['004711']],
  ['OTP {#numeric#}', 'OTP 4711a', undefined],
  ['OTP {#numeric#}', 'OTP ', undefined],
  ['OTP {#numeric#}5', 'OTP 455', ['45']],
  ['Id {#alphanumeric#}.', 'Id AB 12/c_d.e.', ['AB 12/c_d.e']],
  ['Id {#alphanumeric#}.', 'Id AB-12.', undefined],
  ['Id {#alphanumeric#}', `Id ${x(40)}`, [x(40)]],
  ['Id {#alphanumeric#}', `Id ${x(41)}`, undefined],
  ['Go {#url#} now', 'Go https://a.in/x?y=1 now', ['https://a.in/x?y=1']],
  ['Go {#url#} now', 'Go acme.co.in now', ['acme.co.in']],
  ['Go {#url#} now', 'Go away now', undefined],
  ['Go {#url#}.', 'Go http://a.in/x..', ['http://a.in/x.']],
  ['Get {#urlott#}', 'Get https://play.example.com/app', ['https://play.example.com/app']],
  ['Call {#cbn#}!', 'Call +91 98765 43210!', ['+91 98765 43210']],
  ['Call {#cbn#}!', 'Call 1800-123-4567!', ['1800-123-4567']],
  ['Call {#cbn#}!', 'Call 12!', undefined],
  ['Mail {#email#}.', 'Mail a.b+c@mail.example.com.', ['a.b+c@mail.example.com']],
  ['Mail {#email#}.', 'Mail a.b@localhost.', undefined],
  ['{#email#}{#var#}', 'a@b.co!', ['a@b.c', 'o!']],
];

describe('templates/match', () => {
  for (const [content, text, expected] of CASES) {
    const shown = text.length > 40 ? `${text.slice(0, 18)}… (${text.length})` : text;

    it(`${JSON.stringify(content)} ${expected ? 'takes' : 'refuses'} ${JSON.stringify(shown)}`, () => {
      const template = templateOf(content);

      expect(matchTemplate(indexTemplates([template]), text)).to.equal(expected && template);
      expect(captureSlots(template.pattern, text)).to.deep.equal(expected);
    });
  }

  it('refuses everything when there are no templates', () => {
    expect(matchTemplate(indexTemplates([]), 'hello')).to.equal(undefined);
    expect(matchTemplate(indexTemplates([]), '')).to.equal(undefined);
  });

  it('prefers the template with the most fixed text, then the tagged one, then the lowest id', () => {
    const loose = templateOf('Dear {#var#}', '1000000000000000001');
    const close = templateOf('Dear {#var#}, hi', '1000000000000000003');
    const same = templateOf('Dear {#var#}, hi', '1000000000000000002');

    const tagged = templateOf('Dear {#alphanumeric#}, hi', '1000000000000000004');
    for (const templates of [
      [loose, close, same],
      [same, close, loose],
      [close, loose, same],
    ]) {
      expect(matchTemplate(indexTemplates(templates), 'Dear Asha, hi')).to.equal(same);
      expect(matchTemplate(indexTemplates([...templates, tagged]), 'Dear Asha, hi')).to.equal(tagged);
      expect(matchTemplate(indexTemplates([tagged, ...templates]), "Dear O'Brien, hi")).to.equal(same);
      expect(matchTemplate(indexTemplates(templates), 'Dear Asha; hi')).to.equal(loose);
    }
  });

  it('keeps the side table of an operator', () => {
    const pattern = patternOf('{#var#} and {#var#}', {}, [{ type: 'numeric', max: 4 }]);
    expect(captureSlots(pattern, '1234 and more')).to.deep.equal(['1234', 'more']);
    expect(captureSlots(pattern, '12345 and more')).to.equal(undefined);
    expect(captureSlots(pattern, 'abcd and more')).to.equal(undefined);
  });

  it('finds each of 5,000 alike templates by its own text, and none by a text of none', () => {
    const contents = Array.from({ length: 5_000 }, (_, i) => `Dear {#var#}, code ${i}: {#var#}, ends ${i % 7}{#var#}.`);
    const templates = contents.map((content, i) => templateOf(content, String(1_107_160_000_000_000n + BigInt(i))));
    const index = indexTemplates(templates);

    for (let i = 0; i < templates.length; i += 97) {
      const text = `Dear Asha, code ${i}: ok, ends ${i % 7} now.`;
      expect(matchTemplate(index, text)).to.equal(templates[i]);
    }
    expect(matchTemplate(index, 'Dear Asha, code 5000: ok, ends 2 now.')).to.equal(undefined);
    expect(matchTemplate(index, 'Dear Asha, code 17: ok, ends 4 now.')).to.equal(undefined);
  });

  /** Template, text, whether it matches. Backtracking would try every division of these runs of one letter. */
  const HOSTILE: readonly (readonly [string, string, boolean])[] = [
    ['{#var#}a'.repeat(50), 'a'.repeat(1_530), true],
    [`${'{#var#}a'.repeat(50)}b`, 'a'.repeat(1_530), false],
    [`${'{#var#}a'.repeat(25)}b${'{#var#}a'.repeat(25)}`, 'a'.repeat(1_530), false],
    [`${'{#var#}a'.repeat(25)}b${'{#var#}a'.repeat(25)}`, `${'a'.repeat(760)}b${'a'.repeat(760)}`, true],
    [`${'{#var#}a'.repeat(25)}b${'{#var#}a'.repeat(25)}`, `${'a'.repeat(781)}b${'a'.repeat(740)}`, false],
    [`${'{#var#}'.repeat(51)}!`, `${'a'.repeat(1_530)}!`, true],
    [`${'{#var#}'.repeat(51)}!`, `${'a'.repeat(1_531)}!`, false],
    [`{#var#}${'ab'.repeat(300)}{#var#}${'ab'.repeat(300)}c`, `${'ab'.repeat(620)}c`, true],
    [`{#var#}${'ab'.repeat(300)}c{#var#}${'ab'.repeat(300)}`, 'ab'.repeat(615), false],
  ];
  for (const [content, text, matches] of HOSTILE) {
    it(`answers ${content.slice(0, 24)}… (${content.length}) to a text of ${text.length}`, () => {
      const template = templateOf(content);
      const crowd = Array.from({ length: 200 }, (_, i) => templateOf(`${content}{#var#}${i}`, `${2_000_000_000 + i}`));

      expect(matchTemplate(indexTemplates([...crowd, template]), text)).to.equal(matches ? template : undefined);
    });
  }

  it('agrees with trying every cut, for many small templates at once', () => {
    fc.assert(
      fc.property(fc.array(contentOf, { minLength: 1, maxLength: 12 }), textOf, (contents, text) => {
        const templates = contents.map((content, i) => templateOf(content, `${1_000_000_000 + i}`, SMALL));
        const fitting = templates.filter((template) => referenceMatches(template.pattern, text));

        expect(matchTemplate(indexTemplates(templates), text)).to.equal(preferred(fitting));
        for (const template of templates) {
          expect(captureSlots(template.pattern, text) !== undefined).to.equal(fitting.includes(template));
        }
      }),
      { numRuns: 1_500 },
    );
  });

  it('agrees with trying every cut on texts made from the template, whole or with one character changed', () => {
    fc.assert(
      fc.property(
        contentOf,
        fc.array(textOf, { minLength: 8, maxLength: 8 }),
        fc.nat(),
        textOf,
        (content, values, at, other) => {
          const template = templateOf(content, '1000000000', SMALL);
          const made = template.pattern.parts
            .map((part) => (part.kind === 'literal' ? part.text : (values[part.index % 8] ?? '')))
            .join('');
          const cut = made.length === 0 ? 0 : at % made.length;
          for (const text of [made, made.slice(0, cut) + other + made.slice(cut + 1)]) {
            const expected = referenceMatches(template.pattern, text);

            expect(matchTemplate(indexTemplates([template]), text) === template).to.equal(expected);
          }
        },
      ),
      { numRuns: 1_500 },
    );
  });

  it('agrees with the plain sets on long texts that fit or almost fit', () => {
    fc.assert(
      fc.property(
        longContentOf,
        fc.infiniteStream(fc.integer({ min: 0, max: 32 })),
        fc.nat(),
        (content, lengths, at) => {
          const template = templateOf(content);
          const values = template.pattern.slots.map(() => 'a'.repeat(lengths.next().value ?? 0));
          const text = fill(template, values);
          const cut = at % (text.length + 1);
          const crowd = indexTemplates([templateOf(`${content}a`, '1000000000000000002'), template]);
          for (const tried of [text, `${text.slice(0, cut)}b${text.slice(cut + 1)}`, `${text.slice(0, cut)}${text}`]) {
            const read = captureSlots(template.pattern, tried);

            expect(matchTemplate(indexTemplates([template]), tried) === template).to.equal(read !== undefined);
            if (read !== undefined) {
              expect(matchTemplate(crowd, tried)).to.not.equal(undefined);
              expect(fill(template, read)).to.equal(tried);
              for (const [i, slot] of template.pattern.slots.entries()) {
                expect(fits(slot, read[i] ?? '', 0, (read[i] ?? '').length)).to.equal(true);
              }
            }
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});

function fill(template: IndexedTemplate, values: readonly string[]): string {
  return template.pattern.parts.map((part) => (part.kind === 'literal' ? part.text : values[part.index])).join('');
}

/** Short, because the reference matcher tries every length. */
const SMALL: Limits = { var: 3, numeric: 3, alphanumeric: 4, url: 7, cbn: 6, email: 7 };

/** Few letters, so that literals and values look alike. */
const textOf = fc
  .array(fc.constantFrom('a', 'a', 'b', '1', '1', '.', ' ', '@', 'é', '🎂', '\n'), { maxLength: 9 })
  .map((pieces) => pieces.join(''));
const slotOf = fc.constantFrom('var', 'var', 'var', 'numeric', 'alphanumeric', 'url', 'cbn', 'email');
const contentOf = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', 'aa', 'ab', 'b', '1', '.', ' ', '@', 'é', '🎂'),
      slotOf.map((word) => `{#${word}#}`),
    ),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((pieces) => pieces.join(''));
const longContentOf = fc
  .array(
    fc.oneof(
      fc.nat(90).map((n) => 'a'.repeat(n + 1)),
      fc.constantFrom('{#var#}', '{#alphanumeric#}'),
      fc.constant('b'),
    ),
    { minLength: 2, maxLength: 40 },
  )
  .map((pieces) => pieces.join(''))
  .filter((content) => content.length <= 2_000);

function preferred(templates: readonly IndexedTemplate[]): IndexedTemplate | undefined {
  const [first] = [...templates].sort(
    (a, b) =>
      b.pattern.literalLength - a.pattern.literalLength || anyTexts(a) - anyTexts(b) || (a.dltId < b.dltId ? -1 : 1),
  );
  return first;
}

function anyTexts({ pattern }: IndexedTemplate): number {
  return pattern.slots.filter(({ type }) => type === 'var').length;
}
