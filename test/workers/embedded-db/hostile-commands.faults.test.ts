import { rmSync } from 'node:fs';
import { type Document, Int32, Long, serialize } from 'bson';
import { RawClient } from './raw-client.ts';
import { type StoreProcess, startStoreProcess } from './store-process.ts';
import { EMBEDDED, tempDir } from './store-under-test.ts';

type Case = readonly [what: string, command: Document, code: number];

const NUL = 'a\0b';

/** `{ a: { a: … } }`, so many levels deep. */
function nested(levels: number): Document {
  let doc: Document = {};
  for (let i = 0; i < levels; i++) doc = { a: doc };
  return doc;
}

const CASES: readonly Case[] = [
  ['killCursors of a number', { killCursors: 'c', cursors: 5 }, 2],
  ['killCursors of nothing', { killCursors: 'c' }, 2],
  ['killCursors of texts', { killCursors: 'c', cursors: ['x', 1.5, null] }, 2],
  ['a NUL in a path of $unset', update([{ $unset: NUL }]), 2],
  ['a NUL in a field path', update([{ $set: { x: `$${NUL}` } }]), 2],
  ['a NUL in the name of an index', createIndex({ key: { z: 1 }, name: NUL }), 67],
  ['a NUL in the name of a collection', { find: NUL }, 73],
  ['a NUL in the name of a database', { find: 'c', $db: NUL }, 73],
  ['a collection with a name of 8,000 bytes', { insert: 'c'.repeat(8000), documents: [{}] }, 73],
  ['a collection with a name of 256 bytes', { insert: 'é'.repeat(127), documents: [{}] }, 73],
  ['a database with a name of 64 bytes', { insert: 'c', documents: [{}], $db: 'd'.repeat(64) }, 73],
  ['a document of 199 levels in a command', { insert: 'c', documents: [nested(199)] }, 15],
  ['a filter of 5,000 levels', { find: 'c', filter: nested(5000) }, 15],
  ['a path of a million parts', update({ $set: { ['a.'.repeat(1_000_000) + 1]: 1 } }), 15],
  ['a filter with a path of a million parts', { find: 'c', filter: { ['a.'.repeat(1_000_000) + 1]: 1 } }, 15],
  ['an index of 33 fields', createIndex({ key: fields(33), name: 'many' }), 67],
  ['parallel arrays', { insert: 'arrays', documents: [{ a: { b: [1, 2], c: [1, 2] } }] }, 171],
  ['parallel arrays inside an array', { insert: 'arrays', documents: [{ a: [{ b: [1], c: [2] }] }] }, 171],
  [
    'an array of more keys than one document may have',
    { insert: 'arrays', documents: [{ a: { b: many(100_001) } }] },
    201,
  ],
  [
    'one whose elements would have to be looked at too often',
    { insert: 'arrays', documents: [{ a: pairs(4_000) }] },
    201,
  ],
  ['a regular expression that backtracks for ever', { find: 'c', filter: { text: { $regex: '^(a+)+$' } } }, 238],
  [
    'the same in an update',
    { update: 'c', updates: [{ q: { text: { $regex: '(a|a)*$' } }, u: { $set: { n: 0 } } }] },
    238,
  ],
  ['a NUL in a regular expression', { find: 'c', filter: { text: { $regex: NUL } } }, 2],
];

function update(u: unknown): Document {
  return { update: 'c', updates: [{ q: {}, u, multi: true }] };
}

function createIndex(spec: Document): Document {
  return { createIndexes: 'c', indexes: [spec] };
}

function fields(count: number): Document {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));
}

function many(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

function pairs(count: number): Document[] {
  return many(count).map((i) => ({ b: i, c: i }));
}

if (EMBEDDED) {
  describe('embedded-db, asked by somebody hostile', () => {
    let dir: string;
    let store: StoreProcess;
    let client: RawClient;
    before(async () => {
      dir = tempDir();
      store = await startStoreProcess(dir);
      client = await RawClient.open(store.socket);
      await send({ insert: 'c', documents: [{ _id: 1, n: 1, text: `${'a'.repeat(60)}!` }] });
      await send(createIndex({ key: { n: 1 }, name: 'n_1', expireAfterSeconds: 100_000 }));
      await send({ createIndexes: 'arrays', indexes: [{ key: { 'a.b': 1, 'a.c': 1 }, name: 'bc' }] });
    });
    after(async () => {
      client.close();
      await store.kill();
      rmSync(dir, { recursive: true, force: true });
    });

    async function send(command: Document): Promise<Document> {
      return client.command(serialize({ ...command, $db: command.$db ?? 'x' }));
    }

    for (const [what, command, code] of CASES) {
      it(`answers ${what} with ${code}, and goes on`, async () => {
        const reply = await send(command);

        const [first] = reply.writeErrors ?? [];
        expect(first?.code ?? reply.code, JSON.stringify(reply)).to.equal(code);
        expect((await send({ find: 'c', filter: {} })).cursor.firstBatch).to.deep.equal([
          { _id: 1, n: 1, text: `${'a'.repeat(60)}!` },
        ]);
        expect(store.ended()).to.equal(undefined);
      });
    }

    it('refuses a command with a field that is there twice, whichever was meant', async () => {
      const [first, second] = [{ find: 'c', filter: { _id: 1 }, $db: 'x' }, { filter: {} }].map((part) =>
        serialize(part),
      );
      if (first === undefined || second === undefined) throw new Error('two parts');
      const twice = Buffer.concat([first.subarray(0, -1), second.subarray(4)]);
      twice.writeInt32LE(twice.length, 0);

      expect((await client.command(twice)).code).to.equal(2);
    });

    it('takes two fields of one array into an index, and finds by them', async () => {
      await send({ insert: 'arrays', documents: [{ _id: 1, a: [{ b: 1, c: [2, 3] }, { b: 4 }] }] });

      const found = await send({ find: 'arrays', filter: { 'a.b': 4, 'a.c': 3 }, hint: 'bc' });

      expect(found.cursor.firstBatch).to.have.lengthOf(1);
    });

    it('finds by a regular expression that is quickly done', async () => {
      for (const text of [{ $regex: '^aaa' }, { $regex: 'a!$' }, { $regex: 'A!', $options: 'i' }]) {
        expect((await send({ find: 'c', filter: { text } })).cursor.firstBatch).to.have.lengthOf(1);
      }
    });

    it('kills cursors by their numbers alone', async () => {
      const reply = await send({ killCursors: 'c', cursors: [Long.fromNumber(5)] });
      expect(reply).to.deep.include({ ok: 1, cursorsKilled: [] });
      expect((await send({ killCursors: 'c', cursors: [new Int32(5)] })).code).to.equal(2);
    });
  });
}
