import { beginEffort } from './bson/effort.ts';
import { StoreError } from './bson/errors.ts';
import { date, string } from './bson/value.ts';
import { OK } from './commands/command.ts';
import type { Store } from './commands/store.ts';
import type { GroupCommit } from './group-commit.ts';
import { planQuery } from './plan/plan.ts';
import { type Hit, PAUSE, Scan } from './plan/scan.ts';
import { type Filter, predicate } from './query/filter.ts';
import type { Collection } from './storage/catalog.ts';
import type { Index } from './storage/index-definition.ts';

/** Most documents removed in one transaction. The rest follows in the next ones, so that others are not blocked. */
const BATCH = 500;

/** mongod's `DataCorruptionDetected`. */
const DAMAGED = 301;

/**
 * Removes expired documents: those with a date in a TTL index older than its `expireAfterSeconds`. Skips damaged
 * documents, and an index that it cannot read; `onFailure` is told once for each index.
 */
export class TtlSweeper {
  private readonly store: Store;
  private readonly commits: GroupCommit;
  private readonly onFailure: (error: unknown) => void;
  private readonly timer: NodeJS.Timeout;
  private readonly told = new Set<string>();

  constructor(store: Store, commits: GroupCommit, everyMs: number, onFailure: (error: unknown) => void) {
    this.store = store;
    this.commits = commits;
    this.onFailure = onFailure;
    this.timer = setInterval(() => this.sweep(), everyMs);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private sweep(): void {
    for (const collection of this.store.catalog.all()) {
      for (const index of collection.indexes) {
        if (index.expireAfterSeconds === undefined) continue;
        try {
          // Most sweeps find nothing and write nothing.
          if (this.expired(collection, index, 1).length > 0) this.remove(collection, index);
        } catch (error) {
          this.tell(collection, index, error);
          this.commits.addFault(error, () => {});
        }
      }
    }
  }

  private tell({ ns }: Collection, index: Index, error: unknown): void {
    const name = `${ns}/${index.name}`;
    if (this.told.has(name)) return;
    this.told.add(name);
    this.onFailure(error);
  }

  private remove(collection: Collection, index: Index): void {
    let removed = 0;
    this.commits.add(
      () => {
        removed = 0; // It may be run once more (group-commit.ts).
        // The collection or the index may have been dropped since.
        if (this.store.catalog.get(collection.ns) !== collection || !collection.indexes.includes(index)) return OK;
        for (const { key, doc } of this.expired(collection, index, BATCH)) {
          this.store.documents.remove(collection, key, doc);
          removed++;
        }
        return OK;
      },
      (reply) => {
        // On a full disk it was undone; the next sweep tries again.
        if (reply === OK && removed === BATCH) this.remove(collection, index);
      },
    );
  }

  private expired(collection: Collection, index: Index, most: number): Hit[] {
    beginEffort(); // The timer may follow a command that has spent everything.
    const nowMs = this.store.now();
    const path = index.fields[0]?.path;
    if (path === undefined) return [];
    const old: Filter = {
      kind: 'field',
      path,
      test: { op: 'lte', value: date(nowMs - (index.expireAfterSeconds ?? 0) * 1000) },
    };
    const filter: Filter = index.partial === undefined ? old : { kind: 'and', filters: [old, index.partial.filter] };
    const hint = string(index.name);
    const plan = planQuery(collection, { filter, sort: [], limited: true, hint });
    const scan = new Scan(this.store.database, collection, plan, predicate(filter, { nowMs }), most);
    const hits: Hit[] = [];
    while (hits.length < most) {
      const hit = this.nextWhole(scan, collection, index);
      if (hit === undefined) break;
      if (hit !== PAUSE) hits.push(hit);
    }
    return hits;
  }

  /** The scan's next document that is not damaged. After an error the scan goes on behind the damaged document. */
  private nextWhole(scan: Scan, collection: Collection, index: Index): ReturnType<Scan['next']> {
    for (;;) {
      try {
        return scan.next();
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== DAMAGED) throw error;
        this.tell(collection, index, error);
      }
    }
  }
}
