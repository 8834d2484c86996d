import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildForAll } from '../support/built.ts';
import { isFaults, plan } from './plan.ts';
import { runUnits } from './run.ts';
import { summary } from './summary.ts';

/**
 * `npm test`: runs all test files except the suites faults, peers and engines in several mocha processes at a time.
 * `--faults`: the suite faults. Files and folders as arguments replace the selection (`npm test -- test/workers/smpp`;
 * `npm run test:peers` is `test/peers`). The last lines are like mocha's: `N passing`, `N failing`, and what failed.
 */
const ROOT = join(import.meta.dirname, '..', '..');
const SIGINT_EXIT = 130;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { faults: { type: 'boolean', default: false } },
});
const asked = positionals.map((path) => path.replace(/^\.\/|\/$/g, ''));
const isAsked = (path: string, one: string): boolean => path === one || path.startsWith(`${one}/`);
const needsMore = (path: string): boolean => /^test\/(peers|engines)\//.test(path);
const all = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path}`)
  .filter((path) => path.endsWith('.test.ts'))
  .sort();
const unknown = asked.filter((one) => !all.some((path) => isAsked(path, one)));
if (unknown.length > 0) {
  console.error(`No test file in ${unknown.join(' or ')}: name files or folders such as test/workers/smpp.`);
  process.exit(1);
}
const files = all.filter((path) =>
  asked.length === 0 ? isFaults(path) === values.faults && !needsMore(path) : asked.some((one) => isAsked(path, one)),
);
/** Most tests wait, so more jobs than cores keep the cores busy. Browsers and foreign programs use more CPU. */
const jobs = Math.min(8, availableParallelism() * (files.some(needsMore) ? 2 : 3));

const began = performance.now();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

// Once, before the processes start: none may build while another reads the build.
await buildForAll();
console.log(`Node ${process.version}: ${files.length} files, ${jobs} processes at a time\n`);
const totals = await runUnits(plan(files), {
  jobs,
  stopping: stop.signal,
  say: (text) => process.stdout.write(text),
});
console.log(summary([totals], performance.now() - began));
if (stop.signal.aborted) process.exitCode = SIGINT_EXIT;
else if (totals.failed > 0) process.exitCode = 1;
