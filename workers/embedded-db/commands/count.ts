import { StoreError } from '../bson/errors.ts';
import { KeyBuffer } from '../bson/key.ts';
import { parsePath, visitPath } from '../bson/path.ts';
import { isEmptyContainer, TYPE, type Value } from '../bson/read.ts';
import { asString } from '../bson/value.ts';
import type { Results } from '../plan/results.ts';
import { PAUSE } from '../plan/scan.ts';
import { parseFilter } from '../query/filter.ts';
import { type Command, refuseOptions } from './command.ts';
import { overTurns } from './cursors.ts';
import { type FindQuery, findResults } from './find.ts';
import { reply } from './reply.ts';
import type { Store } from './store.ts';

export function queryOf(command: Command): FindQuery {
  const query = command.document('query');
  return {
    filter: query.type === TYPE.missing ? { kind: 'and', filters: [] } : parseFilter(query.buf, query.pos),
    sort: [],
    skip: command.count('skip', 0),
    limit: command.count('limit', 0),
    hint: command.get('hint'),
  };
}

export function count(store: Store, command: Command): Buffer | Promise<Buffer> {
  refuseOptions((name) => command.get(name), ['collation']);
  const ns = `${command.db}.${command.collection()}`;
  const query = command.document('query');
  const parsed = queryOf(command);
  const answer = (n: number): Buffer => reply((out) => out.int32('n', n));
  if (query.type === TYPE.missing || isEmptyContainer(query.buf, query.pos)) {
    const all = Math.max(0, (store.catalog.get(ns)?.count ?? 0) - parsed.skip);
    return answer(parsed.limit > 0 ? Math.min(all, parsed.limit) : all);
  }
  let n = 0;
  const work = eachOf(findResults(store, ns, parsed), () => {
    n++;
  });
  return work() ? answer(n) : overTurns(work).then(() => answer(n));
}

export function distinct(store: Store, command: Command): Buffer | Promise<Buffer> {
  refuseOptions((name) => command.get(name), ['collation']);
  const key = asString(command.get('key'));
  if (key === undefined) throw new StoreError(14, "BSON field 'distinct.key' must be a string");
  if (key.includes('\0')) throw new StoreError(31032, 'Key field cannot contain an embedded null byte');
  const path = parsePath(key);
  const values = new Map<string, Value>();
  const buffer = new KeyBuffer();
  const keep = (type: number, buf: Buffer, pos: number): boolean => {
    buffer.start(0).append(type, buf, pos);
    const text = buffer.view().toString('latin1');
    if (!values.has(text)) values.set(text, { type, buf, pos });
    return false;
  };
  const work = eachOf(findResults(store, `${command.db}.${command.collection()}`, queryOf(command)), (doc) => {
    visitPath(path, TYPE.object, doc, 0, true, (type, buf, pos) => {
      // Of an array its elements count, which came before it.
      return type === TYPE.missing || type === TYPE.array ? false : keep(type, buf, pos);
    });
  });
  const answer = (): Buffer =>
    reply((out) => {
      const array = out.array('values');
      let i = 0;
      for (const value of values.values()) out.value(String(i++), value);
      out.close(array);
    });
  return work() ? answer() : overTurns(work).then(answer);
}

/** Work for one turn: true at the end of the results. */
function eachOf(results: Results, take: (doc: Buffer) => void): () => boolean {
  return () => {
    for (;;) {
      const doc = results.next();
      if (doc === PAUSE) return false;
      if (doc === undefined) return true;
      take(doc);
    }
  };
}
