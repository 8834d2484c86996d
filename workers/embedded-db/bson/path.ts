import { malformed, StoreError } from './errors.ts';
import { byteAt, Elements, findElement, isContainer, isEmptyContainer, MAX_DEPTH, TYPE } from './read.ts';

export interface Path {
  readonly text: string;
  readonly parts: readonly Buffer[];
  /** The part as an array index, or -1. */
  readonly indexes: readonly number[];
}

const paths = new Map<string, Path>();
/** Programs use few paths, but ids inside paths (`pending.g_…`) must not grow the cache without limit. */
const MAX_CACHED_PATHS = 2000;

/** Throws 15 for a path that is deeper than a document may be. */
export function parsePath(text: string): Path {
  const known = paths.get(text);
  if (known !== undefined) return known;
  const names = text.split('.');
  if (names.length > MAX_DEPTH) throw new StoreError(15, 'FieldPath is too long');
  if (text.includes('\0')) throw malformed("FieldPath field names may not contain '\\0'.");
  const path = { text, parts: names.map((name) => Buffer.from(name)), indexes: names.map(arrayIndex) };
  if (paths.size >= MAX_CACHED_PATHS) paths.clear();
  paths.set(text, path);
  return path;
}

function arrayIndex(name: string): number {
  return /^(0|[1-9]\d{0,8})$/.test(name) ? Number(name) : -1;
}

/** Looks at one value; `type` 0 is a missing field. True ends the walk. */
export type Visit = (type: number, buf: Buffer, pos: number) => boolean;

/**
 * Calls `visit` with every value that `path` leads to from the container (or value) at `pos`, through arrays as MongoDB
 * does: objects in an array are entered, a number names an element, and, with `expand`, the elements of an array at the
 * path's end come before the array itself. True when a visit was.
 */
export function visitPath(path: Path, type: number, buf: Buffer, pos: number, expand: boolean, visit: Visit): boolean {
  return walk(path, 0, type, buf, pos, expand, visit);
}

function walk(
  path: Path,
  level: number,
  type: number,
  buf: Buffer,
  pos: number,
  expand: boolean,
  visit: Visit,
): boolean {
  const part = path.parts[level];
  if (part === undefined) {
    if (expand && type === TYPE.array && visitElements(buf, pos, visit)) return true;
    return visit(type, buf, pos);
  }
  if (type === TYPE.object) {
    const at = findElement(buf, pos, part);
    if (at < 0) return visit(TYPE.missing, buf, 0);
    return walk(path, level + 1, byteAt(buf, at), buf, at + part.length + 2, expand, visit);
  }
  if (type === TYPE.array) return walkArray(path, level, buf, pos, expand, visit);
  return visit(TYPE.missing, buf, 0);
}

function walkArray(path: Path, level: number, buf: Buffer, pos: number, expand: boolean, visit: Visit): boolean {
  const index = path.indexes[level] ?? -1;
  const last = level === path.parts.length - 1;
  const elements = new Elements(buf, pos);
  for (let i = 0; elements.next(); i++) {
    const type = elements.type;
    if (i === index && last) {
      // The element that a path ends with is looked at as it is: `{ 'a.0': 1 }` does not find `[[1, 2]]`.
      if (visit(type, buf, elements.pos)) return true;
    } else if (i === index && isContainer(type)) {
      if (walk(path, level + 1, type, buf, elements.pos, expand, visit)) return true;
    }
    if (type === TYPE.object && walk(path, level, type, buf, elements.pos, expand, visit)) return true;
  }
  return false;
}

function visitElements(buf: Buffer, pos: number, visit: Visit): boolean {
  const elements = new Elements(buf, pos);
  while (elements.next()) if (visit(elements.type, buf, elements.pos)) return true;
  return false;
}

export interface IndexedValues {
  /** Types and positions of the values, in plain arrays: nothing else is allocated. An empty array is undefined. */
  readonly types: number[];
  readonly positions: number[];
  /** For each value: the position of the element of the outermost array that contains it; -1: in no array. */
  readonly elements: number[];
  /** Position of the outermost array on the path; -1: there is none. */
  array: number;
  /** A bit for each number of path parts after which an array was found. */
  arrayLevels: number;
  /** An array lies on the path: the index then has several keys for a document. */
  multikey: boolean;
  /** An array lies inside another one on the path: one element of the outer array then has several values. */
  nested: boolean;
  missing: boolean;
}

export function newIndexedValues(): IndexedValues {
  const flags = { multikey: false, nested: false, missing: true };
  return { types: [], positions: [], elements: [], array: -1, arrayLevels: 0, ...flags };
}

/** Fills `into` with the values of `path` in the document at `doc`; at least one, null when there is nothing. */
export function indexedValues(path: Path, buf: Buffer, doc: number, into: IndexedValues): void {
  into.types.length = 0;
  into.positions.length = 0;
  into.elements.length = 0;
  into.array = -1;
  into.arrayLevels = 0;
  into.multikey = false;
  into.nested = false;
  into.missing = true;
  collect(path, 0, TYPE.object, buf, doc, -1, into);
  if (into.types.length === 0) add(into, TYPE.null, 0, -1);
}

function add(into: IndexedValues, type: number, pos: number, element: number): void {
  into.types.push(type);
  into.positions.push(pos);
  into.elements.push(element);
}

/** `element` is that of the outermost array around this one; -1 when this is the outermost. */
function noteArray(into: IndexedValues, level: number, pos: number, element: number): void {
  into.multikey = true;
  into.arrayLevels |= 1 << Math.min(level, 31);
  if (element < 0) into.array = pos;
  else into.nested = true;
}

function collect(
  path: Path,
  level: number,
  type: number,
  buf: Buffer,
  pos: number,
  element: number,
  into: IndexedValues,
): void {
  const part = path.parts[level];
  if (part === undefined) {
    if (type !== TYPE.missing) into.missing = false;
    if (type !== TYPE.array) {
      add(into, type === TYPE.missing ? TYPE.null : type, pos, element);
      return;
    }
    noteArray(into, level, pos, element);
    if (isEmptyContainer(buf, pos)) add(into, TYPE.undefined, 0, element);
    const elements = new Elements(buf, pos);
    while (elements.next()) add(into, elements.type, elements.pos, element < 0 ? elements.pos : element);
    return;
  }
  if (type === TYPE.object) {
    const at = findElement(buf, pos, part);
    if (at < 0) add(into, TYPE.null, 0, element);
    else collect(path, level + 1, byteAt(buf, at), buf, at + part.length + 2, element, into);
  } else if (type === TYPE.array) {
    noteArray(into, level, pos, element);
    const index = path.indexes[level] ?? -1;
    const last = level === path.parts.length - 1;
    const elements = new Elements(buf, pos);
    for (let i = 0; elements.next(); i++) {
      const outermost = element < 0 ? elements.pos : element;
      if (i === index && (last || isContainer(elements.type))) {
        collect(path, level + 1, elements.type, buf, elements.pos, outermost, into);
      }
      if (elements.type === TYPE.object) collect(path, level, elements.type, buf, elements.pos, outermost, into);
    }
  } else {
    add(into, TYPE.null, 0, element);
  }
}
