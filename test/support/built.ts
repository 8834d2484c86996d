import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type BuildOptions, build as bundle } from 'esbuild';
import { build, ROOT } from '../../scripts/bench/fleet.ts';
import { buildDashboard } from '../../scripts/dashboard/build.ts';
import { APPS, appFile } from '../../shared/platform/processes/apps.ts';

/** Set by `npm test`, which builds before its processes start, so that none has to ask the compiler again. */
const BUILT = 'HARKARA_TEST_BUILT';
const BUNDLED = join(ROOT, 'dist', 'bundled');
/** Other programs that tests start several times: from source, tsx would load hundreds of files each time. */
const PROGRAMS = {
  'held-gateway': 'test/support/held-gateway.ts',
  'watched-gateway': 'test/support/watched-gateway.ts',
  refunding: 'test/support/refunding.ts',
  ops: 'scripts/ops/main.ts',
  simulator: 'scripts/simulator/main.ts',
} as const;
type Form = Pick<BuildOptions, 'banner' | 'define' | 'format' | 'outExtension' | 'supported'>;
/** A module, with the names that CommonJS packages expect. */
const MODULE: Form = {
  format: 'esm',
  banner: {
    js: `import { createRequire as requireOf } from 'node:module';
const require = requireOf(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`,
  },
};
/** A script started by `start-kept.ts`, because Node 20 keeps no compiled code of modules. */
const SCRIPT: Form = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  // Such a script has no loader for `import()`; `require` does the same.
  supported: { 'dynamic-import': false },
  define: {
    'import.meta.dirname': '__dirname',
    'import.meta.filename': '__filename',
    'import.meta.url': '__url',
  },
};
let built: Promise<string> | undefined;

/**
 * The product's build, made once per test run, one bundled file per process: a run starts hundreds, and bundles start
 * in a third of the time (docs/decisions/0036).
 */
export function builtProduct(): Promise<string> {
  built ??= process.env[BUILT] === undefined ? bundled() : Promise.resolve(BUNDLED);
  return built;
}

/** One of these programs as one file. */
export async function builtProgram(name: keyof typeof PROGRAMS): Promise<string> {
  return join(await builtProduct(), 'programs', `${name}.js`);
}

/** Builds, and tells the processes that this one starts. */
export async function buildForAll(): Promise<void> {
  await bundled();
  process.env[BUILT] = 'yes';
}

async function bundled(): Promise<string> {
  const dist = await build();
  const mains = APPS.map((app) => appFile(app).slice(0, -'.js'.length));
  await bundleAll(
    mains.map((main) => ({ in: join(dist, `${main}.js`), out: main })),
    SCRIPT,
  );
  await bundleAll([
    ...mains.map((main) => ({ in: join(ROOT, 'test/support/start-kept.ts'), out: main })),
    // Our thread files, where the bundles look for them. `watched-gateway` is such a bundle.
    { in: join(dist, 'workers/batches/render-slice.js'), out: 'workers/background/render-slice' },
    ...['gateway', 'programs'].map((beside) => ({
      in: join(dist, 'gateway/http/in-thread.js'),
      out: `${beside}/in-thread`,
    })),
    ...Object.entries(PROGRAMS).map(([name, source]) => ({ in: join(ROOT, source), out: `programs/${name}` })),
  ]);
  await buildDashboard(ROOT);
  return BUNDLED;
}

async function bundleAll(entryPoints: { in: string; out: string }[], form: Form = MODULE): Promise<void> {
  const { outputFiles } = await bundle({
    entryPoints,
    outdir: BUNDLED,
    bundle: true,
    write: false,
    platform: 'node',
    ...form,
    keepNames: true,
    // Packages with native code, and piscina, which starts its own files as threads.
    external: ['lmdb', 'piscina', '@node-rs/argon2'],
    logLevel: 'error',
  });
  for (const { path, contents } of outputFiles) replace(path, contents);
}

/** Replaces a file atomically, and only if it differs: a process of another run may be reading it. */
function replace(path: string, contents: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  const fresh = join(BUNDLED, `${process.pid}-${relative(BUNDLED, path).replaceAll('/', '-')}`);
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}
