import { join } from 'node:path';
import { expect } from 'chai';
import { BSON, type Document } from 'mongodb';
import { COLLECTIONS } from '../../../scripts/ops/store/collections.ts';
import { compareCollection } from '../../../scripts/ops/store/compare.ts';
import { copyCollection } from '../../../scripts/ops/store/copy.ts';
import { Progress } from '../../../scripts/ops/store/progress.ts';
import { INDEXES } from '../../../shared/mongo/indexes.ts';
import { systemClock as clock } from '../../../shared/runtime/clock.ts';
import { openCountingDb } from '../../support/counting-db.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ROOT, readSources } from '../../support/sources.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const HOUR_MS = 3_600_000;

describe('a move of all data, part by part', () => {
  let a: TestStore;
  let b: TestStore;
  before(async () => {
    [a, b] = [await openTestStore(), await openTestStore()];
  });
  beforeEach(async () => {
    for (const { db } of [a, b]) for (const name of ['audit', 'store_state']) await db.collection(name).deleteMany({});
  });
  after(async () => {
    await a.close();
    await b.close();
  });

  const all = (store: TestStore) => store.db.collection<Document>('audit');
  const compare = async () => {
    const { problems } = await compareCollection({ source: a.db, target: b.db, clock }, 'audit', () => {});
    return problems;
  };
  const copy = () => copyCollection({ source: a.db, target: b.db, period: 'p' }, 'audit', () => {});

  it('the comparison finds what was changed, lost and added, and only that', async () => {
    const documents = Array.from({ length: 2_500 }, (_, i) => ({ _id: String(i).padStart(5, '0') as never, n: i }));
    await all(a).insertMany(documents);
    await copy();
    expect(await compare()).to.deep.equal([]);

    await all(b).updateOne({ _id: '00001' as never }, { $set: { n: 1.5 } });
    await all(b).deleteOne({ _id: '01500' as never });
    await all(b).insertOne({ _id: '02000x' as never });
    await all(b).deleteOne({ _id: '02499' as never });

    expect(await compare()).to.deep.equal([
      'audit 00001 is another document in the target.',
      'audit 01500 is missing in the target.',
      'audit 02000x is in the target only.',
      'audit 02499 is missing in the target.',
    ]);
  });

  it('the comparison takes no offence at what a store removed because its time was over', async () => {
    const [over, lasts] = [-HOUR_MS, HOUR_MS].map((ms) => new Date(Date.now() + ms));
    await all(a).insertMany([{ _id: 'a' as never, expiresAt: over }]);
    await all(b).insertMany([
      { _id: 'b' as never, expiresAt: over },
      { _id: 'c' as never, expiresAt: lasts },
    ]);

    expect(await compare()).to.deep.equal(['audit c is in the target only.']);
  });

  it('a copy stops at a document that is in the target and is another one', async () => {
    await all(a).insertMany([{ _id: 'a' as never, n: 1 }]);
    await all(b).insertMany([{ _id: 'a' as never, n: 2 }]);

    expect(String(await copy().catch(String))).to.include('another document a in audit');
  });

  it('a copy says when a collection has ids that sort apart from the others, each time', async () => {
    const numbers = Array.from({ length: 1_000 }, (_, i) => ({ _id: i as never }));
    await all(a).insertMany([...numbers, { _id: 'text' as never }]);

    expect(String(await copy().catch(String))).to.include('ids of several types');
    expect(String(await copy().catch(String))).to.include('ids of several types');
    expect(await all(b).countDocuments()).to.equal(0);
  });

  it('a copy counts nothing at the source, and takes numbers of all types for one', async () => {
    const ids = [new BSON.Int32(1), new BSON.Double(1.5), BSON.Long.fromNumber(2)];
    await all(a).insertMany(ids.map((_id) => ({ _id: _id as never })));
    const counting = openCountingDb(a);
    try {
      await copyCollection({ source: counting.db, target: b.db, period: 'p' }, 'audit', () => {});

      expect(counting.sent('aggregate')).to.equal(0);
      expect(await compare()).to.deep.equal([]);
      expect(await all(b).countDocuments()).to.equal(3);
    } finally {
      await counting.close();
    }
  });

  it('every collection that the product uses is in the table', () => {
    const sources = ['gateway', 'workers', 'shared'].flatMap((top) => readSources(join(ROOT, top)));
    const named = sources
      .filter(({ path }) => !path.startsWith('workers/embedded-db/') && !path.includes('/client/'))
      .flatMap(({ text }) => [
        ...text.matchAll(
          /(?:\.collection(?:<[^;]*?>)?\(|(?:insertNew|updateEach|findAtOnce(?:<[^;]*?>)?)\(\s*[\w.#]+,)\s*'(\w+)'/g,
        ),
        ...text.matchAll(/ollection: '(\w+)'/g),
      ])
      .map(([, name = '']) => name);

    const used = new Set([...named, ...INDEXES.map(({ collection }) => collection)]);

    expect([...used].filter((name) => COLLECTIONS[name] === undefined)).to.deep.equal([]);
    expect(Object.keys(COLLECTIONS).filter((name) => !used.has(name))).to.deep.equal([]);
    expect(used.size).to.be.above(40);
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
