import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { compactStore } from '../../../workers/embedded-db/offline.ts';
import { changedPages } from '../../../workers/embedded-db/storage/changed-pages.ts';
import { checkPages } from '../../../workers/embedded-db/storage/check-pages.ts';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { PageTree, type State, type TreePage } from '../../../workers/embedded-db/storage/page-tree.ts';
import { storeFiles } from '../../../workers/embedded-db/storage/store-files.ts';
import { notedOf, readSums } from '../../../workers/embedded-db/storage/sums-file.ts';
import { eventually } from '../../support/eventually.ts';
import { RecordedFile, record } from './recorded-disk.ts';
import { tempDir } from './store-under-test.ts';

const PAGE = 8192;
const HEADER_BYTES = 24;
/** In a meta page: its header and what does not change, two trees, then the last page and the transaction. */
const NUMBERS_AT = 144;
const META_END = 160;

interface Files {
  readonly tables: Buffer;
  readonly sums: Buffer;
}

describe('embedded-db start after a checkpoint that was not noted', () => {
  let dir: string;
  let copies: number;
  /** After three checkpoints, each with its checksums. */
  let first: Files;
  let second: Files;
  let third: Files;
  let log: Buffer;
  beforeEach(async () => {
    dir = tempDir();
    copies = 0;
    const where = join(dir, 'made');
    mkdirSync(where);
    const database = new Database(where, 'none');
    const checkpoint = async (from: number, step: number): Promise<Files> => {
      database.write(() => {
        for (let i = from; i < 2_000; i += step) {
          const bytes = i % 50 === 0 ? 30_000 : 900;
          database.put(database.documents, Buffer.from(`k${i}`.padEnd(100)), Buffer.alloc(bytes, `${from} `));
        }
      });
      await database.checkpoint();
      await eventually(() => transactionsBehind(where) === 0, 'the checksums are noted');
      return { tables: readFileSync(join(where, 'data.mdb')), sums: readFileSync(join(where, 'data.sums')) };
    };
    await checkpoint(0, 1);
    for (const from of [1, 2, 50]) await checkpoint(from, 400);
    first = await checkpoint(3, 400);
    second = await checkpoint(100, 400);
    third = await checkpoint(4, 400);
    await database.close();
    log = readFileSync(join(where, 'data.log'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function placed({ tables, sums }: Files): string {
    const where = join(dir, `copy${copies++}`);
    mkdirSync(where);
    writeFileSync(join(where, 'data.mdb'), tables);
    writeFileSync(join(where, 'data.sums'), sums);
    writeFileSync(join(where, 'data.log'), log);
    return where;
  }

  /** What a start says of the pages; `wholeBytes` 0: of tables too large to be read whole. */
  function said(files: Files, wholeBytes?: number): string {
    const where = placed(files);
    try {
      const { pages, covered } = checkPages(storeFiles(where), wholeBytes);
      return pages === covered ? 'all covered' : 'not all covered';
    } catch (error) {
      return (error as Error).message; // DamageFound
    } finally {
      rmSync(where, { recursive: true });
    }
  }

  /** As LMDB leaves it when the meta page of the third checkpoint could not be written: the trees are there, the old numbers too. */
  function failedThird(): Buffer {
    const tables = Buffer.from(third.tables);
    const page = ((statesOf(second.tables)[0].txn + 1) % 2) * PAGE;
    second.tables.copy(tables, page + NUMBERS_AT, page + NUMBERS_AT, page + META_END);
    return tables;
  }

  function statesOf(tables: Buffer): readonly [newest: State, before: State] {
    return withTree(placed({ tables, sums: Buffer.alloc(0) }), ({ states }) => {
      if (states === undefined) throw new Error('there are no tables');
      return states;
    });
  }

  it('takes tables whose last transaction failed at its meta page as they were before it', async () => {
    const tables = failedThird();
    expect(statesOf(tables)[0]).to.deep.equal(statesOf(second.tables)[0]);
    expect(statesOf(tables)[1].main).to.deep.equal(statesOf(third.tables)[0].main);

    expect(said({ tables, sums: second.sums })).to.equal('all covered');
    expect(said({ tables, sums: first.sums })).to.equal('not all covered');
    expect(said({ tables, sums: first.sums }, 0)).to.equal('not all covered');
  });

  /** The tables after the second checkpoint, with these pages as another file has them. */
  function withPages(numbers: readonly number[], from: Buffer): Buffer {
    const tables = Buffer.from(second.tables);
    for (const number of numbers) from.copy(tables, number * PAGE, number * PAGE, (number + 1) * PAGE);
    return tables;
  }

  /** Which pages the second checkpoint wrote, and which of those before it replaced. */
  function changesOfSecond(): { readonly written: readonly number[]; readonly replaced: readonly number[] } {
    const pagesOf = ({ tables }: Files): TreePage[] =>
      withTree(placed({ tables, sums: Buffer.alloc(0) }), (tree) => [...tree.walk()]);
    const [before, now] = [pagesOf(first), pagesOf(second)];
    const inUse = new Set(now.map(({ number }) => number));
    const { txn } = statesOf(second.tables)[0];
    return {
      written: now.filter((page) => page.txn === txn).map(({ number }) => number),
      replaced: before.filter(({ number }) => !inUse.has(number)).map(({ number }) => number),
    };
  }

  it('finds each page whose last write the disk lost, though it is whole and has the checksum of what it was', () => {
    const { written } = changesOfSecond();
    const known = readSums(join(placed(first), 'data.sums'), true);
    let noted = 0;
    for (const page of written) {
      const tables = withPages([page], first.tables);
      if ((page + 1) * PAGE <= first.tables.length) {
        const earlier = first.tables.subarray(page * PAGE, (page + 1) * PAGE);
        const [sum] = known === undefined ? [] : [notedOf(known, page)];
        if (sum?.readUInt32LE(4) === crc32(earlier)) noted++;
      }
      for (const wholeBytes of [undefined, 0]) {
        expect(said({ tables, sums: first.sums }, wholeBytes), `page ${page}`).to.match(/is damaged: page \d+/);
      }
    }
    expect(written.length).to.be.greaterThan(10);
    expect(noted, 'pages that were used before').to.be.greaterThan(3);
  });

  it('does not take a page for lost because one that was replaced is damaged', () => {
    const { replaced } = changesOfSecond();
    expect(replaced.length).to.be.greaterThan(10);
    const damages: readonly ((page: Buffer) => void)[] = [
      (page) => page.fill(0),
      (page) => page.writeUInt8(page.readUInt8(8_000) ^ 1, 8_000),
      (page) => page.writeUInt16LE(page.readUInt16LE(20) - 2, 20), // its last node is not seen
    ];
    for (const number of replaced) {
      for (const damage of damages) {
        const tables = Buffer.from(second.tables);
        damage(tables.subarray(number * PAGE, (number + 1) * PAGE));
        for (const wholeBytes of [undefined, 0]) {
          expect(said({ tables, sums: first.sums }, wholeBytes), `page ${number}`).to.equal('not all covered');
        }
      }
    }
  });

  it('does not take large values of a compacted store for lost, which keep the numbers of earlier transactions', async () => {
    const where = placed(third);
    await compactStore(where);
    const database = new Database(where, 'none');
    const sums = readFileSync(join(where, 'data.sums'));
    database.write(() => database.put(database.documents, Buffer.from('k0'.padEnd(100)), Buffer.alloc(900)));
    await database.close();
    const tables = readFileSync(join(where, 'data.mdb'));

    expect(transactionsBehind(where)).to.equal(0);
    for (const wholeBytes of [undefined, 0]) {
      expect(said({ tables, sums }, wholeBytes)).to.equal('not all covered');
      expect(said({ tables, sums: readFileSync(join(where, 'data.sums')) }, wholeBytes)).to.equal('all covered');
    }
  });

  it('ends when the tree of the tables goes in a circle', () => {
    const tables = Buffer.from(second.tables);
    const root = statesOf(tables)[0].main?.root ?? 0;
    const page = tables.subarray(root * PAGE, (root + 1) * PAGE);
    page.writeUInt16LE(1, 18); // a branch
    const lowest = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES);
    page.writeUInt32LE(root, lowest); // of itself
    page.writeUInt16LE(0, lowest + 4);

    const path = join(placed({ tables, sums: first.sums }), 'data.mdb');
    const tree = new PageTree(path);
    let pages = 0;
    for (const _ of changedPages(tree)) if (++pages > 1_000) break;
    tree.close();

    expect(pages).to.be.within(1, 1_000);
    expect(said({ tables, sums: first.sums })).to.match(/is damaged: page \d+/);
  });

  it('is never more than one transaction behind with its checksums, wherever it is killed', async () => {
    const where = placed({ tables: second.tables, sums: first.sums });
    const file = new RecordedFile(join(where, 'data.sums'));
    const behind: number[] = [];
    file.onMoment = () => behind.push(transactionsBehind(where));
    const stop = record(file);
    try {
      await new Database(where, 'none').close();
    } finally {
      stop();
    }

    expect(behind.length).to.be.greaterThan(10);
    expect(behind).to.include.members([0, 1]);
    expect(Math.max(...behind)).to.equal(1);
    expect(transactionsBehind(where)).to.equal(0);
  });

  it('notes all that such tables have', async () => {
    for (const { sums } of [first, second]) {
      const where = placed({ tables: failedThird(), sums });
      await new Database(where, 'none').close();
      const { pages, covered } = checkPages(storeFiles(where));
      expect(covered).to.equal(pages);
    }
  });
});

function withTree<Result>(dir: string, action: (tree: PageTree) => Result): Result {
  const tree = new PageTree(join(dir, 'data.mdb'));
  try {
    return action(tree);
  } finally {
    tree.close();
  }
}

/** How many transactions the tables have whose pages were not noted. */
function transactionsBehind(dir: string): number {
  const noted = readSums(join(dir, 'data.sums'), false)?.txn ?? 0;
  return withTree(dir, ({ meta }) => (meta?.txn ?? 0) - noted);
}
