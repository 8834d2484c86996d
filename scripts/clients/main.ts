import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { openapiOf } from '../../gateway/api/openapi.ts';
import { ENDPOINTS } from '../../gateway/endpoints/list.ts';
import { apiOf } from './calls.ts';
import { pythonOf } from './python.ts';
import { typescriptOf } from './typescript.ts';

const ROOT = join(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
const [folder = join(ROOT, 'dist/clients')] = positionals;
if (values.help) {
  console.log(`npm run clients [-- FOLDER]

Writes the packages of both clients and of the MCP server to a folder (dist/clients unless told), which is removed first, and packs
those for Node. The wheel is built by Python: pip wheel --no-deps dist/clients/python`);
  process.exit();
}
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }; // it is ours
const api = apiOf(openapiOf(ENDPOINTS));

rmSync(folder, { recursive: true, force: true });
const typescript = packageOf('typescript', 'package.json', { 'src/index.ts': formatted(typescriptOf(api)) });
packageOf('python', 'pyproject.toml', pythonOf(api));
run(typescript, process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.');
const mcp = packageOf('mcp', 'package.json', {});
await build({
  ...{ entryPoints: [join(import.meta.dirname, 'mcp/main.ts')], outfile: join(mcp, 'mcp.js') },
  ...{ bundle: true, platform: 'node', target: 'node20', format: 'esm', banner: { js: '#!/usr/bin/env node' } },
});
for (const each of [typescript, mcp]) run(each, 'npm', 'pack', '--silent', '--pack-destination', '..');

/** A package: hand-written and generated files, a manifest with this version, docs/clients.md as README. */
function packageOf(client: string, manifest: string, made: Readonly<Record<string, string>>): string {
  const target = join(folder, client);
  cpSync(join(import.meta.dirname, client), target, { recursive: true });
  cpSync(join(ROOT, 'docs/clients.md'), join(target, 'README.md'));
  const text = readFileSync(join(target, manifest), 'utf8');
  writeFileSync(join(target, manifest), text.replace('"0.0.0"', `"${version}"`));
  for (const [name, content] of Object.entries(made)) writeFileSync(join(target, name), content);
  return target;
}

function formatted(text: string): string {
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  return execFileSync(process.execPath, [biome, 'format', '--stdin-file-path=index.ts'], {
    ...{ cwd: ROOT, input: text, encoding: 'utf8' },
  });
}

function run(cwd: string, program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd, stdio: 'inherit' });
}
