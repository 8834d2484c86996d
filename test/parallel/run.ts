import { MochaProcess, type Outcome } from './mocha-process.ts';
import type { Unit } from './plan.ts';

/** Sums of all units. */
export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface RunOptions {
  /** Processes at a time. */
  readonly jobs: number;
  readonly stopping: AbortSignal;
  say(text: string): void;
}

/** Runs all units, each in a mocha process; says a line for each as it ends, and what failed at the end. */
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

  for (const [unit, outcome] of ended.filter(([, outcome]) => isBad(outcome))) say(failuresOf(unit, outcome));
  const sum = (count: (outcome: Outcome) => number): number =>
    ended.reduce((total, [, outcome]) => total + count(outcome), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed, trouble }) => failed + (trouble === undefined ? 0 : 1)),
    skipped: sum(({ skipped }) => skipped),
  };
}

const isBad = ({ failed, trouble }: Outcome): boolean => failed > 0 || trouble !== undefined;

function lineOf({ name }: Unit, outcome: Outcome): string {
  const { passed, failed, skipped, trouble, ms, output } = outcome;
  const said = output.trim();
  return [
    `  ${isBad(outcome) ? '✖' : '✔'} ${name}: ${passed} passed`,
    ...(failed > 0 ? [`, ${failed} failed`] : []),
    ...(skipped > 0 ? [`, ${skipped} skipped`] : []),
    ` (${Math.round(ms / 1_000)} s)`,
    ...(trouble === undefined ? [] : [`, ${trouble}`]),
    // Failures come at the end; whatever else a test wrote nobody expects.
    ...(said === '' || isBad(outcome) ? [] : [`\n${said}`]),
    '\n',
  ].join('');
}

function failuresOf({ name, files }: Unit, { output, trouble }: Outcome): string {
  const heading = trouble === undefined ? name : `${name}: ${trouble}`;
  const which = files.length === 1 ? [] : [`  npx mocha ${files.join(' ')}`];
  return ['', `== ${heading}`, ...which, output, ''].join('\n');
}
