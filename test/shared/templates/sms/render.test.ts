import { expect } from 'chai';
import fc from 'fast-check';
import { matchTemplate } from '../../../../gateway/endpoints/sms/matching/match.ts';
import { renderTemplate } from '../../../../shared/templates/sms/render.ts';
import { indexTemplates, patternOf, templateOf } from './reference.ts';

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
