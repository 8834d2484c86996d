import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build as bundle } from 'esbuild';
import { APPS } from '../../scripts/bench/app-process.ts';
import { build, ROOT } from '../../scripts/bench/build.ts';
import { buildDashboard } from '../../scripts/dashboard/build.ts';

/** Set by `npm test`, which builds before its processes start, so that none of them needs to ask the compiler again. */
const BUILT = 'HARKARA_TEST_BUILT';
const BUNDLED = join(ROOT, 'dist', 'bundled');
/** Programs of tests, which use parts of the product: started from their sources, each would load hundreds of files by tsx. */
const PROGRAMS = ['held-gateway', 'refunding'] as const;
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

/** A program of `test/support/`, in one file as well. */
export async function builtProgram(name: (typeof PROGRAMS)[number]): Promise<string> {
  return join(await builtProduct(), 'test', `${name}.js`);
}

/** Builds, and says so to the processes that this one starts. */
export async function buildForAll(): Promise<void> {
  await bundled();
  process.env[BUILT] = 'yes';
}

async function bundled(): Promise<string> {
  const dist = await build();
  const mains = APPS.map((app) => join(dist, app === 'gateway' ? app : join('workers', app), 'main.js'));
  // The processes, and the one file of ours that starts as a thread.
  await bundleAll([...mains, join(dist, 'workers/batches/render-slice.js')], dist);
  const programs = PROGRAMS.map((name) => join(import.meta.dirname, `${name}.ts`));
  await bundleAll(programs, import.meta.dirname, join(BUNDLED, 'test'));
  await buildDashboard(ROOT);
  return BUNDLED;
}

/** Makes one file of each entry point, in `outdir` where the entry point is below `outbase`. */
async function bundleAll(entryPoints: string[], outbase: string, outdir = BUNDLED): Promise<void> {
  const { outputFiles } = await bundle({
    entryPoints,
    outbase,
    outdir,
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
}

/** Replaces a file in one step, and only if its contents differ: a process of another run may be reading it. */
function replace(path: string, contents: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  const fresh = join(BUNDLED, `${process.pid}-${relative(BUNDLED, path).replaceAll('/', '-')}`);
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}
