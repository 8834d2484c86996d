import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedStore } from '../../workers/embedded-db/server.ts';
import { plan } from '../parallel/plan.ts';
import { runUnits, type Totals } from '../parallel/run.ts';
import { summary } from '../parallel/summary.ts';
import { buildForAll } from '../support/built.ts';
import { slowness } from './factor.ts';
import { Secantus } from './secantus.ts';
import { type EngineRun, filesOf, OWN_TESTS, RUNS } from './selection.ts';

/**
 * `npm run test:engines`: runs the selection of `selection.ts`, or with `--all` every possible test, on the servers of
 * `SECANTUSDB_HOME`. `--on <part of a run's name>` limits the runs; named files and folders replace the selection. The
 * last lines are mocha's.
 */
const JOBS = 4;
const SIGINT_EXIT = 130;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false }, on: { type: 'string', default: '' } },
});
const say = (text: string): void => void process.stdout.write(text);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

function run(files: readonly string[], env: Readonly<Record<string, string>>): Promise<Totals> {
  Object.assign(process.env, env);
  return runUnits(plan(files), { jobs: JOBS, stopping: stop.signal, say });
}

async function runOn(engine: EngineRun): Promise<Totals> {
  const { without = [] } = engine;
  const wanted = positionals.length > 0 ? positionals : values.all ? engine.tests : engine.chosen;
  const files = filesOf(wanted).filter((file) => !without.includes(file));
  const secantus = await Secantus.start(engine);
  const { uri } = secantus;
  const factor = await factorOf(uri);
  say(`\n${engine.name}: ${files.length} files, deadlines × ${factor.toFixed(1)}\n`);
  const totals = await run(files, { HARKARA_MONGODB_URI: uri, HARKARA_TEST_SLOW: String(factor) });
  await secantus.close();
  return totals;
}

async function factorOf(uri: string): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'harkara-test-'));
  const embedded = await startEmbeddedStore({ dir, durability: 'none' });
  const factor = await slowness(uri, embedded.uri);
  await embedded.close();
  rmSync(dir, { recursive: true });
  return factor;
}

const began = performance.now();
await buildForAll();
const totals: Totals[] = [];
for (const engine of RUNS.filter(({ name }) => name.includes(values.on))) {
  if (!stop.signal.aborted) totals.push(await runOn(engine));
}
if (positionals.length === 0 && values.on === '' && !stop.signal.aborted) {
  say('\nTests that start their own servers\n');
  totals.push(await run(OWN_TESTS, { HARKARA_MONGODB_URI: '', HARKARA_TEST_SLOW: '1' }));
}

say(`${summary(totals, performance.now() - began)}\n`);
if (stop.signal.aborted) process.exitCode = SIGINT_EXIT;
else if (totals.some(({ failed }) => failed > 0)) process.exitCode = 1;
