import { BSON, type Document } from 'mongodb';
import { Progress } from '../../../scripts/ops/command.ts';
import { copyCollection, readContent } from '../../../scripts/ops/store-move.ts';
import { openCountingDb } from '../../support/counting-db.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('a copy of all data, part by part', () => {
  let a: TestStore;
  let b: TestStore;
  before(async () => {
    [a, b] = [await openTestStore(), await openTestStore()];
  });
  beforeEach(async () => {
    for (const { db } of [a, b]) await db.collection('audit').deleteMany({});
  });
  after(async () => {
    await a.close();
    await b.close();
  });

  const all = (store: TestStore) => store.db.collection<Document>('audit');
  const copy = () => copyCollection(a.db, b.db, 'audit', () => {});
  const read = (store: TestStore) => readContent(store.db, 'audit', () => {});

  it('the hash tells what was changed, lost and added, also when the count is the same', async () => {
    const documents = Array.from({ length: 2_500 }, (_, i) => ({ _id: String(i).padStart(5, '0') as never, n: i }));
    await all(a).insertMany(documents);
    const copied = await copy();
    expect(copied.documents).to.equal(2_500);
    expect(await read(b)).to.deep.equal(copied);

    const changes: readonly (() => Promise<unknown>)[] = [
      () => all(b).updateOne({ _id: '00001' as never }, { $set: { n: new BSON.Double(1) } }),
      () => all(b).insertOne({ _id: '02000x' as never }),
      () => all(b).deleteOne({ _id: '01500' as never }),
    ];
    const seen = [copied.sha256];
    for (const change of changes) {
      await change();
      seen.push((await read(b)).sha256);
    }
    expect((await read(b)).documents).to.equal(2_500);
    expect(new Set(seen)).to.have.length(4);
  });

  it('a copy fails at a document that is in the target', async () => {
    await all(a).insertMany([{ _id: 'a' as never, n: 1 }]);
    await all(b).insertMany([{ _id: 'a' as never, n: 2 }]);

    expect(String(await copy().catch(String))).to.include('E11000');
  });

  it('a copy counts nothing at the source, and takes ids of all types', async () => {
    const numbers = [new BSON.Int32(1), new BSON.Double(1.5), BSON.Long.fromNumber(2)];
    const many = Array.from({ length: 1_000 }, (_, i) => i + 10);
    const ids = [...numbers, ...many, 'text', new BSON.ObjectId(), new Date(0)];
    await all(a).insertMany(ids.map((_id) => ({ _id: _id as never })));
    const counting = openCountingDb(a);
    try {
      const copied = await copyCollection(counting.db, b.db, 'audit', () => {});

      expect(counting.sent('aggregate')).to.equal(0);
      expect(copied.documents).to.equal(ids.length);
      expect(await read(b)).to.deep.equal(copied);
    } finally {
      await counting.close();
    }
  });

  it('shows a bar on a terminal and lines elsewhere, not more than needed', () => {
    const shown = { bar: '', lines: '' };
    for (const kind of ['bar', 'lines'] as const) {
      const hand = new ManualClock();
      const write = (text: string) => {
        shown[kind] += text;
      };
      const progress = new Progress({ isTTY: kind === 'bar', write }, hand);
      progress.begin('copying messages', 4_000);
      for (const done of [1_000, 2_000]) progress.at(done);
      hand.turn(10_000);
      progress.at(3_000);
      progress.end(4_000);
    }

    expect(shown.lines).to.equal('copying messages: 3,000 of 4,000\ncopying messages: 4,000 of 4,000\n');
    expect(shown.bar.split('\r').map((line) => line.replace('\u001b[K', '').trim())).to.deep.equal([
      '',
      '[######------------------]  25 %  copying messages: 1,000 of 4,000',
      '[##################------]  75 %  copying messages: 3,000 of 4,000',
      '[########################] 100 %  copying messages: 4,000 of 4,000',
    ]);
  });
});
