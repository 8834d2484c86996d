import { beginEffort } from '../bson/effort.ts';
import { StoreError } from '../bson/errors.ts';
import { TYPE, type Value } from '../bson/read.ts';
import { planQuery } from '../plan/plan.ts';
import { type Hit, PAUSE, Scan } from '../plan/scan.ts';
import type { ExpressionContext } from '../query/expression.ts';
import { type Filter, idOf } from '../query/filter.ts';
import { predicate } from '../query/predicate.ts';
import { compareSortKeys, type SortField, sortKey } from '../query/sort.ts';
import type { Collection } from '../storage/catalog.ts';
import type { WriteError } from './reply.ts';
import { type Progress, Rest, Slice, type Step } from './slices.ts';
import type { Store } from './store.ts';

/** mongod's limit, told to drivers in `hello`. */
export const MAX_WRITE_BATCH = 100_000;

/** One write command with its statements, each done on its own. */
export interface Statements<Tally> {
  readonly statements: readonly Value[];
  /** The first error is the last statement. */
  readonly ordered: boolean;
  readonly tally: Tally;
  copy(tally: Tally): Tally;
  run(statement: Value, index: number, tally: Tally, slice: Slice): Step<Tally> | undefined;
  reply(tally: Tally, errors: readonly WriteError[]): Buffer;
}

/** Where a slice begins. */
interface Place<Tally> {
  readonly index: number;
  readonly step: Step<Tally> | undefined;
  readonly tally: Tally;
  readonly errors: readonly WriteError[];
}

export function runStatements<Tally>(store: Store, command: Statements<Tally>): Progress {
  const { length } = command.statements;
  if (length === 0 || length > MAX_WRITE_BATCH) {
    throw new StoreError(16, `Write batch sizes must be between 1 and ${MAX_WRITE_BATCH}. Got ${length} operations.`);
  }
  return runSlice(store, command, { index: 0, step: undefined, tally: command.tally, errors: [] });
}

function runSlice<Tally>(store: Store, command: Statements<Tally>, from: Place<Tally>): Progress {
  const slice = new Slice(store);
  const tally = command.copy(from.tally);
  const errors = [...from.errors];
  let { step } = from;
  for (let { index } = from; index < command.statements.length; index++) {
    try {
      if (slice.over) return new Rest(() => runSlice(store, command, { index, step, tally, errors }));
      step = step === undefined ? runOne(command, index, tally, slice) : step(tally, slice);
      if (step !== undefined) {
        const rest = step;
        return new Rest(() => runSlice(store, command, { index, step: rest, tally, errors }));
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      errors.push({ index, error });
      step = undefined;
      if (command.ordered) break;
    }
  }
  return command.reply(tally, errors);
}

function runOne<Tally>(command: Statements<Tally>, index: number, tally: Tally, slice: Slice): Step<Tally> | undefined {
  const statement = command.statements[index];
  if (statement?.type !== TYPE.object) throw new StoreError(14, 'a write statement must be an object');
  beginEffort();
  return command.run(statement, index, tally, slice);
}

export interface Target {
  readonly filter: Filter;
  readonly hint: Value;
  readonly sort: readonly SortField[];
  /** Only the first one. */
  readonly one: boolean;
}

/** The documents that a write targets, all found before the first is changed. */
export function findTargets(store: Store, collection: Collection, target: Target, context: ExpressionContext): Hit[] {
  const { filter } = target;
  const id = target.hint.type === TYPE.missing ? idOf(filter) : undefined;
  if (id !== undefined) {
    // The commonest write: one document by its `_id`.
    const key = store.documents.keyOf(collection, id);
    const doc = store.documents.get(key);
    if (doc === undefined) return [];
    return filter.kind === 'field' || predicate(filter, context)(TYPE.object, doc, 0) ? [{ key, doc }] : [];
  }
  const plan = planQuery(collection, { filter, sort: target.sort, limited: target.one, hint: target.hint });
  const stopAtFirst = target.one && (target.sort.length === 0 || plan.sorted);
  const scan = new Scan(store.database, collection, plan, predicate(filter, context), stopAtFirst ? 1 : undefined);
  const hits: Hit[] = [];
  for (;;) {
    const hit = scan.next();
    if (hit === undefined) break;
    if (hit === PAUSE) continue; // a write holds the store until it is done
    hits.push(hit);
    if (stopAtFirst) break;
  }
  return target.one && !stopAtFirst ? first(hits, target.sort) : hits;
}

function first(hits: readonly Hit[], sort: readonly SortField[]): Hit[] {
  let best: Hit | undefined;
  for (const hit of hits) {
    if (
      best === undefined ||
      compareSortKeys(sort, hit.doc, sortKey(sort, hit.doc), best.doc, sortKey(sort, best.doc)) < 0
    ) {
      best = hit;
    }
  }
  return best === undefined ? [] : [best];
}
