import {
  childrenOf,
  type PageTree,
  type Reference,
  referencesOf,
  rootOf,
  type Tree,
  type TreePage,
} from './page-tree.ts';

/**
 * The pages that the last transaction wrote, found by comparing its trees with those before it. A page that changes gets another
 * number, and the old one is not used again before the next transaction. So what a new page and an old one both refer to has not
 * changed. What refers to a large value says which transaction wrote it. Reads the changed pages and the branches that they replaced,
 * and nothing of what is beside them: there are a hundred neighbours to a page, and in large tables each is a read of the disk.
 *
 * Yields undefined after reading a page that was replaced.
 */
export function* changedPages(tree: PageTree): Generator<TreePage | undefined> {
  if (tree.states === undefined) return;
  const [newest, before] = tree.states;
  yield* changedOf(tree, newest.free, before.free);
  yield* changedOf(tree, newest.main, before.main);
  const tables = tablesOf(tree, newest.main);
  const earlier = tablesOf(tree, before.main);
  for (const [name, table] of tables) yield* changedOf(tree, table, earlier.get(name));
}

/** Goes down both trees level by level, counted from the leaves: a tree grows and shrinks at its root. */
function* changedOf(tree: PageTree, now: Tree | undefined, before: Tree | undefined): Generator<TreePage | undefined> {
  if (now === undefined) return;
  const since = tree.states?.[1].txn ?? 0;
  let level: Level = { changed: [], kept: new Set(), old: new Set() };
  for (let height = Math.max(now.depth, before?.depth ?? 0); height > 0; height--) {
    if (height === before?.depth) level.old.add(before.root);
    if (height === now.depth) addTo(level, rootOf(now));
    const below: Level = { changed: [], kept: new Set(), old: new Set() };
    for (const number of height > 1 ? level.old : []) {
      if (level.kept.has(number)) continue;
      for (const child of childrenOf(tree.read({ ...rootOf(now), number }))) below.old.add(child);
      yield undefined;
    }
    for (const reference of level.changed) {
      const page = tree.read(reference);
      yield page;
      for (const next of [...referencesOf(page)]) {
        if (page.kind === 'branch') addTo(below, next);
        else if (next.txn !== undefined && next.txn > since) yield tree.read(next);
      }
    }
    level = below;
  }
}

/** What pages of the level above refer to. */
interface Level {
  /** By changed pages alone. */
  readonly changed: Reference[];
  /** By changed pages and by those that they replaced. */
  readonly kept: Set<number>;
  /** By replaced pages. */
  readonly old: Set<number>;
}

function addTo({ old, kept, changed }: Level, reference: Reference): void {
  if (old.has(reference.number)) kept.add(reference.number);
  else changed.push(reference);
}

/** The tables of a main tree, which is a few pages. */
function tablesOf(tree: PageTree, main: Tree | undefined): ReadonlyMap<string, Tree> {
  const tables = new Map<string, Tree>();
  const open = main === undefined ? [] : [rootOf(main)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const reference of referencesOf(tree.read(next))) {
      const { table, number, depth } = reference;
      if (depth !== undefined) tables.set(table, { table, root: number, depth });
      else if (reference.overflow === 0) open.push(reference);
    }
  }
  return tables;
}
