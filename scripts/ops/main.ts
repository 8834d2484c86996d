import { readEnvironment } from '../../shared/platform/config/environment.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import { runOps } from './run.ts';

/** `npm run ops -- …`: answers on stdout, errors on stderr. */
process.exitCode = await runOps(
  process.argv.slice(2),
  { out: (text) => console.log(text), err: (text) => console.error(text), canvas: process.stderr },
  () => loadConfig(readEnvironment()),
);
