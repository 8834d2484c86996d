import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build as bundle } from 'esbuild';
import { APPS } from '../../scripts/bench/app-process.ts';
import { build, ROOT } from '../../scripts/bench/build.ts';
import { buildDashboard } from '../../scripts/dashboard/build.ts';

/** Set by `npm test`, which builds before its processes start, so that none of them needs to ask the compiler again. */
const BUILT = 'HARKARA_TEST_BUILT';
const BUNDLED = join(ROOT, 'dist', 'bundled');
/** Names that packages written for CommonJS expect. */
const COMMONJS = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;
let built: Promise<string> | undefined;

/**
 * The folder of the product's build, made once per test run, each process bundled into one file: it starts in a third of the
 * time of the build itself (docs/decisions/0054), and a run starts hundreds.
 */
export function builtProduct(): Promise<string> {
  built ??= process.env[BUILT] === undefined ? bundled() : Promise.resolve(BUNDLED);
  return built;
}

/** Builds, and says so to the processes that this one starts. */
export async function buildForAll(): Promise<void> {
  await bundled();
  process.env[BUILT] = 'yes';
}

async function bundled(): Promise<string> {
  const dist = await build();
  const mains = APPS.map((app) => join(dist, app === 'gateway' ? app : join('workers', app), 'main.js'));
  const { outputFiles } = await bundle({
    // The processes, and the one file of ours that starts as a thread.
    entryPoints: [...mains, join(dist, 'workers/batches/render-slice.js')],
    outbase: dist,
    outdir: BUNDLED,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    banner: { js: COMMONJS },
    keepNames: true,
    // Packages with native code, and one (piscina) that starts its own files as threads.
    external: ['lmdb', 'piscina', '@node-rs/argon2'],
    logLevel: 'error',
  });
  for (const { path, contents } of outputFiles) replace(path, contents);
  await buildDashboard(ROOT);
  return BUNDLED;
}

/** Replaces a file in one step, and only if its contents differ: a process of another run may be reading it. */
function replace(path: string, contents: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  const fresh = join(BUNDLED, `${process.pid}-${relative(BUNDLED, path).replaceAll('/', '-')}`);
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}
