import { readEnvironment } from '../../shared/platform/config/environment.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import { build } from '../bench/fleet.ts';
import { help, readOptions } from './faults.ts';
import { runChaos, type Verdict } from './run.ts';
import type { OtherStore } from './stage.ts';

/** `npm run chaos -- --help`. Exit code 0: nothing lost, doubled or mischarged; 1: something was; 2: wrong usage. */
async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}. Try --help.`);
    return 2;
  }
  if (options === undefined) {
    console.log(help());
    return 0;
  }
  const say = (line: string): void => console.log(`${new Date().toTimeString().slice(0, 8)} ${line}`);
  const verdict = await runChaos(await build(), options, say, namedStore());
  console.log(report(verdict, options.seed));
  if (verdict.unfinished.length > 0) console.log(JSON.stringify(verdict.unfinished, undefined, 1));
  return verdict.ok ? 0 : 1;
}

/** The server named by `HARKARA_MONGODB_URI`, if any; it is not ours to kill. */
function namedStore(): OtherStore | undefined {
  const { mongodbUri } = loadConfig(readEnvironment());
  return mongodbUri === '' ? undefined : { uri: mongodbUri, pid: undefined, kill: async () => {} };
}

function report({ findings, faults, accepted, looks, seconds, ok }: Verdict, seed: number): string {
  const counts = (of: ReadonlyMap<string, number>) =>
    [...of].map(([app, count]) => `${app} ${count}`).join(', ') || 'none';
  return [
    '',
    `seed ${seed}: ${accepted} recipients accepted in ${seconds} s, states looked at ${looks} times`,
    `killed: ${counts(faults.kills)}`,
    `paused: ${counts(faults.pauses)}`,
    '',
    ...findings.map(({ what, found, allowed, examples }) => {
      const bad = found > allowed ? `   FAULT: ${examples.join(' · ')}` : '';
      return `${String(found).padStart(7)}  ${what}${bad}`;
    }),
    '',
    ok ? 'Nothing was lost, doubled or mischarged.' : 'THE PRODUCT FAILED.',
  ].join('\n');
}

process.exit(await main());
