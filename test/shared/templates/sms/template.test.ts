import fc from 'fast-check';
import { matchTemplate } from '../../../../gateway/endpoints/sms/matching/match.ts';
import { CONTENT_MAX, parseContent, renderTemplate } from '../../../../shared/templates/sms/pattern.ts';
import { isOfType, SLOT_VALUES, SLOT_WORDS, type SlotType } from '../../../../shared/templates/sms/slot.ts';
import { routesOfSenders, templateFaults } from '../../../../shared/templates/sms/template.ts';
import { makeTemplate } from './make.ts';
import { indexTemplates, patternOf, templateOf } from './reference.ts';

describe('templates/template-form', () => {
  it('has nothing against a template as it should be', () => {
    expect(
      templateFaults(makeTemplate({ entityId: '110100001483', slots: [{ type: 'numeric', max: 6 }] })),
    ).to.deep.equal([]);
  });

  it('lists everything that is wrong', () => {
    const faults = templateFaults({
      dltId: '123456789',
      name: '',
      senders: ['HARKRA', 'not a sender id'],
      routes: [],
      entityId: 'PE1',
      content: '{#Var#} {#',
      slots: [{ type: 'url' }],
      status: 'approved',
    });

    expect(faults.map(({ field }) => field)).to.deep.equal([
      'dltId',
      'name',
      'senders',
      'routes',
      'entityId',
      'content',
      'content',
      'content',
    ]);
    expect(faults[5]?.detail).to.match(/^At character 1: \{#Var#\}/);
  });

  it('says that a spreadsheet has rounded an id', () => {
    expect(templateFaults(makeTemplate({ dltId: '1.10716E+18' }))[0]?.detail).to.match(/spreadsheet has rounded/);
    expect(templateFaults(makeTemplate({ dltId: 'abc' }))[0]?.detail).not.to.match(/spreadsheet/);
  });

  it('takes headers of digits for promotional ones', () => {
    expect(routesOfSenders(['456789'])).to.deep.equal(['promotional']);
    expect(routesOfSenders(['HARKRA'])).to.deep.equal(['transactional']);
    expect(routesOfSenders(['HARKRA', '456789'])).to.deep.equal(['transactional']);
  });
});

const WHOLE: readonly (readonly [string, readonly string[]])[] = [
  ['plain', ['plain']],
  ['{#var#}', ['var 0-30']],
  ['a{#var#}{#var#}b', ['a', 'var 0-30', 'var 0-30', 'b']],
  ['{#numeric#}{#number#}', ['numeric 1-40', 'numeric 1-40']],
  ['{#alphanumeric#} {#cbn#}', ['alphanumeric 1-40', ' ', 'cbn 1-20']],
  ['{#url#}{#urlott#}{#email#}', ['url 1-120', 'urlott 1-120', 'email 1-80']],
  ['order #{#var#} {x} #sale# { } ## {} 100%', ['order #', 'var 0-30', ' {x} #sale# { } ## {} 100%']],
  ['line\r\n{#var#}\n', ['line\r\n', 'var 0-30', '\n']],
];

/** Content, position of its fault, error text. */
const MALFORMED: readonly (readonly [string, number, RegExp])[] = [
  ['', 0, /empty/],
  ['Hi {#Var#}', 3, /\{#var#\}: capitals count/],
  ['Hi {#VAR#}', 3, /capitals count/],
  ['Hi {#name#}', 3, /no slot. Known are \{#var#\}/],
  ['Hi {#var1#}', 3, /no slot/],
  ['Hi {#var}', 3, /a slot is written \{#var#\}/],
  ['Hi {var#}', 3, /a slot is written \{#var#\}/],
  ['Hi {var}', 3, /a slot is written \{#var#\}/],
  ['Hi {# var #}', 3, /a slot is written \{#var#\}/],
  ['Hi #numeric#.', 3, /a slot is written \{#numeric#\}/],
  ['Hi {#', 3, /not whole/],
  ['Hi {#var', 3, /not whole/],
  ['Hi {#{#var#}', 3, /not whole/],
  ['Hi {#var#}#}', 10, /not whole/],
  ['Hi \ud83d!', 3, /Half a character/],
  ['x'.repeat(CONTENT_MAX + 1), CONTENT_MAX, /2001 characters/],
];

describe('templates/pattern', () => {
  for (const [content, parts] of WHOLE) {
    it(`takes ${JSON.stringify(content)} apart`, () => {
      const { parts: found } = patternOf(content);

      const shown = found.map((part) =>
        part.kind === 'literal' ? part.text : `${part.slot.type} ${part.slot.min}-${part.slot.max}`,
      );
      expect(shown).to.deep.equal(parts);
    });
  }

  for (const [content, at, detail] of MALFORMED) {
    it(`says where ${JSON.stringify(content.slice(0, 20))} is wrong`, () => {
      const parsed = parseContent(content);

      if (parsed.kind !== 'malformed') throw new Error('was taken');
      expect(parsed.faults[0]?.at).to.equal(at);
      expect(parsed.faults[0]?.detail).to.match(detail);
    });
  }

  it('lists every fault', () => {
    const parsed = parseContent('{#Var#} {#var#} {#x#} {#');

    expect(parsed.kind === 'malformed' && parsed.faults.map((fault) => fault.at)).to.deep.equal([0, 16, 22]);
  });

  it('lets the side table say what a {#var#} holds, and never what a typed slot holds', () => {
    const { slots } = patternOf('{#var#} {#numeric#} {#var#}', {}, [
      { type: 'url', max: 50 },
      { type: 'var', max: 9 },
    ]);

    expect(slots).to.deep.equal([
      { type: 'url', min: 1, max: 50 },
      { type: 'numeric', min: 1, max: 40 },
      { type: 'var', min: 0, max: 30 },
    ]);
  });

  it('refuses rules for slots that are not there', () => {
    const parsed = parseContent('{#var#}', [{ type: 'var' }, { type: 'url' }]);

    expect(parsed.kind === 'malformed' && parsed.faults[0]?.detail).to.match(/1 slots, but rules for 2/);
  });

  it('reads the worst content of full length at once', () => {
    for (const piece of ['{#', '#', '{ ', '{#var', '{#a']) {
      expect(() => parseContent(piece.repeat(CONTENT_MAX / piece.length))).not.to.throw();
    }
  });
});

describe('templates/render', () => {
  it('fills the slots in order', () => {
    const pattern = patternOf('Dear {#var#}, {#numeric#} is your OTP{#var#}');

    expect(renderTemplate(pattern, ['आशा', '0042', ''])).to.deep.equal({
      kind: 'text',
      text: 'Dear आशा, 0042 is your OTP',
    });
  });

  it('puts a param in as it is, also one that looks like a slot or a replacement pattern', () => {
    expect(renderTemplate(patternOf('a {#var#} {#var#}'), ['{#var#} $&', '$1'])).to.deep.equal({
      kind: 'text',
      text: 'a {#var#} $& $1',
    });
  });

  it('lists every problem of every param', () => {
    const pattern = patternOf('{#var#} {#numeric#} {#url#} {#email#}');

    const rendered = renderTemplate(pattern, ['x'.repeat(31), `a${'1'.repeat(40)}`, '']);

    expect(rendered.kind === 'invalid' && rendered.problems).to.deep.equal([
      { code: 'wrong_count', detail: 'Give one param for each slot of the template: 4, not 3.' },
      { index: 0, code: 'too_long', detail: 'It has 31 characters; the slot takes 30.' },
      { index: 1, code: 'too_long', detail: 'It has 41 characters; the slot takes 40.' },
      { index: 1, code: 'wrong_type', detail: 'The slot is {#numeric#} and takes digits.' },
      { index: 2, code: 'wrong_type', detail: 'The slot is {#url#} and takes a web address.' },
    ]);
  });

  it('takes no more params than slots', () => {
    expect(renderTemplate(patternOf('plain'), ['x']).kind).to.equal('invalid');
    expect(renderTemplate(patternOf('plain'), [])).to.deep.equal({ kind: 'text', text: 'plain' });
  });

  it('makes only texts that match their template', () => {
    const content = fc
      .array(
        fc.constantFrom('a', 'b ', '{#var#}', '{#numeric#}', '{#alphanumeric#}', '{#url#}', '{#cbn#}', '{#email#}'),
        {
          minLength: 1,
          maxLength: 8,
        },
      )
      .map((pieces) => pieces.join(''));
    const param = fc.oneof(fc.string({ maxLength: 33 }), fc.constantFrom('12', '1800 123', 'a.in/x', 'a@b.co', 'a b'));
    fc.assert(
      fc.property(content, fc.array(param, { minLength: 8, maxLength: 8 }), (text, params) => {
        const template = templateOf(text);

        const rendered = renderTemplate(template.pattern, params.slice(0, template.pattern.slots.length));

        if (rendered.kind === 'text') {
          expect(matchTemplate(indexTemplates([template]), rendered.text)).to.equal(template);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

const GOOD: Readonly<Record<SlotType, readonly string[]>> = {
  var: ['', 'anything 🎉\n'],
  numeric: ['0', '0042'],
  alphanumeric: ['AB 12/c_d.', 'आशा', 'É', 'क्\u200dष', 'می\u200cخواهم'],
  url: ['a.in', 'a.in/', 'HTTP://a.in', 'https://a-b.co.in:8080/x?y=1#z', 'a.in?x', '1.2.3.4/x'],
  urlott: ['https://play.example.com/store/apps?id=x'],
  cbn: ['139', '1800-123-4567', '+91 98765 43210', '919876543210'],
  email: ['a@b.co', "o'neil.b+c_d%@x-y.example.com"],
};
const BAD: Readonly<Record<SlotType, readonly string[]>> = {
  var: [],
  numeric: ['', '1,000', '12a', '४७', '-1', ' 1'],
  alphanumeric: ['', 'a-b', 'a@b', '🎉', 'a\nb', 'a\u200bb'],
  url: ['', 'a', 'https://', 'https://a', 'a.', '.in', 'a..in', '-a.in', 'a.in x', 'ftp://a.in', 'a.in-'],
  urlott: ['app'],
  cbn: ['', '12', '1234567890123456', '12-', '1--23', '+', '(022) 123', '12a', ' 123'],
  email: ['', 'a', '@b.co', 'a@', 'a@b', '.a@b.co', 'a.@b.co', 'a b@c.co', 'a@b.co.', 'a@@b.co'],
};

describe('templates/slot-value', () => {
  for (const type of new Set(SLOT_WORDS.values())) {
    for (const value of GOOD[type]) {
      it(`${type} takes ${JSON.stringify(value)}`, () => expect(isOfType(type, value)).to.equal(true));
    }
    for (const value of BAD[type]) {
      it(`${type} refuses ${JSON.stringify(value)}`, () => expect(isOfType(type, value)).to.equal(false));
    }
  }

  it('a shape tells every place where a value may end, within the limit', () => {
    const ends = (type: SlotType, text: string, start: number, limit: number) => {
      const values = SLOT_VALUES[type];
      return values.kind === 'shape' ? values.ends(text, start, limit) : [];
    };

    expect(ends('url', 'to a.in/x y', 3, 11)).to.deep.equal([6, 7, 8, 9]);
    expect(ends('url', 'to a.in/x y', 3, 8)).to.deep.equal([6, 7, 8]);
    expect(ends('email', 'a@b.co.in', 0, 9)).to.deep.equal([5, 6, 8, 9]);
    expect(ends('cbn', '12345 6', 0, 7)).to.deep.equal([3, 4, 5, 7]);
  });
});
