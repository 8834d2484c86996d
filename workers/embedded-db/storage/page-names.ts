import { fieldOf, valuesOf } from '../bson/read.ts';
import { validDocumentEnd } from '../bson/validate.ts';
import { asNumber } from '../bson/value.ts';
import { entriesOf, type TreePage } from './page-tree.ts';

const ID = Buffer.from('id');
const INDEXES = Buffer.from('indexes');

/** `add` learns the numbers of collections and indexes from the pages of the catalogue. `of` then says in words what is in a page. */
export function catalogueNames(): { add(leaf: Buffer): void; of(page: TreePage): string } {
  const names = new Map<string, string>();
  const note = (table: string, id: number | undefined, name: string): void => void names.set(`${table} ${id}`, name);
  return {
    add(leaf) {
      for (const { key, value } of entriesOf(leaf)) {
        if (key[0] !== 0x63 || validDocumentEnd(value, 0, value.length) !== value.length) continue; // 'c'
        const ns = key.toString('utf8', 1);
        note('documents', asNumber(fieldOf(value, 0, ID)), `documents of ${ns}`);
        for (const { buf, pos } of valuesOf(fieldOf(value, 0, INDEXES))) {
          note('entries', asNumber(fieldOf(buf, pos, ID)), `an index of ${ns}`);
        }
      }
    },
    of({ table, near }) {
      const name = near.length < 4 ? undefined : names.get(`${table} ${near.readUInt32BE(0)}`);
      return name ?? (table === '' ? 'of the whole file' : `table ${table}`);
    },
  };
}
