import { existsSync } from 'node:fs';
import { changedPages } from './changed-pages.ts';
import { isDamaged, notTheSame } from './damage-found.ts';
import { catalogueNames } from './page-names.ts';
import { entriesOf, PAGE_BYTES, PageTree, type Reference, type TreePage } from './page-tree.ts';
import type { StoreFiles } from './store-files.ts';
import { areOf, isNotedBy, notedOf, readSums, type Sums, sumOf } from './sums-file.ts';

/** As `Database` has them. */
const META_TABLE = 'meta';
const STORE_KEY = Buffer.from('store');

/** Larger tables are not read whole at a start: it would take minutes. */
const WHOLE_BYTES = 2 * 1024 ** 3;
/**
 * Of those the start reads what so many transactions, the last ones, have written. Each stores 8 MB of log and some 16 to 32 MB of
 * pages, so this is more than a disk has in its cache, and read within seconds.
 */
const RECENT_TRANSACTIONS = 20;

/** What a start found: `covered` pages are as they were written. */
export interface PagesChecked {
  readonly pages: number;
  readonly covered: number;
}

/**
 * Reads every page in use, of tables above `wholeBytes` only those written last, and compares it with its checksum. Throws `DamageFound`
 * when one differs: LMDB must not read it. Pages without a checksum (a copy without data.sums, an older version) must at least be
 * pages.
 */
export function checkPages(files: StoreFiles, wholeBytes = WHOLE_BYTES): PagesChecked {
  if (!existsSync(files.tables)) return { pages: 0, covered: 0 };
  const tree = new PageTree(files.tables);
  try {
    const { meta, states } = tree;
    if (meta === undefined || states === undefined) throw notTheSame(files, 'its first pages are none of LMDB');
    let known = readSums(files.sums, true);
    const damaged: TreePage[] = [];
    const names = catalogueNames();
    let [pages, covered, id]: [number, number, Buffer | undefined] = [0, 0, undefined];
    const isLarge = meta.pages * PAGE_BYTES > wholeBytes;
    const unnoted = unnotedPages(tree, known);
    const older = olderThan(tree, known, unnoted, meta.txn - RECENT_TRANSACTIONS);
    for (const page of isLarge ? tree.walk(older) : tree.walk()) {
      pages++;
      // The last transaction must have written this page. If the page names another transaction, the disk has lost that write.
      const isLost = unnoted?.has(page.number) === true && page.txn !== meta.txn;
      const state = isLost ? 'damaged' : stateOf(page, known, meta.txn);
      if (state === 'covered') covered++;
      if (state === 'damaged') damaged.push({ ...page, bytes: Buffer.alloc(0) });
      else if (page.table === META_TABLE && page.kind === 'leaf') {
        names.add(page.bytes);
        for (const { key, value } of entriesOf(page.bytes)) if (key.equals(STORE_KEY)) id = value;
      }
    }
    // The checksums are of another store: data.mdb was brought here from elsewhere without its own.
    if (known !== undefined && id !== undefined && !id.equals(known.store)) {
      known = undefined;
      const broken = damaged.filter(({ kind }) => kind === undefined);
      damaged.splice(0, damaged.length, ...broken);
      covered = 0;
    }
    if (known !== undefined && known.txn > meta.txn) throw notTheSame(files, 'it is older than data.sums');
    if (known?.txn === meta.txn && !areOf(known, states[0])) throw notTheSame(files, 'its first pages have changed');
    const [first] = damaged;
    if (first !== undefined) throw isDamaged(files, first, damaged.length, names.of(first));
    return { pages, covered };
  } finally {
    tree.close();
  }
}

/**
 * The pages whose checksums are missing because those of the last transaction were not noted. They are found by comparing trees.
 * Undefined if that is impossible: the checksums of several transactions are missing, there are none at all, or the pages to compare
 * with are damaged.
 */
function unnotedPages(tree: PageTree, known: Sums | undefined): ReadonlySet<number> | undefined {
  if (tree.states === undefined || known === undefined) return undefined;
  const [newest, before] = tree.states;
  const numbers = new Set<number>();
  if (known.txn === newest.txn) return numbers;
  if (!areOf(known, before)) return undefined;
  for (const page of changedPages(tree)) {
    if (!page.isReplaced) numbers.add(page.number);
    else if (stateOf(page, known, before.txn) !== 'covered') return undefined;
  }
  return numbers;
}

/**
 * Whether a page was written by transaction `since` or an earlier one. The checksum's entry says so, not the page itself: when the
 * disk has lost a write, the page is still the old one. If `unnoted` is undefined, an entry may be out of date, and the page must
 * say the same.
 */
function olderThan(
  tree: PageTree,
  known: Sums | undefined,
  unnoted: ReadonlySet<number> | undefined,
  since: number,
): (page: Reference) => boolean {
  if (known === undefined) return (page) => tree.isOlder(page, since);
  return (page) => {
    const { number, table } = page;
    if (table === '' || table === META_TABLE) return false; // few pages, which tell whether the checksums are of this store
    if (!isNotedBy(known, number, since)) return false;
    return unnoted === undefined ? tree.isOlder(page, since) : !unnoted.has(number);
  };
}

function stateOf(page: TreePage, known: Sums | undefined, newest: number): 'covered' | 'not covered' | 'damaged' {
  if (page.kind === undefined) return 'damaged';
  if (known === undefined || (page.txn > known.txn && page.txn <= newest)) return 'not covered';
  return notedOf(known, page.number)?.equals(sumOf(page)) === true ? 'covered' : 'damaged';
}
