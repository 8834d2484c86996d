import { beginEffort } from '../bson/effort.ts';
import { TYPE, type Value } from '../bson/read.ts';
import { planQuery } from '../plan/plan.ts';
import { type Hit, PAUSE, Scan } from '../plan/scan.ts';
import type { ExpressionContext } from '../query/expression.ts';
import { type Filter, idOf } from '../query/filter.ts';
import { predicate } from '../query/predicate.ts';
import type { Collection } from '../storage/catalog.ts';
import { KeyList } from './key-list.ts';
import type { Slice, Step } from './slices.ts';
import type { Store } from './store.ts';

/** What a statement does to the documents that match `filter`, or to the first of them. */
export interface TargetChange<Tally> {
  readonly collection: Collection;
  readonly filter: Filter;
  readonly one: boolean;
  readonly hint: Value;
  readonly context: ExpressionContext;
  change(collection: Collection, hit: Hit, tally: Tally): void;
  /** Called once, at the end. */
  end(collection: Collection, matched: number, tally: Tally): void;
}

/**
 * Changes what a statement targets. All are found before the first is changed, so that none is found twice. When that takes more
 * than one slice, each document is looked at again when its turn comes: another command may have changed or removed it.
 */
export function changeTargets<Tally>(
  store: Store,
  target: TargetChange<Tally>,
  tally: Tally,
  slice: Slice,
): Step<Tally> | undefined {
  const { collection, filter, one, hint, context } = target;
  const id = hint.type === TYPE.missing ? idOf(filter) : undefined;
  const matches = predicate(filter, context);
  if (id !== undefined) {
    // The commonest write: one document by its `_id`.
    const key = store.documents.keyOf(collection, id);
    const doc = store.documents.get(key);
    slice.changed();
    const found = doc !== undefined && (filter.kind === 'field' || matches(TYPE.object, doc, 0));
    if (found) target.change(collection, { key, doc }, tally);
    target.end(collection, found ? 1 : 0, tally);
    return undefined;
  }

  const plan = planQuery(collection, { filter, sort: [], limited: one, hint });
  const scan = new Scan(store.database, collection, plan, matches, one ? 1 : undefined);
  const keys = new KeyList();
  let counted = 0;
  const find: Step<Tally> = (tally, slice) => {
    for (let hit: ReturnType<Scan['next']>; !(one && keys.read(0) !== undefined); ) {
      hit = scan.next();
      if (hit === undefined) break;
      if (hit !== PAUSE) keys.add(hit.key);
      else {
        slice.looked(scan.examinedKeys - counted);
        counted = scan.examinedKeys;
        if (slice.over) return find;
      }
    }
    slice.looked(scan.examinedKeys - counted);
    counted = scan.examinedKeys;
    return change(0, 0)(tally, slice);
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
  return find(tally, slice);
}
