import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usualGateways } from '../../shared/platform/processes/apps.ts';
import { build, ROOT } from './build.ts';
import { type Report, rowsOf, table } from './report.ts';

/** One of several runs of the same benchmark. */
interface Variant {
  /** In the table's head: `Node 22`, `4 cores`. */
  readonly name: string;
  readonly node: string;
  readonly args: readonly string[];
}

/** Options that may hold a list here; each value is a run of its own. */
const LISTS = ['node', 'cores'] as const;

/**
 * Runs the benchmark once for each value of `--node` or `--cores`, one after the other, each in a process of its own. Returns the
 * table with a column for each; undefined when the command line asks for a single run under this Node.
 */
export async function sideBySide(argv: readonly string[]): Promise<string | undefined> {
  const variants = variantsOf(argv);
  if (variants.length === 0) return undefined;
  await build();
  const outputs: { readonly name: string; readonly text: string }[] = [];
  for (const variant of variants) {
    console.error(variant.name);
    outputs.push({ name: variant.name, text: await run(variant) });
  }
  if (argv.includes('--against') || argv.includes('--json')) {
    return outputs.map(({ name, text }) => `${name}\n\n${text}`).join('\n\n');
  }
  return tableOf(outputs.map(({ name, text }) => ({ name, report: JSON.parse(text) as Report }))); // printed by our own --json
}

function variantsOf(argv: readonly string[]): readonly Variant[] {
  const node = listIn(argv, 'node');
  const cores = listIn(argv, 'cores')?.split(',') ?? [];
  if (node === undefined && cores.length < 2) return [];
  const rest = without(argv, cores.length < 2 ? ['node'] : LISTS);
  return (node?.split(',') ?? ['']).flatMap((version) => {
    const binary = version === '' ? process.execPath : nodeBinary(version);
    const name = version === '' ? [] : [`Node ${version}`];
    if (cores.length < 2) return [{ name: name.join(), node: binary, args: rest }];
    return cores.map((count) => ({
      name: [...name, `${count} cores`].join(', '),
      node: binary,
      args: [...matching(Number(count)), ...rest],
    }));
  });
}

/** Options for that many cores. The words of the command line come after them and override them. */
function matching(cores: number): readonly string[] {
  const gateways = usualGateways(cores);
  const smppWorkers = Math.max(1, Math.floor(cores / 2));
  return ['--cores', String(cores), '--gateways', String(gateways), '--smpp-workers', String(smppWorkers)];
}

function listIn(argv: readonly string[], name: string): string | undefined {
  const at = argv.indexOf(`--${name}`);
  if (at >= 0) return argv[at + 1];
  return argv.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
}

function without(argv: readonly string[], names: readonly string[]): readonly string[] {
  return argv.filter((each, i) => {
    const before = argv[i - 1];
    const isFlag = names.some((name) => each === `--${name}` || each.startsWith(`--${name}=`));
    return !isFlag && !names.some((name) => before === `--${name}`);
  });
}

/**
 * The Node binary of that version; for a major version, of its newest. It comes from the npm package that holds only this binary,
 * and is kept for the next run.
 */
function nodeBinary(version: string): string {
  const dir = join(tmpdir(), 'harkara-bench-nodes', version);
  mkdirSync(dir, { recursive: true });
  const name = `node-${process.platform}-${process.arch}`;
  const install = ['install', '--silent', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefix', dir];
  if (!readdirSync(dir).includes('node_modules')) execFileSync('npm', [...install, `${name}@${version}`]);
  return join(dir, 'node_modules', name, 'bin', 'node');
}

function run({ name, node, args }: Variant): Promise<string> {
  const json = args.includes('--against') ? [] : ['--json'];
  const command = ['--import', 'tsx', join(ROOT, 'scripts/bench/main.ts'), ...args, ...json, '--no-build'];
  const child = spawn(node, command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString().trim());
      else reject(new Error(`the run of ${name} ended with ${code}`));
    });
  });
}

function tableOf(runs: readonly { readonly name: string; readonly report: Report }[]): string {
  const columns = runs.map(({ report }) => rowsOf(report));
  const rows = columns[0]?.map(([what, , target], i) => [what, ...columns.map((rows) => rows[i]?.[1] ?? ''), target]);
  return table([['', ...runs.map(({ name }) => name), 'target'], ...(rows ?? [])]);
}
