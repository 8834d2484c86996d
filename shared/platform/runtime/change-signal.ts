import { mkdirSync, readdirSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from './clock.ts';

/**
 * The embedded store signals changes of a collection to the processes of its machine by touching `<store
 * dir>/changes/<database>.<collection>`, and `<database>.<collection>/<index>` when that index gets entries: a worker
 * that listens to the index of queued messages is woken by new ones, not by its own changes.
 *
 * So an idle worker polls every two seconds instead of ten times a second, and still begins within milliseconds.
 * Correctness does not depend on it. No signals with `HARKARA_MONGODB_URI`, because writers may be on other machines.
 */
export type ListenForChanges = (changing: Changing, onChange: () => void) => (() => void) | undefined;

/** `<collection>`: every insert and update there. `<collection>/<name of an index>`: the entries that it gets. */
export type Changing = string;

/** Least time between two signals of a busy collection. Changes in between are signalled at the end. */
const TELL_MS = 4;
/** How often the store checks which collections have listeners. */
const LOOK_MS = 1_000;

/** For the processes beside an embedded store. The listener returns undefined when the system gives no more watches. */
export function changeListener(storeDir: string, database: string): ListenForChanges {
  return (changing, onChange) => {
    try {
      const dir = signalDir(storeDir);
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      const file = join(dir, fileName(`${database}.${changing}`));
      writeFileSync(file, '', { flag: 'a', mode: 0o600 });
      const watcher = watch(file, { persistent: false }, onChange);
      watcher.on('error', () => watcher.close()); // the caller's polling goes on
      // A signal to ourselves, received at once where watching works: some file systems accept a watch and never report
      // anything.
      const now = systemClock.now();
      utimesSync(file, now, now);
      return () => watcher.close();
    } catch {
      return undefined; // out of inotify watches, say: polling does
    }
  };
}

/** For the store. Call `note` after each commit with the namespaces and indexes that it changed. */
export class ChangeSignal {
  readonly #dir: string;
  readonly #clock: Clock;
  #listened: ReadonlySet<string> = new Set();
  #lookedMs = Number.NEGATIVE_INFINITY;
  #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(storeDir: string, clock: Clock) {
    this.#dir = signalDir(storeDir);
    this.#clock = clock;
  }

  note(changed: Iterable<string>): void {
    for (const one of changed) this.#changed.add(one);
    if (this.#timer === undefined && this.#changed.size > 0) this.#tell();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #tell(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = nowMs;
      this.#listened = filesIn(this.#dir);
    }
    let told = false;
    for (const one of this.#changed) told = this.#touch(fileName(one)) || told;
    this.#changed.clear();
    this.#timer = told ? setTimeout(() => this.#tellRest(), TELL_MS) : undefined;
  }

  #tellRest(): void {
    this.#timer = undefined;
    if (this.#changed.size > 0) this.#tell();
  }

  #touch(name: string): boolean {
    if (!this.#listened.has(name)) return false;
    try {
      const now = this.#clock.now();
      utimesSync(join(this.#dir, name), now, now);
      return true;
    } catch {
      return false; // removed by hand: its listeners poll
    }
  }
}

function signalDir(storeDir: string): string {
  return join(storeDir, 'changes');
}

/** An index's name follows a slash, and a collection's name may contain one. */
function fileName(changing: string): string {
  return encodeURIComponent(changing);
}

function filesIn(dir: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(dir));
  } catch {
    return new Set(); // nobody has ever listened
  }
}
