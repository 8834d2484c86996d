import { KeyBuffer } from '../bson/key.ts';
import { indexedValues, newIndexedValues } from '../bson/path.ts';
import { byteAt, findElement, TYPE } from '../bson/read.ts';
import { StoreError } from '../errors.ts';
import type { Index } from './catalog.ts';

/** The entries that one document has in one index. */
export interface EntryKeys {
  readonly keys: Buffer[];
  /** Fields in which an array was met; undefined when there was none, the usual case. */
  multikey: boolean[] | undefined;
  truncated: boolean;
}

const buffer = new KeyBuffer();
/** Stands where other entries have the rank of their `_id`: something below FF follows every component (see key.ts). */
const UNIQUE_END = 1;

/**
 * The keys of the document in `index`, made from its bytes: none when a partial or sparse index leaves it out, several
 * when an array is on a path. `idKey` is the key of its `_id`.
 */
export function entryKeys(index: Index, doc: Buffer, idKey: Buffer): EntryKeys {
  const out: EntryKeys = { keys: [], multikey: undefined, truncated: false };
  if (index.partial !== undefined && !index.partial.includes(TYPE.object, doc, 0)) return out;
  if (!singleKey(index, doc, idKey, out)) manyKeys(index, doc, idKey, out);
  return out;
}

/** The common case, without allocations: every field is at the top level and no array. False when it is not so. */
function singleKey(index: Index, doc: Buffer, idKey: Buffer, out: EntryKeys): boolean {
  let missing = 0;
  buffer.start(index.id);
  for (const { path, descending } of index.fields) {
    const part = path.parts[0];
    if (part === undefined || path.parts.length > 1) return false;
    const at = findElement(doc, 0, part);
    if (at < 0) {
      missing++;
      buffer.append(TYPE.null, doc, 0, descending);
      continue;
    }
    const type = byteAt(doc, at);
    if (type === TYPE.array) return false;
    buffer.append(type, doc, at + part.length + 2, descending);
  }
  if (index.sparse && missing === index.fields.length) return true;
  finish(index, idKey, out);
  return true;
}

function finish(index: Index, idKey: Buffer, out: EntryKeys): void {
  buffer.limit(4);
  if (buffer.truncated) out.truncated = true;
  if (index.unique) buffer.appendByte(UNIQUE_END);
  else buffer.appendBytes(idKey, 0, idKey.length);
  out.keys.push(buffer.copy());
}

function manyKeys(index: Index, doc: Buffer, idKey: Buffer, out: EntryKeys): void {
  const fields = index.fields.map((field) => {
    const values = newIndexedValues();
    indexedValues(field.path, doc, 0, values);
    return { ...field, values, chosen: 0 };
  });
  if (index.sparse && fields.every(({ values }) => values.missing)) return;
  if (fields.some(({ values }) => values.multikey)) out.multikey = fields.map(({ values }) => values.multikey);
  rejectParallelArrays(fields);
  const seen = new Set<string>();
  // Counts through all combinations; as only one array may vary (or paths inside one array), they are few.
  for (;;) {
    buffer.start(index.id);
    for (const { values, chosen, descending } of fields) {
      buffer.append(values.types[chosen] ?? TYPE.null, doc, values.positions[chosen] ?? 0, descending);
    }
    const text = buffer.view().toString('latin1');
    if (!seen.has(text)) {
      seen.add(text);
      finish(index, idKey, out);
    }
    let i = fields.length - 1;
    for (; i >= 0; i--) {
      const field = fields[i];
      if (field === undefined) break;
      field.chosen++;
      if (field.chosen < field.values.types.length) break;
      field.chosen = 0;
    }
    if (i < 0) return;
  }
}

interface FieldValues {
  readonly path: Index['fields'][number]['path'];
  readonly values: { readonly multikey: boolean };
}

function rejectParallelArrays(fields: readonly FieldValues[]): void {
  const arrays = fields.filter(({ values }) => values.multikey);
  const first = arrays[0];
  if (first === undefined) return;
  const other = arrays.find(({ path }) => path.parts[0]?.equals(first.path.parts[0] ?? Buffer.alloc(0)) !== true);
  if (other === undefined) return;
  throw new StoreError(171, `cannot index parallel arrays [${other.path.text}] [${first.path.text}]`);
}
