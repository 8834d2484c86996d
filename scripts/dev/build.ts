import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { buildDashboard } from '../dashboard/build.ts';

const SOURCES = ['gateway', 'workers', 'shared', 'scripts'];
/** Sources: TypeScript, and the other files of the dashboard's client. */
const SOURCE = /\.(ts|tsx|css|html|svg)$/;
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'package.json'];
/** A file that every build contains. */
const OUTPUT = join('dist', 'scripts', 'dev', 'guard.js');
const PAGE = join('dist', 'dashboard', 'index.html');
const STAMP = join('dist', '.tsbuildinfo');

/** Builds `dist/` if it is missing or older than a source. Throws `StartError` on compiler errors. */
export async function buildIfNeeded(root: string, stopping: AbortSignal, say: (line: string) => void): Promise<void> {
  if (isFresh(root)) return;
  say('Building …');
  // The compiler trusts its build info and would not notice deleted outputs.
  if (!existsSync(join(root, OUTPUT))) rmSync(join(root, 'dist'), { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const child = spawn(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    signal: stopping,
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  stopping.throwIfAborted();
  if (code !== 0)
    throw new StartError('The build failed: see the compiler above (after an update, run `npm ci` first).');
  await buildDashboard(root).catch((error) => {
    throw new StartError(`The build of the dashboard failed: ${error instanceof Error ? error.message : error}`);
  });
  const now = new Date();
  utimesSync(join(root, STAMP), now, now);
}

function isFresh(root: string): boolean {
  if (!existsSync(join(root, OUTPUT)) || !existsSync(join(root, STAMP))) return false;
  if (!existsSync(join(root, PAGE))) return false;
  const builtAt = statSync(join(root, STAMP)).mtimeMs;
  const sources = SOURCES.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => SOURCE.test(name))
      .map((name) => join(folder, name)),
  );
  return [...sources, ...SETTINGS].every((file) => statSync(join(root, file)).mtimeMs <= builtAt);
}
