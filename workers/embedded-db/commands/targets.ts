import { beginEffort } from '../bson/effort.ts';
import { TYPE, type Value } from '../bson/read.ts';
import { planQuery } from '../plan/plan.ts';
import { type Hit, PAUSE, Scan } from '../plan/scan.ts';
import type { ExpressionContext } from '../query/expression.ts';
import { type Filter, idOf, type Predicate, predicate } from '../query/filter.ts';
import { compareSortKeys, type SortField, sortKey } from '../query/sort.ts';
import type { Collection } from '../storage/catalog.ts';
import type { Slice, Step, Store } from './store.ts';

export const UNSORTED: readonly SortField[] = [];

/**
 * What a statement does to the documents that match `filter`, or to the first one in the order of `sort`. Made field by
 * field: with `...{}`, building these objects took a tenth of the store's CPU.
 */
export interface TargetChange<Tally> {
  readonly collection: Collection;
  readonly filter: Filter;
  readonly sort: readonly SortField[];
  readonly one: boolean;
  readonly hint: Value;
  readonly context: ExpressionContext;
  change(collection: Collection, hit: Hit, tally: Tally): void;
  end(collection: Collection, matched: number, tally: Tally): void;
}

export function changeTargets<Tally>(
  store: Store,
  target: TargetChange<Tally>,
  tally: Tally,
  slice: Slice,
): Step<Tally> | undefined {
  const { collection, filter, hint, context } = target;
  const id = hint.type === TYPE.missing ? idOf(filter) : undefined;
  const matches = predicate(filter, context);
  if (id === undefined) return (target.one ? changeFirst : changeAll)(store, target, matches)(tally, slice);

  const key = store.documents.keyOf(collection, id);
  const doc = store.documents.get(key);
  slice.changed();
  const found = doc !== undefined && (filter.kind === 'field' || matches(TYPE.object, doc, 0));
  if (found) target.change(collection, { key, doc }, tally);
  target.end(collection, found ? 1 : 0, tally);
  return undefined;
}

/**
 * All are found before the first is changed, so that none is found twice. If that takes several slices, each document
 * is looked at again before its change: another command may have changed or removed it.
 */
function changeAll<Tally>(store: Store, target: TargetChange<Tally>, matches: Predicate): Step<Tally> {
  const { collection, filter, hint } = target;
  const plan = planQuery(collection, { filter, sort: [], limited: false, hint });
  const scan = new Scan(store.database, collection, plan, matches);
  const keys = new KeyList();
  const find: Step<Tally> = (tally, slice) => {
    const take = (hit: Hit): boolean => {
      keys.add(hit.key);
      return true;
    };
    return searched(store, scan, slice, take) ? change(0, 0)(tally, slice) : find;
  };
  const change =
    (from: number, before: number): Step<Tally> =>
    (tally, slice) => {
      const now = store.catalog.get(collection.ns);
      if (now?.id !== collection.id) return undefined; // dropped meanwhile
      let matched = before;
      for (let next = keys.read(from); next !== undefined; next = keys.read(next.next)) {
        if (slice.over) return change(next.at, matched);
        slice.changed();
        beginEffort();
        const doc = store.documents.get(next.key);
        if (doc === undefined || !matches(TYPE.object, doc, 0)) continue;
        target.change(now, { key: next.key, doc }, tally);
        matched++;
      }
      target.end(now, matched, tally);
      return undefined;
    };
  return find;
}

/** Holds only the best match so far. If another command has moved it meanwhile, the search begins again. */
function changeFirst<Tally>(store: Store, target: TargetChange<Tally>, matches: Predicate): Step<Tally> {
  const { collection, filter, sort, hint } = target;
  const plan = planQuery(collection, { filter, sort, limited: true, hint });
  const takeFirst = sort.length === 0 || plan.sorted;
  const scan = new Scan(store.database, collection, plan, matches, takeFirst ? 1 : undefined);
  let best: Hit | undefined;
  const find: Step<Tally> = (tally, slice) => {
    const take = (hit: Hit): boolean => {
      if (best === undefined || order(sort, hit.doc, best.doc) < 0) best = hit;
      return !takeFirst;
    };
    if (!(takeFirst && best !== undefined) && !searched(store, scan, slice, take)) return find;
    const now = store.catalog.get(collection.ns);
    if (now?.id !== collection.id) return undefined; // dropped meanwhile
    slice.changed();
    beginEffort();
    if (best !== undefined) {
      const doc = store.documents.get(best.key);
      if (doc === undefined || !matches(TYPE.object, doc, 0) || order(sort, doc, best.doc) !== 0) {
        return changeFirst(store, { ...target, collection: now }, matches);
      }
      target.change(now, { key: best.key, doc }, tally);
    }
    target.end(now, best === undefined ? 0 : 1, tally);
    return undefined;
  };
  return find;
}

function order(sort: readonly SortField[], a: Buffer, b: Buffer): number {
  return sort.length === 0 ? 0 : compareSortKeys(sort, a, sortKey(sort, a), b, sortKey(sort, b));
}

/** Gives `take` the matches until it wants no more. False when the slice is over before. */
function searched({ database }: Store, scan: Scan, slice: Slice, take: (hit: Hit) => boolean): boolean {
  let counted = database.looked.keys;
  for (;;) {
    const hit = scan.next();
    if (hit === PAUSE) {
      counted = database.looked.keys;
      slice.paused();
      if (slice.over) return false;
    } else if (hit === undefined || !take(hit)) {
      slice.looked(database.looked.keys - counted);
      return true;
    }
  }
}

const KEYS_BYTES = 4096;

/** Keys in the order of adding, packed: each a length (u16) and its bytes. A million take some 30 MB. */
class KeyList {
  private bytes = Buffer.allocUnsafeSlow(KEYS_BYTES);
  private used = 0;

  add(key: Buffer): void {
    const end = this.used + 2 + key.length;
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.bytes.length * 2));
      larger.set(this.bytes.subarray(0, this.used));
      this.bytes = larger;
    }
    this.bytes.writeUInt16LE(key.length, this.used);
    this.bytes.set(key, this.used + 2);
    this.used = end;
  }

  /** The key that begins at `at`: 0 for the first one, then the `next` of the key before. Undefined at the end. */
  read(at: number): { readonly key: Buffer; readonly at: number; readonly next: number } | undefined {
    if (at >= this.used) return undefined;
    const next = at + 2 + this.bytes.readUInt16LE(at);
    return { key: this.bytes.subarray(at + 2, next), at, next };
  }
}
