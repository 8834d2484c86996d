import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type OutputFile } from 'esbuild';
import { marked } from 'marked';

const CLIENT = 'gateway/dashboard/client';
/** Where the output goes: `index.html`, and in `assets/` everything that the page and its scripts load. */
const OUTPUT = 'dist/dashboard';
/** The path at which the gateway serves `assets/` (gateway/dashboard/). */
const ASSETS_PATH = '/dashboard/assets/';
/**
 * Each template with its name in the output: the head of the pages below /docs, and the dashboard's page. The page is written
 * last, because a new one tells gateways that the build is complete.
 */
const TEMPLATES = [
  ['docs/head.html', 'docs-head.html'],
  ['index.html', 'index.html'],
] as const;
/** Files of earlier builds are kept this long, for pages that are still open. */
const KEEP_MS = 7 * 86_400_000;

const OPTIONS = {
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.svg': 'copy' },
  bundle: true,
  // theme.ts runs before the first paint, which a module cannot.
  format: 'iife',
  target: ['chrome123', 'firefox120', 'safari17.5'], // The first with light-dark().
  minify: true,
  metafile: true,
  write: false,
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * Builds the dashboard's client: one script with all pages, one style sheet, file names with the hash of the content, and each
 * file also compressed; and the changelog for /docs. `index.html` is written last, when every file that it names is there.
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

/** Fills in the names that the built files got. */
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

/** Replaces the file in one step (rename), because a gateway may be reading it. */
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
