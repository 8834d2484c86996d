import { malformed, notSupported } from '../bson/errors.ts';
import { compareAt } from '../bson/order.ts';
import { indexedValues, newIndexedValues, type Path, parsePath } from '../bson/path.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asNumber } from '../bson/value.ts';

/** `{ account: 1, _id: -1 }`. */
export interface SortField {
  readonly path: Path;
  readonly descending: boolean;
}

/** mongod's limit (manual, "$sort"). */
const FIELDS_MAX = 32;

export function parseSort(sort: Value): readonly SortField[] {
  const fields: SortField[] = [];
  if (sort.type === TYPE.missing) return fields;
  if (sort.type !== TYPE.object) throw malformed('a sort is a document');
  const elements = new Elements(sort.buf, sort.pos);
  while (elements.next()) {
    const name = elements.name();
    const direction = asNumber(elements.value());
    if (name.startsWith('$') || (direction !== 1 && direction !== -1)) throw notSupported(`Sorting by ${name} so`);
    if (fields.length === FIELDS_MAX) throw malformed(`a sort has at most ${FIELDS_MAX} fields`);
    fields.push({ path: parsePath(name), descending: direction < 0 });
  }
  return fields;
}

/** The values that a document sorts by, as positions in its own bytes. */
export interface SortKey {
  readonly types: readonly number[];
  readonly positions: readonly number[];
}

const found = newIndexedValues();

/** An array counts as its smallest element (ascending) or its greatest (descending), as in mongod. */
export function sortKey(fields: readonly SortField[], buf: Buffer): SortKey {
  const types: number[] = [];
  const positions: number[] = [];
  for (const { path, descending } of fields) {
    indexedValues(path, buf, 0, found);
    let best = 0;
    for (let i = 1; i < found.types.length; i++) {
      const order = compareAt(typeAt(i), buf, positionAt(i), typeAt(best), buf, positionAt(best));
      if (descending ? order > 0 : order < 0) best = i;
    }
    types.push(typeAt(best));
    positions.push(positionAt(best));
  }
  return { types, positions };
}

function typeAt(i: number): number {
  return found.types[i] ?? TYPE.null;
}

function positionAt(i: number): number {
  return found.positions[i] ?? 0;
}

export function compareSortKeys(
  fields: readonly SortField[],
  bufA: Buffer,
  a: SortKey,
  bufB: Buffer,
  b: SortKey,
): number {
  for (let i = 0; i < fields.length; i++) {
    const order = compareAt(
      a.types[i] ?? TYPE.null,
      bufA,
      a.positions[i] ?? 0,
      b.types[i] ?? TYPE.null,
      bufB,
      b.positions[i] ?? 0,
    );
    if (order !== 0) return fields[i]?.descending === true ? -order : order;
  }
  return 0;
}
