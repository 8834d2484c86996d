import type { Index } from './index-definition.ts';

/** Cached results, by shape of update; emptied when the indexes change. */
export interface AffectedIndexes {
  readonly byShape: Map<string, readonly Index[]>;
  last: { readonly paths: readonly string[]; readonly indexes: readonly Index[] } | undefined;
}

interface Indexed {
  readonly indexes: readonly Index[];
  readonly affected: AffectedIndexes;
}

/** The indexes whose entries may change when these paths do; all of them when the paths are not known. */
export function affectedIndexes(collection: Indexed, paths: readonly string[] | undefined): readonly Index[] {
  if (paths === undefined || collection.indexes.length === 0) return collection.indexes;
  const { affected: cache } = collection;
  const same = cache.last;
  if (same !== undefined && equalPaths(same.paths, paths)) return same.indexes;
  const shape = paths.join('\0'); // no name of a field has it
  let indexes = cache.byShape.get(shape);
  if (indexes === undefined) {
    indexes = overlapping(collection, paths);
    if (cache.byShape.size >= MAX_SHAPES) cache.byShape.clear();
    cache.byShape.set(shape, indexes);
  }
  cache.last = { paths, indexes };
  return indexes;
}

/** The statements of one command are mostly of one shape, and their paths the very same strings. */
function equalPaths(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function overlapping(collection: Indexed, paths: readonly string[]): readonly Index[] {
  const plain = paths.map(withoutNumbers);
  return collection.indexes.filter((index) =>
    index.dependsOn.some((depends) => plain.some((path) => overlaps(withoutNumbers(depends), path))),
  );
}

/** Ids inside paths (`pending.g_…`) make ever new shapes; the cache starts again then. */
const MAX_SHAPES = 500;

/** `parts.0.key` changes what an index on `parts.key` sees. */
function withoutNumbers(path: string): string {
  return path.includes('.') ? path.replace(/\.\d+(?=\.|$)/g, '') : path;
}

function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}
