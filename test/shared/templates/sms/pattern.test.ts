import { expect } from 'chai';
import { CONTENT_MAX, parseContent } from '../../../../shared/templates/sms/pattern.ts';
import { DEFAULT_SLOT_LIMITS } from '../../../../shared/templates/sms/slot.ts';
import { patternOf } from './reference.ts';

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

/** The content, where its fault begins, what the error says. */
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
      const parsed = parseContent(content, DEFAULT_SLOT_LIMITS);

      if (parsed.kind !== 'malformed') throw new Error('was taken');
      expect(parsed.faults[0]?.at).to.equal(at);
      expect(parsed.faults[0]?.detail).to.match(detail);
    });
  }

  it('lists every fault', () => {
    const parsed = parseContent('{#Var#} {#var#} {#x#} {#', DEFAULT_SLOT_LIMITS);

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
    const parsed = parseContent('{#var#}', DEFAULT_SLOT_LIMITS, [{ type: 'var' }, { type: 'url' }]);

    expect(parsed.kind === 'malformed' && parsed.faults[0]?.detail).to.match(/1 slots, but rules for 2/);
  });

  it('measures what can match', () => {
    const { literalLength, minLength, maxLength } = patternOf('ab{#var#}c{#numeric#}');

    expect({ literalLength, minLength, maxLength }).to.deep.equal({ literalLength: 3, minLength: 4, maxLength: 73 });
  });

  it('reads the worst content of full length at once', () => {
    for (const piece of ['{#', '#', '{ ', '{#var', '{#a']) {
      expect(() => parseContent(piece.repeat(CONTENT_MAX / piece.length), DEFAULT_SLOT_LIMITS)).not.to.throw();
    }
  });
});
