import fs, { rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { changedPages } from '../../../workers/embedded-db/storage/changed-pages.ts';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { PageTree, referencesOf } from '../../../workers/embedded-db/storage/page-tree.ts';
import { tempDir } from './store-under-test.ts';

/** Each page that the last checkpoint wrote, once by comparing the trees, and once by the transaction that each page names. */
interface Written {
  readonly compared: readonly number[];
  readonly named: readonly number[];
  readonly replaced: number;
  /** Reads of the file for the first. */
  readonly reads: number;
  readonly depth: number;
}

describe('embedded-db changed pages', () => {
  let dir: string;
  let database: Database;
  beforeEach(() => {
    dir = tempDir();
    database = new Database(dir, 'none');
  });
  afterEach(async () => {
    await database.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function checkpointAfter(change: () => void): Promise<Written> {
    database.write(change);
    await database.checkpoint();
    const tree = new PageTree(join(dir, 'data.mdb'));
    try {
      const compared: number[] = [];
      let replaced = 0;
      const reads = readsOf(() => {
        for (const page of changedPages(tree)) {
          if (page.isReplaced) replaced++;
          else compared.push(page.number);
        }
      });
      const since = tree.states?.[1].txn ?? 0;
      const named = [...tree.walk()].filter(({ txn }) => txn > since).map(({ number }) => number);
      return { ...{ compared: sorted(compared), named: sorted(named), replaced, reads }, depth: depthOf(tree) };
    } finally {
      tree.close();
    }
  }

  /** Of the tree of the documents; 0 when there are none. */
  function depthOf(tree: PageTree): number {
    for (const page of tree.walk()) {
      const found = [...referencesOf(page)].find(({ table }) => table === 'documents');
      if (found?.depth !== undefined) return found.depth;
    }
    return 0;
  }

  function put(i: number, bytes: number): void {
    database.put(database.documents, keyOf(i), Buffer.alloc(bytes, `${i} `));
    database.put(database.entries, Buffer.from(`${(i * 7919) % 100_003}`), Buffer.alloc(60, `${i} `));
  }

  it('are those that name the last transaction, while tables grow, change and are emptied', async () => {
    const depths = new Set<number>();
    let next = 0;
    const numbers = randomNumbers(20);
    for (let round = 0; round < 60; round++) {
      const written = await checkpointAfter(() => {
        const growing = round < 40;
        for (let i = 0; i < 1 + (numbers() % 300); i++) {
          if (growing) put(next++, numbers() % 20 === 0 ? 30_000 : numbers() % 900);
          else for (let n = 0; n < 8; n++) database.remove(database.documents, keyOf(numbers() % next));
        }
        for (let i = 0; i < numbers() % 40 && next > 0; i++) put(numbers() % next, numbers() % 2_000);
        if (round === 55) for (let i = 0; i < next; i++) database.remove(database.documents, keyOf(i));
      });
      depths.add(written.depth);
      expect(written.compared, `round ${round}`).to.deep.equal(written.named);
      expect(written.compared.length).to.be.greaterThan(0);
    }
    expect([...depths]).to.include.members([1, 2, 3]);
  });

  it('are found without reading those beside them', async () => {
    await checkpointAfter(() => {
      for (let i = 0; i < 20_000; i++) put(i, 500);
    });
    const { compared, replaced, reads } = await checkpointAfter(() => put(10_000, 400));
    // The paths to two leaves, and LMDB's own few pages.
    expect(compared.length).to.be.lessThan(20);
    expect(replaced).to.be.within(1, 20);
    expect(reads).to.be.lessThan(compared.length + replaced + 10);
  });

  it('are found without reading the large values beside them', async () => {
    await checkpointAfter(() => {
      for (let i = 0; i < 100; i++) put(i, 30_000);
    });
    const { compared, named, replaced, reads } = await checkpointAfter(() => put(50, 30_000));
    expect(compared).to.deep.equal(named);
    expect(reads).to.be.lessThan(compared.length + replaced + 10);
  });
});

function keyOf(i: number): Buffer {
  return Buffer.from(`k${String(i).padStart(200, '0')}`); // long, so that few fit in a branch and the tree is deep
}

/** How often `action` reads a file. */
function readsOf(action: () => void): number {
  const { readSync } = fs;
  let reads = 0;
  Object.assign(fs, {
    readSync: (...args: Parameters<typeof fs.readSync>) => {
      reads++;
      return readSync(...args);
    },
  });
  syncBuiltinESMExports();
  try {
    action();
  } finally {
    Object.assign(fs, { readSync });
    syncBuiltinESMExports();
  }
  return reads;
}

function sorted(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b);
}

/** The same numbers each time, so that a failure comes again. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state >> 8;
  };
}
