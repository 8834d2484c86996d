import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildForAll } from '../support/built.ts';
import { plan } from './plan.ts';
import { runUnits } from './run.ts';

/**
 * `npm test`: all test files but those of the peers suite, several mocha processes at a time. Arguments, if any, are the files
 * and folders to run instead (`npm test -- test/workers/smpp`). The last lines are like mocha's: `N passing`, `N failing`, and what failed.
 */
const ROOT = join(import.meta.dirname, '..', '..');
/** Many tests wait for processes and deadlines, so two for each core. */
const JOBS = Math.min(8, availableParallelism() * 2);
const SIGINT_EXIT = 130;

const asked = process.argv.slice(2).map((path) => path.replace(/^\.\/|\/$/g, ''));
const isAsked = (path: string, one: string): boolean => path === one || path.startsWith(`${one}/`);
const all = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path}`)
  .filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/peers/'))
  .sort();
const unknown = asked.filter((one) => !all.some((path) => isAsked(path, one)));
if (unknown.length > 0) {
  console.error(`No test file in ${unknown.join(' or ')}: name files or folders such as test/workers/smpp.`);
  process.exit(1);
}
const files = all.filter((path) => asked.length === 0 || asked.some((one) => isAsked(path, one)));

const began = performance.now();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

// Once, and before: no process writes the build while another reads it.
await buildForAll();
console.log(`Node ${process.version}: ${files.length} files, ${JOBS} processes at a time\n`);
const { passed, failed, skipped, failures } = await runUnits(plan(files), {
  jobs: JOBS,
  stopping: stop.signal,
  say: (text) => process.stdout.write(text),
});

const seconds = Math.round((performance.now() - began) / 1_000);
console.log(`\n  ${passed} passing (${Math.floor(seconds / 60)}m ${seconds % 60}s)`);
if (skipped > 0) console.log(`  ${skipped} pending`);
if (failed > 0) console.log(`  ${failed} failing\n\n${failures.join('\n\n')}\n`);
if (stop.signal.aborted) process.exitCode = SIGINT_EXIT;
else if (failed > 0) process.exitCode = 1;
