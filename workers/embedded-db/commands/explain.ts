import { notSupported, StoreError } from '../bson/errors.ts';
import { documentBytes, TYPE } from '../bson/read.ts';
import type { BsonWriter } from '../bson/write.ts';
import { type Plan, planQuery } from '../plan/plan.ts';
import { PAUSE, Scan } from '../plan/scan.ts';
import { predicate } from '../query/predicate.ts';
import type { SortField } from '../query/sort.ts';
import type { Collection } from '../storage/catalog.ts';
import { Command, checkFields } from './command.ts';
import { overTurns } from './cursors.ts';
import { FIND_FIELDS, type FindQuery, parseFind, passOver } from './find.ts';
import { reply } from './reply.ts';
import type { Store } from './store.ts';

const FIELDS = new Set(['find', '$db', 'comment', 'maxTimeMS', 'readConcern', ...FIND_FIELDS.split(' ')]);

/**
 * Says which index a `find` would use, in mongod's shape: `winningPlan` is COLLSCAN, IDHACK, or FETCH over an IXSCAN
 * with its `indexName`, under a SORT when the order has to be made. Always with the counts of a run of the query part.
 */
export function explain(store: Store, outer: Command): Buffer | Promise<Buffer> {
  const inner = outer.document('explain');
  if (inner.type === TYPE.missing) throw new StoreError(14, "BSON field 'explain.explain' must be an object");
  const command = new Command(Buffer.from(documentBytes(inner)), outer.sequences);
  if (command.name !== 'find') throw notSupported(`explain of ${command.name}`);
  checkFields(command.fields.keys(), FIELDS, 'find');
  const query = parseFind(command);
  const ns = `${outer.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) return explained(ns, undefined, undefined, query);
  const chosen = plan(collection, query);
  const run = countedRun(store, collection, chosen, query);
  const answer = (): Buffer => explained(ns, chosen, run, query);
  return run.work() ? answer() : overTurns(run.work).then(answer);
}

function explained(ns: string, chosen: Plan | undefined, run: CountedRun | undefined, query: FindQuery): Buffer {
  return reply((out) => {
    const planner = out.object('queryPlanner');
    out.string('namespace', ns);
    out.bool('indexFilterSet', false);
    const winning = out.object('winningPlan');
    if (chosen === undefined) out.string('stage', 'EOF');
    else describe(out, chosen, query.sort);
    out.close(winning);
    const rejected = out.array('rejectedPlans');
    out.close(rejected);
    out.close(planner);
    if (run !== undefined) putStatistics(out, run, query.limit);
  });
}

function plan(collection: Collection, query: FindQuery): Plan {
  return planQuery(collection, { ...query, limited: query.limit > 0 });
}

function describe(out: BsonWriter, chosen: Plan, sort: readonly SortField[]): void {
  if (sort.length > 0 && !chosen.sorted) {
    out.string('stage', 'SORT');
    const input = out.object('inputStage');
    describe(out, chosen, []);
    out.close(input);
    return;
  }
  switch (chosen.kind) {
    case 'ids':
      out.string('stage', chosen.keys.length === 1 ? 'IDHACK' : 'FETCH');
      if (chosen.keys.length !== 1) putIndexScan(out, '_id_', undefined, 'forward', false);
      return;
    case 'union': {
      out.string('stage', 'SUBPLAN');
      const inputs = out.array('inputStages');
      for (const [i, branch] of chosen.branches.entries()) {
        const input = out.object(String(i));
        describe(out, branch, []);
        out.close(input);
      }
      out.close(inputs);
      return;
    }
    case 'index': {
      const direction = chosen.reverse ? 'backward' : 'forward';
      if (chosen.index === undefined && chosen.everything && sort.length === 0) {
        out.string('stage', 'COLLSCAN');
        out.string('direction', direction);
        return;
      }
      out.string('stage', 'FETCH');
      const { index } = chosen;
      putIndexScan(out, index?.name ?? '_id_', index?.key, direction, index?.multikey.some((flag) => flag) ?? false);
    }
  }
}

function putIndexScan(
  out: BsonWriter,
  name: string,
  key: Buffer | undefined,
  direction: string,
  multikey: boolean,
): void {
  const input = out.object('inputStage');
  out.string('stage', 'IXSCAN');
  if (key !== undefined) out.document('keyPattern', key);
  out.string('indexName', name);
  out.bool('isMultiKey', multikey);
  out.string('direction', direction);
  out.close(input);
}

interface CountedRun {
  readonly scan: Scan;
  /** How many documents were found after those to skip. */
  found: number;
  /** True at the end, false when others should have a turn. */
  work(): boolean;
}

function countedRun(store: Store, collection: Collection, chosen: Plan, query: FindQuery): CountedRun {
  const scan = new Scan(store.database, collection, chosen, predicate(query.filter, { nowMs: store.now() }));
  const skip = query.skip - passOver(scan, chosen, query.skip);
  const wanted = query.limit > 0 && chosen.sorted ? query.limit : Number.MAX_SAFE_INTEGER;
  const run: CountedRun = {
    scan,
    found: -skip,
    work() {
      while (run.found < wanted) {
        const hit = scan.next();
        if (hit === PAUSE) return false;
        if (hit === undefined) break;
        run.found++;
      }
      return true;
    },
  };
  return run;
}

function putStatistics(out: BsonWriter, { scan, found }: CountedRun, limit: number): void {
  const statistics = out.object('executionStats');
  out.int32('nReturned', Math.max(0, limit > 0 ? Math.min(found, limit) : found));
  out.int32('totalKeysExamined', scan.examinedKeys);
  out.int32('totalDocsExamined', scan.examinedDocs);
  out.close(statistics);
}
