import {
  childrenOf,
  type PageTree,
  type Reference,
  referencesOf,
  rootOf,
  type Tree,
  type TreePage,
} from './page-tree.ts';

/** A page of the newest trees, or of the trees before them. */
export interface ComparedPage extends TreePage {
  /** It belongs to the trees before. */
  readonly isReplaced?: boolean;
}

/**
 * The pages that the last transaction wrote, found by comparing its trees with the trees before it. A page that changes gets another
 * number, and its old number is not used again before the next transaction. So a page to which both a new and an old page refer has
 * not changed. A reference to a large value says which transaction wrote the value. Reads only the changed pages and the branches
 * that they replaced, not their neighbours: a page has a hundred of them, and in large tables each is a read of the disk.
 *
 * Also yields the pages that it reads of the trees before, because the caller must check them: if one is damaged, unchanged pages
 * seem changed. If a page of the new trees says that another transaction wrote it, the disk has lost its last write. The page is
 * yielded, and nothing below it is read.
 */
export function* changedPages(tree: PageTree): Generator<ComparedPage> {
  if (tree.states === undefined) return;
  const [newest, before] = tree.states;
  const [tables, earlier] = [new Map<string, Tree>(), new Map<string, Tree>()];
  for (const page of pagesOf(tree, before.main)) {
    addTables(earlier, page);
    yield { ...page, isReplaced: true };
  }
  yield* changedOf(tree, newest.free, before.free);
  yield* changedOf(tree, newest.main, before.main);
  for (const page of pagesOf(tree, newest.main)) addTables(tables, page);
  for (const [name, table] of tables) yield* changedOf(tree, table, earlier.get(name));
}

/** Goes down both trees level by level, counted from the leaves: a tree grows and shrinks at its root. */
function* changedOf(tree: PageTree, now: Tree | undefined, before: Tree | undefined): Generator<ComparedPage> {
  if (now === undefined) return;
  const [newest = 0, since = 0] = tree.states?.map(({ txn }) => txn) ?? [];
  let level: Level = { changed: [], kept: new Set(), old: new Set() };
  for (let height = Math.max(now.depth, before?.depth ?? 0); height > 0; height--) {
    if (height === before?.depth) level.old.add(before.root);
    if (height === now.depth) addTo(level, rootOf(now));
    const below: Level = { changed: [], kept: new Set(), old: new Set() };
    for (const number of height > 1 ? level.old : []) {
      if (level.kept.has(number)) continue;
      const page = tree.read({ ...rootOf(now), number });
      for (const child of childrenOf(page)) below.old.add(child);
      yield { ...page, isReplaced: true };
    }
    for (const reference of level.changed) {
      const page = tree.read(reference);
      yield page;
      if (page.txn !== newest) continue;
      for (const next of [...referencesOf(page)]) {
        if (page.kind === 'branch') addTo(below, next);
        else if (next.txn !== undefined && next.txn > since) yield tree.read(next);
      }
    }
    level = below;
  }
}

/** The references in the pages of the level above. */
interface Level {
  /** Those in changed pages only. */
  readonly changed: Reference[];
  /** Those in changed pages and in pages that these replaced. */
  readonly kept: Set<number>;
  /** Those in replaced pages. */
  readonly old: Set<number>;
}

function addTo({ old, kept, changed }: Level, reference: Reference): void {
  if (old.has(reference.number)) kept.add(reference.number);
  else changed.push(reference);
}

/** All of a main tree, which is a few: level by level and no deeper than it says, whatever a damaged branch refers to. */
function* pagesOf(tree: PageTree, main: Tree | undefined): Generator<TreePage> {
  let level = main === undefined ? [] : [rootOf(main)];
  for (let height = main?.depth ?? 0; height > 0; height--) {
    const below = new Map<number, Reference>();
    for (const reference of level) {
      const page = tree.read(reference);
      if (page.kind === 'branch') for (const next of referencesOf(page)) below.set(next.number, next);
      yield page;
    }
    level = [...below.values()];
  }
}

/** Those whose roots are in a leaf of a main tree. */
function addTables(tables: Map<string, Tree>, leaf: TreePage): void {
  for (const { table, number, depth } of referencesOf(leaf)) {
    if (depth !== undefined) tables.set(table, { table, root: number, depth });
  }
}
