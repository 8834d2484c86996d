import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkStore, compactStore } from '../../../workers/embedded-db/offline.ts';
import { checkPages } from '../../../workers/embedded-db/storage/check-pages.ts';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { PageTree } from '../../../workers/embedded-db/storage/page-tree.ts';
import { storeFiles } from '../../../workers/embedded-db/storage/store-files.ts';
import { errorOf, tempDir } from './store-under-test.ts';

const PAGE = 8192;
/** Of a file that a start does not read whole. It takes no room on the disk: nothing is written behind the tables. */
const LARGE_BYTES = 2 * 1024 ** 3 + PAGE;
/** More than a start looks back. */
const CHECKPOINTS = 30;

interface Page {
  readonly number: number;
  readonly txn: number;
}

describe('embedded-db start with tables that are too large to be read whole', () => {
  let dir: string;
  /** data.sums before the last checkpoint. */
  let unnoted: Buffer;
  /** The same before the last two transactions. */
  let twoBehind: Buffer;
  beforeEach(async () => {
    dir = tempDir();
    const database = new Database(dir, 'none');
    for (let n = 0; n < CHECKPOINTS - 1; n++) await checkpointAfter(database, n);
    await database.close(); // it has noted all pages then
    twoBehind = readFileSync(join(dir, 'data.sums'));
    const again = new Database(dir, 'none');
    unnoted = readFileSync(join(dir, 'data.sums'));
    await checkpointAfter(again, CHECKPOINTS - 1);
    await again.close();
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** The first makes the documents, each other changes a few leaves far from each other. */
  async function checkpointAfter(database: Database, n: number): Promise<void> {
    database.write(() => {
      for (let i = n; i < 3_000; i += n === 0 ? 1 : 700) {
        database.put(database.documents, Buffer.from(`k${String(i).padStart(6, '0')}`), Buffer.alloc(900, `${n} `));
      }
    });
    await database.checkpoint();
  }

  function pagesOf(): { readonly pages: readonly Page[]; readonly newest: number } {
    const tree = new PageTree(join(dir, 'data.mdb'));
    try {
      const pages = [...tree.walk()].map(({ number, txn, kind, table }) => ({ number, txn, kind, table }));
      return {
        pages: pages.filter(({ kind, table }) => kind === 'leaf' && table === 'documents'),
        newest: tree.meta?.txn ?? 0,
      };
    } finally {
      tree.close();
    }
  }

  /** What a start says when these bytes are where a page of the tables was. */
  function startWith({ number }: Page, bytes: (page: Buffer) => Buffer): string {
    const copy = tempDir();
    cpSync(dir, copy, { recursive: true });
    const path = join(copy, 'data.mdb');
    const tables = readFileSync(path);
    bytes(tables.subarray(number * PAGE, (number + 1) * PAGE)).copy(tables, number * PAGE);
    writeFileSync(path, tables);
    try {
      const { pages, covered } = checkPages(storeFiles(copy), 0);
      return `${pages} pages, ${covered} covered`;
    } catch (error) {
      return (error as Error).message; // DamageFound
    } finally {
      rmSync(copy, { recursive: true });
    }
  }

  /** The page as an earlier transaction left it, whole: what is there when the disk lost the last write. */
  function asBefore(page: Buffer): Buffer {
    const before = Buffer.from(page);
    before.writeUInt32LE(2, 8);
    return before;
  }

  it('finds a page of the last transactions that the disk lost, though it is whole and says that it is old', () => {
    const { pages, newest } = pagesOf();
    const recent = pages.filter(({ txn }) => txn > newest - 15);
    expect(recent.length).to.be.greaterThan(10);

    for (const page of recent) {
      expect(startWith(page, asBefore), `page ${page.number}`).to.match(/data\.mdb is damaged: page \d+/);
    }
  });

  it('does not read what is older', () => {
    const { pages, newest } = pagesOf();
    const old = pages.filter(({ txn }) => txn < newest - 25);
    const [page] = old;
    expect(old.length).to.be.greaterThan(pages.length / 2);
    if (page === undefined) return;

    const [read = 0] = startWith(page, (bytes) => Buffer.alloc(bytes.length))
      .split(' ')
      .map(Number);

    expect(read).to.be.within(20, pages.length / 2);
  });

  it('leaves to `store check` and `store compact` what is older: they compare every page', async () => {
    const { pages, newest } = pagesOf();
    const old = pages.find(({ txn }) => txn < newest - 25);
    if (old === undefined) throw new Error('there is no old page');
    const path = join(dir, 'data.mdb');
    const tables = readFileSync(path);
    tables.fill(0, old.number * PAGE, (old.number + 1) * PAGE);
    writeFileSync(path, tables);
    truncateSync(path, LARGE_BYTES);

    await new Database(dir, 'none').close();

    const damaged = new RegExp(`data\\.mdb is damaged: page ${old.number} `);
    expect((await errorOf(checkStore(dir, () => {}))).message).to.match(damaged);
    expect((await errorOf(compactStore(dir))).message).to.match(damaged);
  });

  it('finds pages of the last transaction that are none, when it was not noted before a kill', () => {
    const { pages, newest } = pagesOf();
    writeFileSync(join(dir, 'data.sums'), unnoted);
    const last = pages.filter(({ txn }) => txn === newest);
    expect(last).to.not.be.empty;

    for (const page of last) {
      expect(startWith(page, (bytes) => bytes)).to.match(/^\d+ pages, \d+ covered$/);
      expect(startWith(page, ({ length }) => Buffer.alloc(length))).to.match(/data\.mdb is damaged: page \d+/);
    }
    const noted = pages.filter(({ txn }) => txn < newest && txn > newest - 10);
    for (const page of noted) expect(startWith(page, asBefore)).to.match(/data\.mdb is damaged: page \d+/);
  });

  it('finds a noted page that the disk lost, also when two transactions were not noted', () => {
    const { pages, newest } = pagesOf();
    writeFileSync(join(dir, 'data.sums'), twoBehind);
    const noted = pages.filter(({ txn }) => txn < newest - 1 && txn > newest - 10);
    expect(noted).to.not.be.empty;

    for (const page of noted) {
      expect(startWith(page, (bytes) => bytes)).to.match(/^\d+ pages, \d+ covered$/);
      expect(startWith(page, asBefore), `page ${page.number}`).to.match(/data\.mdb is damaged: page \d+/);
    }
  });

  it('reads at each start an old page that was none when checksums were made anew', async () => {
    const { pages, newest } = pagesOf();
    const old = pages.find(({ txn }) => txn < newest - 25);
    if (old === undefined) throw new Error('there is no old page');
    const path = join(dir, 'data.mdb');
    const tables = readFileSync(path);
    tables.writeUInt16LE(0, old.number * PAGE + 18); // neither branch nor leaf, and its number and transaction are right
    writeFileSync(path, tables);
    truncateSync(path, LARGE_BYTES);
    const damaged = new RegExp(`data\\.mdb is damaged: page ${old.number} `);

    for (const noted of ['earlier', 'never']) {
      if (noted === 'never') rmSync(join(dir, 'data.sums'));
      else writeFileSync(join(dir, 'data.sums'), readFileSync(join(dir, 'data.sums')).fill(0, 0, 40));
      for (const start of ['first', 'second']) {
        expect(() => new Database(dir, 'none'), `${noted}, ${start}`).to.throw(damaged);
      }
    }
  });
});
