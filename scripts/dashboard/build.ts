import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type OutputFile } from 'esbuild';
import { marked } from 'marked';

const CLIENT = 'gateway/dashboard/client';
/** Gets `index.html`, and `assets/` with everything that pages and scripts load. */
const OUTPUT = 'dist/dashboard';
/** The gateway serves `assets/` here (gateway/dashboard/). */
const ASSETS_PATH = '/dashboard/assets/';
/** Output names. The page is written last: it tells gateways that the build is complete. */
const TEMPLATES = [
  ['docs/head.html', 'docs-head.html'],
  ['index.html', 'index.html'],
] as const;
/** Earlier builds' files are kept this long for pages that are still open. */
const KEEP_MS = 7 * 86_400_000;

const OPTIONS = {
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.svg': 'copy' },
  bundle: true,
  // theme.ts must run before the first paint, which a module cannot.
  format: 'iife',
  target: ['chrome123', 'firefox120', 'safari17.5'], // The first with light-dark().
  minify: true,
  metafile: true,
  write: false,
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * Builds the dashboard's client: one script, one style sheet, file names with a hash of the content, each file also
 * compressed; and the changelog for /docs. `index.html` is written last, when every file that it names exists.
 */
export async function buildDashboard(root: string): Promise<void> {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    absWorkingDir: root,
    outdir: `${OUTPUT}/assets`,
    tsconfig: `${CLIENT}/tsconfig.json`,
    entryPoints: ['main.tsx', 'frame/theme.ts', 'docs/docs.ts', 'icon.svg'].map((file) => `${CLIENT}/${file}`),
  });
  const assets = join(root, OUTPUT, 'assets');
  mkdirSync(assets, { recursive: true });
  for (const file of outputFiles) writeAsset(assets, file);
  removeOld(assets, new Set(outputFiles.map(({ path }) => basename(path))));
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').replace(/^.*?(?=^## )/ms, ''); // from its first version on
  replace(join(root, OUTPUT, 'changelog.html'), await marked.parse(changelog));
  for (const [template, made] of TEMPLATES) {
    replace(join(root, OUTPUT, made), withNames(readFileSync(join(root, CLIENT, template), 'utf8'), metafile.outputs));
  }
}

function withNames(template: string, outputs: Metafile['outputs']): string {
  const names = Object.entries(outputs).map(([path, { entryPoint, cssBundle }]) => ({ path, entryPoint, cssBundle }));
  const entry = (file: string) => names.find(({ entryPoint }) => entryPoint === `${CLIENT}/${file}`);
  const address = (path: string | undefined): string => {
    if (path === undefined) throw new Error('the build made no such file');
    return ASSETS_PATH + basename(path);
  };
  const places: Record<string, string> = {
    main: address(entry('main.tsx')?.path),
    style: address(entry('main.tsx')?.cssBundle),
    theme: address(entry('frame/theme.ts')?.path),
    docs: address(entry('docs/docs.ts')?.path),
    docsStyle: address(entry('docs/docs.ts')?.cssBundle),
    icon: address(names.find(({ path }) => path.endsWith('.svg'))?.path),
  };
  return template.replaceAll(/\{(\w+)\}/g, (_, place) => places[place] ?? '');
}

function writeAsset(folder: string, { path, contents }: OutputFile): void {
  const file = join(folder, basename(path));
  replace(file, contents);
  replace(`${file}.gz`, gzipSync(contents, { level: 9 }));
}

/** Replaces the file atomically (rename), because a gateway may be reading it. */
function replace(file: string, contents: string | Uint8Array): void {
  writeFileSync(`${file}.${process.pid}`, contents);
  renameSync(`${file}.${process.pid}`, file);
}

function removeOld(folder: string, made: ReadonlySet<string>): void {
  for (const name of readdirSync(folder)) {
    if (made.has(name.replace(/\.gz$/, ''))) continue;
    const file = join(folder, name);
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > KEEP_MS) rmSync(file, { force: true });
  }
}
