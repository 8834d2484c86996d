import { expect } from 'chai';
import { parseShapedJson, type Shape, type Shaped, SMALL } from '../../../gateway/http/shaped-json.ts';
import { TooLargeError } from '../../../shared/runtime/large-json.ts';

const ITEM: Shape = { kind: 'item', members: { id: SMALL, text: SMALL } };
const SHAPE: Shape = {
  kind: 'members',
  members: {
    name: SMALL,
    items: { kind: 'entries', entries: ITEM },
    boxes: {
      kind: 'entries',
      entries: { kind: 'members', members: { items: { kind: 'entries', entries: ITEM } } },
    },
  },
};
const parse = (text: string, shape = SHAPE): Promise<Shaped> => parseShapedJson(Buffer.from(text), shape);
const failure = (text: string): Promise<unknown> =>
  parse(text).then(
    (value) => value,
    (error: unknown) => error,
  );
const LARGE = 'x'.repeat(70_000);
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `i${i}`, text: ['"]},{', '\\"', i] }));

describe('JSON by its shape, in slices', () => {
  for (const [what, value] of [
    ['nothing', {}],
    ['empty lists', { items: [], boxes: [] }],
    ['a few of each', { name: 'नमस्ते 😀', items: many(3), boxes: [{ items: many(1) }, {}, { items: [] }] }],
    ['thousands', { items: many(20_000), boxes: [{ items: many(5_000) }] }],
    ['members of other types', { name: { a: [1] }, items: 5, boxes: 'x' }],
    ['entries of other types', { items: [1, null, 'x', [[]], { id: 1 }], boxes: [0, [], 'y', { items: { a: 1 } }] }],
    ['numbers and words', { items: [-1.5e3, true, false, null] }],
    ['a small item with members beyond its shape', { items: [{ other: [1, { a: 2 }] }] }],
  ] as const) {
    it(`is what JSON.parse says: ${what}`, async () => {
      expect(await parse(JSON.stringify(value))).to.deep.equal({ value, cut: 0 });
      expect(await parse(` \n${JSON.stringify(value, null, '\t ')}\r\n`)).to.deep.equal({ value, cut: 0 });
    });
  }

  it('passes over members that are not wanted, however large or deep', async () => {
    const text = `{"a":${JSON.stringify(many(9_000))},"name":"n","b":${'['.repeat(300_000)}${']'.repeat(300_000)},"c":"${LARGE}"}`;

    expect(await parse(text)).to.deep.equal({ value: { name: 'n' }, cut: 0 });
  });

  it('reads a large item as far as its shape goes, and counts it, and those beside it whole', async () => {
    const large = { other: many(9_000), id: 'large', text: LARGE };
    const items = [{ id: 'a', more: 1 }, large, { id: 'b', more: 2 }];

    expect(await parse(JSON.stringify({ items, name: LARGE }))).to.deep.equal({
      value: {
        items: [
          { id: 'a', more: 1 },
          { id: 'large', text: undefined },
          { id: 'b', more: 2 },
        ],
        name: undefined,
      },
      cut: 2,
    });
  });

  it('takes the last of the same names, an escaped name for what it is, and "__proto__" for no member', async () => {
    expect(await parse('{"name":1,"n\\u0061me":2,"__proto__":{"x":1},"constructor":3}')).to.deep.equal({
      value: { name: 2 },
      cut: 0,
    });
  });

  for (const text of [
    '',
    ' ',
    '{',
    '{"items":[1,]}',
    '{"items":[,1]}',
    '{"items":[1,,2]}',
    '{"items":[1 2]}',
    '{"items":[1}',
    '{"items":[1]',
    '{"items":[1]}}',
    '{"items":[1]} x',
    '{"items":[x]}',
    '{"items":["x]}',
    '{"items":[{"id":1]]}',
    '{"name":}',
    '{"name" 1}',
    '{"name":1,}',
    '{,"name":1}',
    '{name:1}',
    '{"name":"\\',
    '{"a":[}',
    '{"a":"',
    '['.repeat(100_000),
    '{"a":'.repeat(50_000),
    ']',
  ]) {
    it(`is a SyntaxError: ${text.slice(0, 30)}`, async () => {
      expect(await failure(text)).to.be.instanceOf(SyntaxError);
    });
  }

  for (const [what, entry] of [
    ['numbers', '1'],
    ['objects', '{}'],
    ['lists', '[]'],
  ] as const) {
    it(`refuses more values than anybody reads: ${what}`, async () => {
      for (const name of ['items', 'boxes']) {
        const error = await failure(`{"${name}":[${Array(260_000).fill(entry).join()}]}`);

        expect(error, name).to.be.instanceOf(TooLargeError);
      }
    });
  }

  it('lets others have their turn between items, and between members that it passes over', async () => {
    for (const text of [
      JSON.stringify({ items: many(30_000) }),
      `{${Array.from({ length: 300_000 }, (_, i) => `"${i}":0`).join()}}`,
    ]) {
      let turns = 0;
      const count = setInterval(() => turns++, 0);
      await parse(text);
      clearInterval(count);

      expect(turns).to.be.above(2);
    }
  });
});
