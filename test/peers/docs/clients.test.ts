import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { debianProgram } from '../../support/debian.ts';
import { makeKey, openGateway, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { contractText } from '../../support/openapi.ts';
import { ROOT } from '../../support/sources.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const execute = promisify(execFile);
const CONTRACT = 'openapi.json';

/** openapi-typescript needs the API of TypeScript 5, which is why it is no dependency of ours. */
const NPM = ['typescript@5.9.3', 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'];
const PIP = ['openapi-python-client==0.29.1'];

describe('clients that generators make of /openapi.json', function () {
  this.timeout(300_000); // Two registries and a virtual environment.
  let folder: string;
  let store: TestStore;
  let gateway: TestGateway;
  let env: Record<string, string>;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-clients-'));
    writeFileSync(join(folder, CONTRACT), contractText);
    store = await openTestStore();
    gateway = await openGateway(store.db);
    const key = await makeKey(store.db, await makeAccount(store.db, 5));
    env = { PATH: process.env.PATH ?? '', HOME: folder, HARKARA_URL: gateway.url, HARKARA_KEY: key };
  });
  after(async () => {
    await gateway.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (program: string, args: readonly string[]) =>
    execute(program, [...args], { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 16_777_216 }).catch(
      (error: { readonly stdout?: string; readonly stderr?: string }) => {
        throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
      },
    );

  it('openapi-typescript: the program of docs/clients.md compiles, defaults are not required, and it sends', async () => {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...NPM]);
    await run('npx', ['openapi-typescript', '--default-non-nullable=false', CONTRACT, '-o', 'harkara.d.ts']);
    writeFileSync(join(folder, 'program.ts'), `${TYPED}\n${programIn('ts')}`);
    const strict = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--allowImportingTsExtensions'];
    await run('npx', ['tsc', ...strict, '--rewriteRelativeImportExtensions', 'program.ts']);

    const { stdout } = await run(process.execPath, ['program.js']);

    expect(stdout).to.match(/^msg_/);
  });

  it('the linter that came along, Redocly, has nothing to say', async () => {
    writeFileSync(join(folder, 'lint.mjs'), LINT);

    const { stdout } = await run(process.execPath, ['lint.mjs']);

    expect(stdout).to.equal('');
  });

  it('openapi-python-client: nothing is left out, every body has a type, and the program of docs/clients.md sends', async () => {
    await run(await debianProgram('python3', 'python3-venv'), ['-m', 'venv', 'venv']);
    await run('venv/bin/pip', ['install', '--quiet', '--disable-pip-version-check', ...PIP]);
    env.PATH = `${join(folder, 'venv/bin')}:${env.PATH}`;
    const { stdout, stderr } = await run('openapi-python-client', [
      'generate',
      '--path',
      CONTRACT,
      '--output-path',
      'client',
    ]);
    expect(stdout + stderr).not.to.match(/warning|error/i);
    const { stdout: untyped } = await execute('grep', ['-rlE', 'body: Any|\\bAny \\| \\w+ \\| None:', 'client'], {
      cwd: folder,
    }).catch(() => ({ stdout: '' }));
    expect(untyped).to.equal('');
    writeFileSync(join(folder, 'client/program.py'), programIn('py'));

    const sent = await run('venv/bin/python', ['client/program.py']);

    expect(sent.stdout).to.match(/^msg_/);
  });
});

/** The program that docs/clients.md shows in this language. */
function programIn(language: string): string {
  const shown = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');
  const [, program = ''] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(shown) ?? [];
  return program;
}

/** What a program with webhooks relies on: the payloads have names, and `event` tells them apart. */
const TYPED = `
declare const process: { readonly env: Record<string, string> };
import type { components } from './harkara.d.ts';
type Payload = components['schemas']['MessageDeliveredEvent'] | components['schemas']['MessageFailedEvent'];
export const said = (payload: Payload): string | null =>
  payload.event === 'message.delivered' ? payload.delivered_at : payload.error_code;
`;

/** Two rules are off: the product has no licence to state, and pages and probes have no 4xx answers. */
const LINT = `
import { createConfig, lint } from '@redocly/openapi-core';
const config = await createConfig({
  extends: ['recommended'],
  rules: { 'info-license': 'off', 'operation-4xx-response': 'off' },
});
for (const { ruleId, location, message } of await lint({ ref: ${JSON.stringify(CONTRACT)}, config })) {
  console.log(ruleId, location[0].pointer, message);
}
`;
