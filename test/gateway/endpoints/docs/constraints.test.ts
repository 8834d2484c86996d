import { expect } from 'chai';
import { constraintsOf, typeOf } from '../../../../gateway/endpoints/docs/constraints.ts';
import type { Schema } from '../../../../gateway/http/fields/field.ts';

describe('docs/constraints: what a schema demands, in words', () => {
  const rows: readonly [Schema, readonly string[]][] = [
    [{ type: 'string', enum: ['a', 'b'] }, ['one of <code>a</code>, <code>b</code>']],
    [{ const: true }, ['always <code>true</code>']],
    [{ default: 'normal' }, ['default <code>&quot;normal&quot;</code>']],
    [{ minimum: 1, maximum: 10_000 }, ['1 to 10,000']],
    [{ minimum: 0 }, ['at least 0']],
    [{ maximum: 2.5 }, ['at most 2.5']],
    [{ minLength: 1, maxLength: 255 }, ['1 to 255 characters']],
    [{ maxLength: 1 }, ['at most 1 character']],
    [{ type: 'array', minItems: 1 }, ['at least 1 entry']],
    [{ type: 'array', minItems: 2, maxItems: 2, uniqueItems: true }, ['exactly 2 entries', 'no entry twice']],
    [{ pattern: '^<b>$' }, ['pattern <code>^&lt;b&gt;$</code>']],
    [{ format: 'date-time', pattern: 'x' }, ['a time as ISO 8601 has it, with its offset from UTC']],
    [{ format: 'byte' }, ['format <code>byte</code>']],
  ];
  for (const [schema, phrases] of rows) {
    it(JSON.stringify(schema), () => {
      expect(constraintsOf(schema)).to.deep.equal(phrases);
    });
  }

  it('names types: of entries, of forms, and null', () => {
    expect(typeOf({ type: 'array', items: { type: ['string', 'null'] } })).to.equal('list of string or null');
    expect(typeOf({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }] })).to.equal(
      'string or list of integer',
    );
  });
});
