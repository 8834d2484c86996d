import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { debianProgram } from '../../support/debian.ts';
import { eventually } from '../../support/eventually.ts';
import { makeKey } from '../../support/gateway.ts';
import { ask, type Product, startProduct } from '../../support/product.ts';
import { ROOT } from '../../support/sources.ts';
import { unescaped } from '../../support/unescaped.ts';
import { opened } from '../../support/use.ts';
import { openReceiver, type Received, type Receiver } from '../../workers/webhooks/receiver.ts';
import { openTrouble, type Trouble } from './trouble.ts';

const execute = promisify(execFile);

const PIP = ['hatchling==1.33.0', 'httpx==0.28.1', 'mypy==2.4.1'];

/** The expected output of programs/program.ts and programs/program.py. */
const TOLD = {
  retried: 4,
  paid: 1,
  sent: '919876543210',
  same: true,
  dry: 1,
  bound: ['ConnectionError', 503, 2],
  later: ['ProblemError', 429, 'rate_limited', [], 999, 1],
  unkeyed: ['ConnectionError', null, 1],
  problem: ['ProblemError', 400, 'invalid_request', ['priorty unknown_field', 'to invalid_phone'], null, 1],
  pages: [true, true, 1],
  file: 'seq',
  refused: [true, true, true, true, true],
};

describe('the clients of scripts/clients, packed and installed', function () {
  this.timeout(300_000); // A registry and a virtual environment.
  const folder = mkdtempSync(join(tmpdir(), 'harkara-clients-'));
  const closing: (() => Promise<unknown>)[] = [];
  let product: Product;
  let trouble: Trouble;
  let env: Record<string, string>;
  let post: Post;
  before(async () => {
    product = await startProduct();
    closing.push(() => product.stop());
    const hook = await openReceiver();
    closing.push(() => hook.close());
    trouble = await openTrouble(product.url);
    closing.push(() => trouble.close());
    const key = await makeKey(product.db, product.account, ['send', 'read', 'manage']);
    post = await realPost(product, key, hook);
    writeFileSync(join(folder, 'post.json'), JSON.stringify(post));
    env = { HARKARA_URL: trouble.url, HARKARA_KEY: key, POST: join(folder, 'post.json') };
    await Promise.all([installTypescript(), installPython()]);
  });
  after(async () => {
    for (const close of closing.reverse()) await close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (program: string, args: readonly string[], cwd = folder): Promise<string> => {
    const { stdout } = await execute(program, [...args], { cwd, env: { ...process.env, ...env } }).catch(
      (error: { readonly stdout?: string; readonly stderr?: string }) => {
        throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
      },
    );
    return stdout;
  };

  async function installTypescript(): Promise<void> {
    await run('npm', ['run', '--silent', 'clients', '--', join(folder, 'made')], ROOT);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const quiet = ['--silent', '--no-audit', '--no-fund', '--offline'];
    const tarballs = readdirSync(join(folder, 'made')).filter((name) => name.endsWith('.tgz'));
    await run('npm', ['install', ...quiet, ...tarballs.map((name) => `./made/${name}`)]);
  }

  async function installPython(): Promise<void> {
    await run(await debianProgram('python3', 'python3-venv'), ['-m', 'venv', 'venv']);
    await run('venv/bin/pip', ['install', '--quiet', '--only-binary', ':all:', ...PIP]);
  }

  it('TypeScript: its types hold in programs, which retry, page, see problems and verify posts', async () => {
    copyFileSync(join(import.meta.dirname, 'programs/program.ts'), join(folder, 'program.ts'));
    const shown = [...samples('ts'), await pageSample('npm install')].map((text, index) => {
      writeFileSync(join(folder, `sample${index}.ts`), text);
      return `sample${index}.ts`;
    });
    const strict = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--noUncheckedIndexedAccess'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types'), '--exactOptionalPropertyTypes'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, ...strict, ...types, 'program.ts', ...shown]);

    const told = JSON.parse(await run(process.execPath, ['program.js']));
    const sample = await run(process.execPath, ['sample0.js']);
    await run(process.execPath, [`sample${shown.length - 1}.js`]);

    expect(told).to.deep.equal({ ...TOLD, ...proven(post) });
    expect(sample).to.match(/^msg_/);
  });

  it('Python: the same of both of its clients, by the types that mypy reads', async () => {
    const wheel = ['wheel', '--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', 'made', 'made/python'];
    await run('venv/bin/pip', wheel);
    const wheels = readdirSync(join(folder, 'made'))
      .filter((name) => name.endsWith('.whl'))
      .map((name) => `./made/${name}`);
    await run('venv/bin/pip', ['install', '--quiet', '--no-deps', ...wheels]);
    copyFileSync(join(import.meta.dirname, 'programs/program.py'), join(folder, 'program.py'));
    const shown = [...samples('py'), await pageSample('pip install')].map((text, index) => {
      writeFileSync(join(folder, `sample${index}.py`), text);
      return `sample${index}.py`;
    });
    await run('venv/bin/mypy', ['--strict', '--scripts-are-modules', 'program.py', ...shown]);
    await run('venv/bin/mypy', ['--strict', '-p', 'harkara']);

    const told = JSON.parse(await run('venv/bin/python', ['program.py']));
    const sample = await run('venv/bin/python', ['sample0.py']);
    await run('venv/bin/python', [`sample${shown.length - 1}.py`]);

    expect(told).to.deep.equal([
      { ...TOLD, ...proven(post) },
      { ...TOLD, ...proven(post) },
    ]);
    expect(sample).to.match(/^msg_/);
  });

  /** The program that /docs/clients shows below this installation line. */
  async function pageSample(install: string): Promise<string> {
    const html = await (await fetch(`${product.url}/docs/clients`)).text();
    const [, program = ''] = new RegExp(`aria-label="${install}[^"]*"><code>(.*?)</code>`, 's').exec(html) ?? [];
    return unescaped(program);
  }

  it('MCP: an agent that has the packed server asks about the account', async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport({ command: join(folder, 'node_modules/.bin/harkara-mcp'), env }));
    const { content } = await client.callTool({ name: 'explain_message', arguments: { message_id: messageId(post) } });
    await client.close();

    expect(JSON.stringify(content)).to.include('delivered');
  });
});

interface Post {
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A post of the product: the event of a delivered message. */
async function realPost(product: Product, key: string, hook: Receiver): Promise<Post> {
  const made = await ask(`${product.url}/v2/account/webhooks`, key, { channel: 'sms', url: hook.url });
  await product.send('919876543210', 'Hello');
  const isDelivered = ({ body }: Received) => body.includes('"message.delivered"');
  const { body, headers } = opened(await eventually(() => hook.received.find(isDelivered), 'the post'));
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return {
    secret: String(made.body.secret),
    body,
    headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
  };
}

function proven(post: Post) {
  return { event: ['message.delivered', post.headers['webhook-id'], messageId(post)] };
}

function messageId({ body }: Post): string {
  return JSON.parse(body).message_id;
}

function samples(language: string): string[] {
  const shown = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');
  return [...shown.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);
}
