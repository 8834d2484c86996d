import type { Backup } from '../storage/backup-file.ts';
import { Catalog } from '../storage/catalog.ts';
import { Database, type Durability } from '../storage/database.ts';
import { Documents } from '../storage/documents.ts';
import { Cursors } from './cursors.ts';

/** All that commands work on. */
export class Store {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly cursors = new Cursors();
  readonly now: () => number;
  /** Said after each step of a command that walks a whole collection. */
  readonly progress: () => void;
  readonly startedAtMs: number;
  /** The backup that was begun last. */
  backup: Backup | undefined;

  constructor(dir: string, durability: Durability, now: () => number, progress: () => void = () => {}) {
    this.database = new Database(dir, durability);
    this.catalog = new Catalog(this.database);
    this.documents = new Documents(this.database, this.catalog);
    this.now = now;
    this.progress = progress;
    this.startedAtMs = now();
  }
}
