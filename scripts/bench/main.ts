import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readEnvironment } from '../../shared/platform/config/environment.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import { build, ROOT } from './fleet.ts';
import { growth } from './growth.ts';
import { againstKannel } from './kannel.ts';
import { type BenchOptions, helpText, readOptions } from './options.ts';
import {
  acceptAlone,
  bulk,
  firstSeconds,
  idle,
  lateReceipts,
  loneMessages,
  releaseTogether,
  steadyRates,
  wholePath,
} from './phases.ts';
import { type Report, reportText } from './report.ts';
import { type Stage, setStage } from './stage.ts';
import { hotSpots, memoryMib } from './usage.ts';
import { measureYardstick } from './yardstick.ts';

/** Time after a start until memory at rest is measured. */
const REST_MS = 2_000;

/** `npm run bench`, described in README.md. */
async function bench(options: BenchOptions): Promise<void> {
  if (options.cores > 0) pin(options.cores);
  const dist = options.build ? await build() : join(ROOT, 'dist');
  if (options.against !== undefined) {
    console.log(await againstKannel(dist, options));
    return;
  }
  const profileDir = join(ROOT, 'data', 'profiles', String(process.pid));
  if (options.profile.length > 0) mkdirSync(profileDir, { recursive: true });

  const yardstickUs = await measureYardstick(dist);
  const stage = await setStage(dist, options, profileDir);
  // Printed before the stage is closed: a process that then ends badly must not lose the results of an hour.
  try {
    const report = await measure(stage, options, yardstickUs);
    console.log(options.json ? JSON.stringify(report, null, 2) : reportText(report));
  } catch (error) {
    say(error);
    process.exitCode = 1;
  }
  await stage.close();
  if (options.profile.length > 0) console.log(`\nProfiles in ${profileDir}\n\n${hotSpots(profileDir)}`);
}

async function measure(stage: Stage, options: BenchOptions, yardstickUs: number): Promise<Report> {
  const memory = () => Object.fromEntries(stage.all.map(({ name, pid }) => [name, memoryMib(pid)]));
  await setTimeout(REST_MS);
  const memoryAtRestMib = memory();
  const has = (phase: BenchOptions['phases'][number]): boolean => options.phases.includes(phase);
  const start = has('start') ? await firstSeconds(stage, options) : undefined;
  if (options.warmUp > 0) await wholePath(stage, options, options.warmUp);
  return {
    machine: {
      node: process.versions.node,
      cpu: cpus()[0]?.model ?? 'unknown CPU',
      cores: options.cores || availableParallelism(),
      yardstickUs,
      store: loadConfig(readEnvironment()).mongodbUri === '' ? 'embedded store' : 'HARKARA_MONGODB_URI',
    },
    settings: { ...options },
    ...(start && { start }),
    ...(has('accept') && { accept: await acceptAlone(stage, options) }),
    ...(has('whole') && { whole: await wholePath(stage, options, options.messages) }),
    ...(has('one-account') && { oneAccount: await wholePath(stage, options, options.messages, stage.loneKeys) }),
    ...(has('bulk') && { bulk: await bulk(stage, options) }),
    ...(has('schedules') && { schedules: await releaseTogether(stage, options.connections, options.schedules) }),
    ...(has('late') && { late: await lateReceipts(stage, options) }),
    ...(has('rate') && { rates: await steadyRates(stage, options) }),
    ...(has('lone') && { lone: await loneMessages(stage, options) }),
    ...(has('idle') && { idle: await idle(stage, options) }),
    memoryAtRestMib,
    // Before `growth`, which ends the store's process.
    memoryMib: memory(),
    ...(has('growth') && { growth: await growth(stage, options) }),
  };
}

/** Pins this process and its children to the first cores. The targets are for two cores. */
function pin(cores: number): void {
  execFileSync('taskset', ['-a', '-c', '-p', `0-${cores - 1}`, String(process.pid)], { stdio: 'ignore' });
}

function say(error: unknown): void {
  console.error(error instanceof Error ? error.message : String(error));
}

// Exit on a signal by `process.exit`, so that the exit hooks end the started processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') console.log(helpText());
  else await bench(options);
} catch (error) {
  say(error);
  process.exit(1);
}
