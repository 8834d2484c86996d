import type { StoreError } from '../bson/errors.ts';
import type { Backup } from '../storage/backup-file.ts';
import { Catalog, type Collection } from '../storage/catalog.ts';
import type { Build } from '../storage/catalog-record.ts';
import { Database, type Durability } from '../storage/database.ts';
import { Documents } from '../storage/documents.ts';
import { Garbage } from '../storage/garbage.ts';
import { Cursors } from './cursors.ts';

/** All that commands work on. */
export class Store {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly garbage: Garbage;
  readonly cursors = new Cursors();
  readonly now: () => number;
  readonly startedAtMs: number;
  /** The backup that was begun last. */
  backup: Backup | undefined;
  /** Why builds of indexes ended without them, by the build's id. */
  readonly endedBuilds = new Map<number, StoreError>();

  constructor(dir: string, durability: Durability, now: () => number) {
    this.database = new Database(dir, durability);
    this.catalog = new Catalog(this.database);
    this.documents = new Documents(this.database, this.catalog);
    this.garbage = new Garbage(this.database);
    this.now = now;
    this.startedAtMs = now();
    this.dropUnfinished();
  }

  /** Replaces what is in memory by what is stored. */
  reload(): void {
    this.catalog.reload();
    this.garbage.reload();
    this.documents.changed.clear();
  }

  /** The build ends, its indexes are not made. */
  discardBuild(collection: Collection, build: Build): void {
    for (const index of build.indexes) {
      this.garbage.add('entries', index.id);
      this.documents.unfinished.forget(index);
    }
    this.catalog.removeBuild(collection, build);
  }

  /** Builds that ended with the process: whoever wants the index asks again. */
  private dropUnfinished(): void {
    const left = [...this.catalog.all()].filter(({ builds }) => builds.length > 0);
    if (left.length === 0) return;
    this.database.write(() => {
      for (const collection of left) {
        for (const build of [...collection.builds]) this.discardBuild(collection, build);
      }
      this.catalog.flush();
    });
  }
}
