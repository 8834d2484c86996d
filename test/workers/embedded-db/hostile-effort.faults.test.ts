import { rmSync } from 'node:fs';
import { type Document, serialize } from 'bson';
import { RawClient } from './raw-client.ts';
import { type StoreProcess, startStoreProcess } from './store-process.ts';
import { EMBEDDED, tempDir } from './store-under-test.ts';

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** Repeats a `$set`, each of which doubles the value of the one before. */
function doubling(of: unknown): Document[] {
  return numbers(40).map(() => ({ $set: { z: of } }));
}

function update(u: unknown): Document {
  return { update: 'c', updates: [{ q: { _id: 1 }, u }] };
}

function find(filter: Document): Document {
  return { find: 'c', filter, projection: { _id: 1 } };
}

function aggregate(...pipeline: Document[]): Document {
  return { aggregate: 'c', pipeline, cursor: {} };
}

/** Each would take minutes, or all memory. Codes are mongod's where it has such a limit; 50: its time limit passed. */
const CASES: readonly (readonly [what: string, command: Document, code: number])[] = [
  [
    '100,000 new fields in one update',
    update({ $set: Object.fromEntries(numbers(100_000).map((i) => [`f${i}`, 1])) }),
    0,
  ],
  ['100,000 fields of as many', update({ $set: Object.fromEntries(numbers(100_000).map((i) => [`f${i}`, 2])) }), 50],
  [
    'an update of 5,000 elements of a long array',
    update({ $set: Object.fromEntries(numbers(5_000).map((i) => [`a.${i}`, 1])) }),
    50,
  ],
  ['100,000 conditions on a long array', find({ $nor: numbers(100_000).map((i) => ({ a: -i - 1 })) }), 50],
  ['an update that doubles an array', update(doubling(['$z', '$z', 'abc'])), 50],
  ['an update that doubles an object', update(doubling({ $mergeObjects: [{ a: '$z', b: '$z' }] })), 50],
  ['1,001 stages', aggregate(...numbers(1_001).map(() => ({ $limit: 1 }))), 2],
  ['a sort by 33 fields', { find: 'c', sort: Object.fromEntries(numbers(33).map((i) => [`f${i}`, 1])) }, 2],
  ['a pattern with choices and no quantifier', find({ text: { $regex: `^${'(a|a)'.repeat(40)}$` } }), 238],
  ['a pattern that is too long', find({ text: { $regex: 'ab'.repeat(8_193) } }), 2],
];

if (EMBEDDED) {
  describe('embedded-db, asked for endless work', function () {
    this.timeout(120_000);
    let dir: string;
    let store: StoreProcess;
    let client: RawClient;
    before(async () => {
      dir = tempDir();
      store = await startStoreProcess(dir);
      client = await RawClient.open(store.socket);
      await send({ insert: 'c', documents: [{ _id: 1, a: numbers(100_000), text: `${'a'.repeat(60)}!` }] });
      await send({ insert: 'c', documents: numbers(999).map((i) => ({ _id: i + 2 })) });
    });
    after(async () => {
      client.close();
      await store.kill();
      rmSync(dir, { recursive: true, force: true });
    });

    async function send(command: Document): Promise<Document> {
      return client.command(serialize({ ...command, $db: 'x' }));
    }

    for (const [what, command, code] of CASES) {
      it(`answers ${what} with ${code === 0 ? 'what was asked for' : code}`, async () => {
        const reply = await send(command);

        const [first] = reply.writeErrors ?? [];
        expect(first?.code ?? reply.code ?? 0, JSON.stringify(reply).slice(0, 500)).to.equal(code);
        expect(JSON.stringify(reply).length).to.be.lessThan(20_000);
        expect((await send({ count: 'c' })).n).to.equal(1_000);
      });
    }

    it('never stores a document that is nested too deep, however it is made', async () => {
      await send({ insert: 'deep', documents: [{ _id: 1, a: { b: 1 } }] });
      const change = async (u: unknown): Promise<number> => {
        const reply = await send({ update: 'deep', updates: [{ q: { _id: 1 }, u }] });
        return reply.writeErrors?.[0].code ?? reply.code ?? 0;
      };
      const path = (levels: number): string => Array.from({ length: levels }, () => 'x').join('.');

      const codes: number[] = [];
      for (let i = 0; i < 9; i++) codes.push(await change(numbers(25).map(() => ({ $set: { 'a.x': '$a' } }))));
      expect(codes).to.deep.equal([0, 0, 0, 0, 0, 0, 0, 15, 15]);
      let deep: Document = {};
      for (let i = 0; i < 100; i++) deep = { a: deep };
      expect(await change({ $set: { [path(101)]: deep } })).to.equal(15);
      expect(await change({ $push: { p: deep } })).to.equal(0);
      expect((await send({ find: 'deep', filter: {} })).cursor.firstBatch).to.have.lengthOf(1);
    });
  });
}
