import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pagesOf } from '../../../gateway/endpoints/docs/page.ts';
import { debianProgram } from '../../support/debian.ts';
import { openGateway, type TestGateway } from '../../support/gateway.ts';
import { contract, operations } from '../../support/openapi.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';
import { unescaped } from '../../support/unescaped.ts';

const execute = promisify(execFile);

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly type: string | undefined;
  readonly body: unknown;
}

/** Samples of one language run as one program: an interpreter for each would take minutes. */
describe('the samples of /docs, run as they are printed', () => {
  let folder: string;
  let store: TestStore;
  let gateway: TestGateway;
  let html: string;
  let recorder: Server;
  let seen: Seen[];
  let env: Record<string, string>;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-samples-'));
    store = await openTestStore();
    gateway = await openGateway(store.db);
    const pages = pagesOf(contract).map(async ({ path }) => (await fetch(gateway.url + path)).text());
    html = (await Promise.all(pages)).join('');
    recorder = createServer(async (req, res) => {
      const chunks = await req.toArray();
      const body = Buffer.concat(chunks).toString();
      const { method, url, headers } = req;
      const { authorization, 'content-type': type } = headers;
      seen.push({ method, url, key: authorization, type, body: body === '' ? undefined : JSON.parse(body) });
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
    await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve));
    const { port } = recorder.address() as AddressInfo; // it listens on a port
    env = {
      PATH: process.env.PATH ?? '',
      LC_ALL: 'C.UTF-8',
      HARKARA_URL: `http://127.0.0.1:${port}`,
      HARKARA_KEY: 'hk_live_test',
    };
  });
  beforeEach(() => {
    seen = [];
  });
  after(async () => {
    recorder.closeAllConnections();
    recorder.close();
    await gateway.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (program: string, file: string, text: string): Promise<Seen[]> => {
    writeFileSync(join(folder, file), text);
    await execute(program, [join(folder, file)], { cwd: folder, env, maxBuffer: 16_777_216 });
    return seen;
  };
  const samples = (language: string): string[] => {
    const shown = html.matchAll(/<details data-language="([^"]+)"[^>]*>.*?<code>(.*?)<\/code><\/pre><\/details>/gs);
    return [...shown].filter(([, name]) => name === language).map(([, , code = '']) => unescaped(code));
  };

  it('curl', async () => {
    await debianProgram('curl', 'curl');

    expect(await run('/bin/sh', 'samples.sh', samples('curl').join(' >/dev/null 2>&1\n'))).to.deep.equal(expected());
  });

  it('Node.js', async () => {
    const imported = samples('Node.js').map((text) => text.replace("import { env } from 'node:process';", ''));
    const blocks = imported.map((text) => `{${text}}`);

    const program = `import { env } from 'node:process';\n${blocks.join('\n')}`;
    expect(await run(process.execPath, 'samples.mjs', program)).to.deep.equal(expected());
  });

  it('Python', async () => {
    await debianProgram('python3', 'python3-requests');

    expect(await run('/usr/bin/python3', 'samples.py', samples('Python').join('\n'))).to.deep.equal(expected());
  });

  it('PHP', async () => {
    const php = await debianProgram('php', 'php-cli');
    const texts = samples('PHP').map((text) => text.replace('<?php', ''));

    expect(await run(php, 'samples.php', `<?php${texts.join('')}`)).to.deep.equal(expected());
  });

  it('Java', async () => {
    const java = await debianProgram('java', 'default-jdk-headless');
    const classes = samples('Java').map((text, i) =>
      text.replace(/^import .*\n/gm, '').replace('class Sample', `class Sample${i}`),
    );
    const calls = classes.map((_, i) => `Sample${i}.main(args);`);
    const main = `class Samples { public static void main(String[] args) throws Exception { ${calls.join('\n')} } }`;
    const program = `import java.net.URI;\nimport java.net.http.*;\n${main}\n${classes.join('\n')}`;

    expect(await run(java, 'Samples.java', program)).to.deep.equal(expected());
  });

  it('Go', async () => {
    const go = await debianProgram('go', 'golang-go');
    const functions = samples('Go').map((text, i) =>
      text.replace(/^package .*?\)\n/s, '').replace('func main()', `func sample${i}()`),
    );
    const calls = functions.map((_, i) => `\tsample${i}()\n`);
    const imports = ['fmt', 'io', 'net/http', 'os', 'strings'].map((name) => `\t"${name}"\n`);
    const program = `package main\n\nimport (\n${imports.join('')})\n${functions.join('\n')}\nfunc main() {\n${calls.join('')}}\n`;
    writeFileSync(join(folder, 'samples.go'), program);
    await execute(go, ['run', 'samples.go'], { cwd: folder, env: { ...env, GOCACHE: folder, GO111MODULE: 'off' } });

    expect(seen).to.deep.equal(expected());
  });
});

/** The document's examples, in the order of the pages. */
function expected(): Seen[] {
  const placed = pagesOf(contract).flatMap(({ tags }) =>
    tags.flatMap((tag) => operations.filter(({ operation }) => operation.tags.includes(tag))),
  );
  return placed.flatMap(({ method, path, operation }) => {
    const examples = Object.values(operation.requestBody?.content?.['application/json']?.examples ?? {});
    const bodies = examples.length === 0 ? [undefined] : examples.map(({ value }) => value);
    const scope = operation['x-scope'] ?? 'none: ';
    const key = scope.startsWith('none: ') ? undefined : 'Bearer hk_live_test';
    return bodies.map((body) => ({
      method: method.toUpperCase(),
      url: filled(path, operation.parameters ?? []),
      key,
      type: body === undefined ? undefined : 'application/json',
      body,
    }));
  });
}

function filled(path: string, parameters: readonly object[]): string {
  const known = parameters.map((one) => {
    const name = '$ref' in one ? String(one.$ref).split('/').at(-1) : undefined;
    return name === undefined ? one : contract.components.parameters[name];
  });
  const exampleOf = (name: string): string =>
    String(Reflect.get(known.find((one) => Reflect.get(Object(one), 'name') === name) ?? {}, 'example'));
  const asked = known
    .filter((one) => Reflect.get(Object(one), 'in') === 'query' && Reflect.get(Object(one), 'required') === true)
    .map((one) => String(Reflect.get(Object(one), 'name')));
  const query = asked.map((name) => `${name}=${encodeURIComponent(exampleOf(name))}`).join('&');
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => exampleOf(name)) + (query === '' ? '' : `?${query}`);
}
