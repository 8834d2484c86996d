import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianProgram } from '../../support/debian.ts';
import { makeKey, openGateway, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { contractText } from '../../support/openapi.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const execute = promisify(execFile);
const CONTRACT = 'openapi.json';

/** openapi-typescript needs the API of TypeScript 5, so it is no dependency of ours. */
const NPM = ['typescript@5.9.3', 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'];
const PIP = ['openapi-python-client==0.29.1'];

describe('clients that the generators of others make of /openapi.json', function () {
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

  it('openapi-typescript: a program compiles, defaults are not required, and it sends', async () => {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...NPM]);
    await run('npx', ['openapi-typescript', '--default-non-nullable=false', CONTRACT, '-o', 'harkara.d.ts']);
    writeFileSync(join(folder, 'program.ts'), TYPESCRIPT);
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

  it('openapi-python-client: nothing is left out, every body has a type, and a program sends', async () => {
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
    writeFileSync(join(folder, 'client/program.py'), PYTHON);

    const sent = await run('venv/bin/python', ['client/program.py']);

    expect(sent.stdout).to.match(/^msg_/);
  });
});

/** Sends a message, and relies on named payloads that `event` tells apart, as webhook programs do. */
const TYPESCRIPT = `
declare const process: { readonly env: Record<string, string> };
import createClient from 'openapi-fetch';
import type { components, paths } from './harkara.d.ts';

const client = createClient<paths>({
  baseUrl: process.env.HARKARA_URL,
  headers: { Authorization: \`Bearer \${process.env.HARKARA_KEY}\` },
});
const { data, error } = await client.POST('/v2/send', {
  body: { to: '919876543210', message: 'Your code is 4711', sender: 'HARKRA' },
});
if (error) console.log(error.code, error.detail);
else if ('dry_run' in data) console.log(data.credits_required);
else console.log(data.message_id);

type Payload = components['schemas']['MessageDeliveredEvent'] | components['schemas']['MessageFailedEvent'];
export const said = (payload: Payload): string | null =>
  payload.event === 'message.delivered' ? payload.delivered_at : payload.error_code;
`;

const PYTHON = `
import os

from harkara_client import AuthenticatedClient
from harkara_client.api.sms import send
from harkara_client.models import Problem, SendDryRun, SendRequest

client = AuthenticatedClient(base_url=os.environ["HARKARA_URL"], token=os.environ["HARKARA_KEY"])
body = SendRequest(to="919876543210", message="Your code is 4711", sender="HARKRA")
answer = send.sync(client=client, body=body, idempotency_key="order-7-first")
if isinstance(answer, Problem):
    print(answer.code.value, answer.detail)
elif isinstance(answer, SendDryRun):
    print(answer.credits_required)
else:
    print(answer.message_id)
`;

/** One rule is off: pages and probes have no 4xx answers. */
const LINT = `
import { createConfig, lint } from '@redocly/openapi-core';
const config = await createConfig({
  extends: ['recommended'],
  rules: { 'operation-4xx-response': 'off' },
});
for (const { ruleId, location, message } of await lint({ ref: ${JSON.stringify(CONTRACT)}, config })) {
  console.log(ruleId, location[0].pointer, message);
}
`;
