import { z } from 'zod';
import { componentsOf, exampleOf } from '../../../gateway/api/contract.ts';
import { decimal, flag, id, text, time, whole } from '../../../gateway/api/shapes.ts';

const Status = z.enum(['queued', 'sent']).meta({ id: 'Status', description: 'Where it is.' });
const Attempt = z.strictObject({ at: time(undefined, '2026-11-22T14:02:00+00:00') }).meta({ id: 'Attempt' });
const words = { send: z.literal('success'), dry: z.literal(0) };

function schemaOf(shape: z.ZodType): unknown {
  return componentsOf([z.object({ field: shape }).meta({ id: 'Whole' })]).Whole?.properties?.field;
}

describe('JSON Schemas of shapes', () => {
  for (const [what, shape, schema] of [
    [
      'a text',
      text('Its name.', { maxLength: 9, example: 'a' }),
      { type: 'string', description: 'Its name.', maxLength: 9 },
    ],
    ['a pattern', text(undefined, { pattern: '^[A-Z]{3}$' }), { type: 'string', pattern: '^[A-Z]{3}$' }],
    [
      'a time',
      time(),
      { type: 'string', format: 'date-time', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\+00:00$' },
    ],
    [
      'an id',
      id('msg', 'Its id.'),
      { type: 'string', description: 'Its id.', pattern: '^msg_[0-9a-hjkmnp-tv-z]{26}$' },
    ],
    ['a whole number without limits', whole(), { type: 'integer' }],
    [
      'a whole number with a limit',
      whole('Left.', { minimum: 0 }),
      { type: 'integer', description: 'Left.', minimum: 0 },
    ],
    ['any number', decimal(undefined, { minimum: 0, maximum: 1 }), { type: 'number', minimum: 0, maximum: 1 }],
    ['a flag', flag('Whether.'), { type: 'boolean', description: 'Whether.' }],
    ['a word', words.send, { type: 'string', const: 'success' }],
    ['a whole number that is always the same', words.dry, { type: 'integer', const: 0 }],
    ['one of several words', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['a text or null', text('Why.').nullable(), { type: ['string', 'null'], description: 'Why.' }],
    [
      'a word or null',
      z.enum(['a']).nullable(),
      { oneOf: [{ type: 'string', enum: ['a'] }, { $ref: '#/components/schemas/Nothing' }] },
    ],
    ['a text or a whole number', z.union([whole(), text()]), { type: ['integer', 'string'] }],
    ['a list or null', z.array(whole()).nullable(), { type: ['array', 'null'], items: { type: 'integer' } }],
    ['a name', Status, { $ref: '#/components/schemas/Status' }],
    ['a name with an example of its own', Status.meta({ example: 'sent' }), { $ref: '#/components/schemas/Status' }],
    [
      'a name or null',
      Attempt.nullable().meta({ description: 'The last one.' }),
      {
        oneOf: [{ $ref: '#/components/schemas/Attempt' }, { $ref: '#/components/schemas/Nothing' }],
        description: 'The last one.',
      },
    ],
    [
      'fields with any name',
      z.record(z.string(), whole()),
      { type: 'object', additionalProperties: { type: 'integer' } },
    ],
    [
      'an object with further fields',
      z.looseObject({ a: text().optional() }),
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
    ],
  ] as const) {
    it(what, () => {
      expect(schemaOf(shape)).to.deep.equal(schema);
    });
  }

  it('names are components, also those that are met only inside others', () => {
    const components = componentsOf([z.strictObject({ tries: z.array(Attempt) }).meta({ id: 'Delivery' })]);

    expect(Object.keys(components)).to.have.members(['Delivery', 'Attempt', 'Nothing']);
    expect(components.Delivery).to.deep.equal({
      type: 'object',
      properties: { tries: { type: 'array', items: { $ref: '#/components/schemas/Attempt' } } },
      required: ['tries'],
      additionalProperties: false,
    });
  });
});

describe('examples of shapes', () => {
  for (const [what, shape, example] of [
    ['what the parts show', z.object({ name: text('', { example: 'a' }), open: flag() }), { name: 'a', open: false }],
    ['the first of several words', z.object({ is: Status, always: words.send }), { is: 'queued', always: 'success' }],
    ['another word where one stands', z.object({ is: Status.meta({ example: 'sent' }) }), { is: 'sent' }],
    [
      'optional fields only with an example',
      z.object({ a: text().optional(), b: whole('', { example: 2 }).optional() }),
      { b: 2 },
    ],
    [
      'optional objects when a field has one',
      z.object({ a: z.object({ b: text('', { example: 'c' }) }).optional() }),
      { a: { b: 'c' } },
    ],
    ['null for a name that may be null', z.object({ last: Attempt.nullable() }), { last: null }],
    ['a text that may be null', z.object({ why: text('', { example: 'x' }).nullable() }), { why: 'x' }],
    [
      'lists of objects have one entry',
      z.object({ data: z.array(Attempt) }),
      { data: [{ at: '2026-11-22T14:02:00+00:00' }] },
    ],
    ['other lists none', z.object({ words: z.array(text()) }), { words: [] }],
    ['the first alternative', z.union([Attempt, Status]), { at: '2026-11-22T14:02:00+00:00' }],
  ] as const) {
    it(what, () => {
      expect(exampleOf(shape)).to.deep.equal(example);
    });
  }

  it('a text without one is a mistake', () => {
    expect(() => exampleOf(z.object({ name: text('Its name.') }))).to.throw('Its name.');
  });
});
