import { MochaProcess, type Outcome } from './mocha-process.ts';
import type { Unit } from './plan.ts';

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Titles and error of each failure, or why a process failed. */
  readonly failures: readonly string[];
}

export interface RunOptions {
  /** Parallel processes. */
  readonly jobs: number;
  readonly stopping: AbortSignal;
  say(text: string): void;
}

const DEAREST = 20;
/** Lines shown of the output of a process that broke off. */
const LINES_OF_TROUBLE = 40;

/** Runs each unit in a mocha process. Prints a line for each as it ends, and finally the files with the most CPU. */
export async function runUnits(units: readonly Unit[], { jobs, stopping, say }: RunOptions): Promise<Totals> {
  const ended: [Unit, Outcome][] = [];
  const run = async (unit: Unit): Promise<void> => {
    const mocha = new MochaProcess(unit.files);
    const stop = (): void => mocha.kill('SIGKILL');
    stopping.addEventListener('abort', stop);
    const outcome = await mocha.outcome;
    stopping.removeEventListener('abort', stop);
    ended.push([unit, outcome]);
    say(lineOf(unit, outcome));
  };
  const waiting = [...units];
  const worker = async (): Promise<void> => {
    for (let unit = waiting.shift(); unit !== undefined && !stopping.aborted; unit = waiting.shift()) await run(unit);
  };
  await Promise.all(Array.from({ length: jobs }, worker));

  say(dearest(ended.flatMap(([, { cpuMs }]) => [...cpuMs])));
  const sum = (count: (outcome: Outcome) => number): number =>
    ended.reduce((total, [, outcome]) => total + count(outcome), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed, trouble }) => failed + (trouble === undefined ? 0 : 1)),
    skipped: sum(({ skipped }) => skipped),
    failures: ended.flatMap(([unit, outcome]) => failuresOf(unit, outcome)),
  };
}

function lineOf({ name }: Unit, outcome: Outcome): string {
  const { passed, failed, skipped, trouble, ms, output } = outcome;
  const said = output.trim();
  return [
    `  ${failed > 0 || trouble !== undefined ? '✖' : '✔'} ${name}: ${passed} passed`,
    ...(failed > 0 ? [`, ${failed} failed`] : []),
    ...(skipped > 0 ? [`, ${skipped} skipped`] : []),
    ` (${Math.round(ms / 1_000)} s)`,
    ...(trouble === undefined ? [] : [`, ${trouble}`]),
    // Tests should write nothing, so their output is shown.
    ...(said === '' ? [] : [`\n${said}`]),
    '\n',
  ].join('');
}

function dearest(cpuMs: readonly (readonly [file: string, ms: number])[]): string {
  const lines = [...cpuMs]
    .sort(([, one], [, other]) => other - one)
    .slice(0, DEAREST)
    .map(([file, ms]) => `  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${file}\n`);
  return ['\n  CPU time of the dearest files, with their processes:\n', ...lines].join('');
}

function failuresOf({ name, files }: Unit, { reports, trouble, output }: Outcome): readonly string[] {
  const tests = reports.map((report) => report.replace(/^1\) /, ''));
  if (trouble === undefined) return tests;
  const said = output.split('\n').slice(-LINES_OF_TROUBLE).join('\n');
  return [...tests, `${name}: ${trouble}\n  npx mocha ${files.join(' ')}\n${said}`];
}
