import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtDashboard } from '../../support/dashboard.ts';
import { debianProgram } from '../../support/debian.ts';
import { openGateway, type TestGateway } from '../../support/gateway.ts';
import { operations } from '../../support/openapi.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const execute = promisify(execFile);

describe('GET /docs in Chromium', () => {
  let profile: string;
  let store: TestStore;
  let gateway: TestGateway;
  before(async () => {
    profile = mkdtempSync(join(tmpdir(), 'harkara-chromium-'));
    await builtDashboard();
    store = await openTestStore();
    gateway = await openGateway(store.db);
  });
  after(async () => {
    await gateway.close();
    await store.close();
    rmSync(profile, { recursive: true, force: true });
  });

  /** The document as the browser has it, and what it wrote to its console. */
  async function open(url: string): Promise<{ readonly dom: string; readonly refused: string[] }> {
    const { stdout, stderr } = await execute(
      await debianProgram('chromium', 'chromium'),
      [
        '--headless=new',
        // Its sandbox wants rights that a container may not give; the page is ours.
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--enable-logging=stderr',
        `--user-data-dir=${profile}`,
        '--dump-dom',
        url,
      ],
      { maxBuffer: 16_777_216, timeout: 60_000 },
    );
    return { dom: stdout, refused: stderr.split('\n').filter((line) => line.includes('Content Security Policy')) };
  }

  it('is parsed as it was meant, and its policy refuses nothing of it', async () => {
    const { dom, refused } = await open(`${gateway.url}/docs`);

    for (const { path, operation } of operations) {
      if (!path.startsWith('/v2/') || path.startsWith('/v2/admin/')) continue;
      expect(dom).to.include(`<section class="operation" id="${operation.operationId}"`);
    }
    expect(dom).to.match(/<main .*<\/main><\/div>\s*<\/body><\/html>\s*$/s);
    expect(refused).to.deep.equal([]);
  });

  it('would be refused its style under the policy of the other answers: the judge sees it', async () => {
    const html = await (await fetch(`${gateway.url}/docs`)).text();
    const { headers } = await fetch(`${gateway.url}/healthz`);
    const policy = headers.get('content-security-policy') ?? '';
    const server = createServer((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy }).end(html);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port

    const { refused } = await open(`http://127.0.0.1:${port}/`);

    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(refused).not.to.be.empty;
  });
});
