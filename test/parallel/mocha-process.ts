import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseEventLine } from './events.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/**
 * Mocha with the `node-option` of `.mocharc.json`, without the second process of its own command. Garbage is collected
 * by one thread, as in the product: several such processes share few cores.
 */
const MOCHA = ['--single-threaded-gc', '--import', 'tsx', join(ROOT, 'node_modules/mocha/lib/cli/cli.js')];
const REPORTER = join(import.meta.dirname, 'reporter.ts');

/** How long a process may report nothing, and how long it may live after its tests. */
export interface Patience {
  readonly quietMs: number;
  readonly stayMs: number;
}

/** No test's own `timeout` is ten minutes, hooks included. */
const PATIENCE: Patience = { quietMs: 660_000, stayMs: 30_000 };

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly ms: number;
  /** Why the process itself failed: it broke off, hung, stayed, or ran nothing. */
  readonly trouble: string | undefined;
  readonly cpuMs: ReadonlyMap<string, number>;
  /** Mocha's report of each failed test, numbered 1. */
  readonly reports: readonly string[];
  /** The tests' own stdout and stderr. */
  readonly output: string;
}

/** Runs test files in one mocha process with the settings of `.mocharc.json`. */
export class MochaProcess {
  /** Never rejects: see `trouble`. */
  readonly outcome: Promise<Outcome>;
  readonly #child: ChildProcess;
  readonly #patience: Patience;
  readonly #output: string[] = [];
  readonly #reports: string[] = [];
  readonly #cpuMs = new Map<string, number>();
  readonly #counts = { begin: 0, pass: 0, fail: 0, skip: 0 };
  #lastTest = 'before its first test';
  #ended = false;
  #lost: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: readonly string[], patience = PATIENCE) {
    this.#patience = patience;
    // Its own process group, which includes whatever its tests start.
    this.#child = spawn(process.execPath, [...MOCHA, '--reporter', REPORTER, ...files], {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.outcome = this.#run();
  }

  /** Signals the process and everything else in its group. */
  kill(signal: NodeJS.Signals): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch (error) {
      // The whole group has ended.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }

  async #run(): Promise<Outcome> {
    const began = performance.now();
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#hear(line));
    }
    this.#waitAtMost(this.#patience.quietMs, `told nothing for ${this.#patience.quietMs / 1_000} s`);
    const [code, signal] = await once(this.#child, 'close');
    clearTimeout(this.#timer);
    return {
      passed: this.#counts.pass,
      failed: this.#counts.fail,
      skipped: this.#counts.skip,
      ms: performance.now() - began,
      trouble: this.#trouble(code ?? signal),
      cpuMs: this.#cpuMs,
      reports: this.#reports,
      output: this.#output.join('\n'),
    };
  }

  #hear(line: string): void {
    const event = parseEventLine(line);
    if (event === undefined) {
      this.#output.push(line);
      return;
    }
    if (event.kind === 'end') {
      this.#ended = true;
      this.#waitAtMost(this.#patience.stayMs, 'left something open: its tests had ended, it did not');
      return;
    }
    if (event.kind === 'cpu') {
      this.#cpuMs.set(event.file, (this.#cpuMs.get(event.file) ?? 0) + event.ms);
      return;
    }
    this.#counts[event.kind] += 1;
    if (event.kind === 'fail') this.#reports.push(event.report);
    this.#lastTest = `at "${event.test}"`;
    this.#waitAtMost(this.#patience.quietMs, `told nothing for ${this.#patience.quietMs / 1_000} s`);
  }

  #waitAtMost(ms: number, lost: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#lost = lost;
      this.kill('SIGKILL');
    }, ms);
  }

  #trouble(exit: number | string): string | undefined {
    const { pass, fail, skip } = this.#counts;
    if (this.#lost !== undefined) return `${this.#lost}, ${this.#lastTest}`;
    if (!this.#ended) return `ended with ${exit}, ${this.#lastTest}`;
    if (pass + fail + skip === 0) return 'ran no test';
    if (exit !== 0 && fail === 0) return `ended with ${exit} although no test failed`;
    return undefined;
  }
}
