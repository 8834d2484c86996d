import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import type { ProcessDocument } from '../../shared/platform/processes/report.ts';
import { builtProduct } from '../support/built.ts';
import { eventually } from '../support/eventually.ts';
import { useStore } from '../support/store.ts';

interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly exited: Promise<unknown[]>;
}

/** A start on a busy machine. */
const START_MS = 60_000;

describe('the gateway process', function () {
  this.timeout(2 * START_MS);
  const store = useStore();
  let main: string;
  const running: Running[] = [];
  before(async () => {
    main = join(await builtProduct(), 'gateway/main.js');
  });
  afterEach(() => {
    for (const { child } of running.splice(0)) child.kill('SIGKILL');
  });

  function start(env: Record<string, string>): Running {
    const child = spawn(process.execPath, [main], {
      env: { ...process.env, HARKARA_MONGODB_URI: store.uri, HARKARA_MONGODB_DATABASE: store.db.databaseName, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const one = { child, out: () => out, err: () => err, exited: once(child, 'close') };
    running.push(one);
    return one;
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`serves until ${signal}, then ends with 0`, async () => {
      const { child, out, exited } = start({ HARKARA_PORT: '0' });
      const port = await eventually(() => /"port":(\d+),"msg":"listening"/.exec(out())?.[1], 'it listens', START_MS);

      const answer = await request(`http://127.0.0.1:${port}`).get('/readyz');
      child.kill(signal);

      expect(answer.status).to.equal(200);
      expect(await exited).to.deep.equal([0, null]);
      expect(out()).to.include('"msg":"stopped"');
    });
  }

  for (const [env, warns] of [
    [{ HARKARA_HOST: '127.0.0.1' }, false],
    [{ HARKARA_HOST: '0.0.0.0' }, true],
    [{ HARKARA_HOST: '127.0.0.1', HARKARA_TRUST_PROXY: '127.0.0.1' }, true],
    [{ HARKARA_HOST: '0.0.0.0', HARKARA_PUBLIC_URL: 'https://sms.example.com' }, false],
  ] as const) {
    it(`${warns ? 'warns' : 'does not warn'} that passwords travel without TLS: ${JSON.stringify(env)}`, async () => {
      const { child, out, exited } = start({ HARKARA_PORT: '0', ...env });
      await eventually(() => /"msg":"listening"/.exec(out()), 'it listens', START_MS);
      child.kill('SIGTERM');
      await exited;

      expect(out().includes('"msg":"sign_in_without_tls"')).to.equal(warns);
    });
  }

  it('tells in the log, at /readyz and in its report that a proxy counts as every caller', async () => {
    const { child, out, exited } = start({ HARKARA_PORT: '0' });
    const port = await eventually(() => /"port":(\d+),"msg":"listening"/.exec(out())?.[1], 'it listens', START_MS);
    const ask = (path: string) => request(`http://127.0.0.1:${port}`).get(path);

    expect((await ask('/readyz')).body).to.deep.equal({ status: 'ready' });
    for (let n = 0; n < 2; n++) await ask('/v2/balance').set('X-Forwarded-For', '203.0.113.9');
    child.kill('SIGTERM');
    await exited;

    expect(out().split('"msg":"forwarded_for_ignored"')).to.have.length(2);
    expect(out()).to.include('"what_to_do":"If 127.0.0.1 is your proxy, set HARKARA_TRUST_PROXY=127.0.0.1."');
    const reports = store.db.collection<ProcessDocument>('processes');
    expect(await reports.findOne({ 'notes.ignoredProxy': '127.0.0.1' })).to.include({ app: 'gateway' });
  });

  it('ends with 1 and one sentence when its port is busy', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;

    const { err, exited } = start({ HARKARA_PORT: String(port) });

    expect(await exited).to.deep.equal([1, null]);
    expect(err()).to.equal(
      `127.0.0.1:${port} is in use by another program. Stop it, or set HARKARA_PORT to another port.\n`,
    );
    holder.close();
  });

  it('ends with 1 and one sentence when the secret key of the store is lost', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'harkara-'));
    await store.db.collection<{ _id: string }>('carriers').insertOne({ _id: 'acme' });

    const { err, exited } = start({ HARKARA_PORT: '0', HARKARA_DATA_DIR: dataDir });
    const how = await exited;
    await store.db.collection('carriers').deleteMany({});

    expect(how).to.deep.equal([1, null]);
    expect(err()).to.include(`There is no secret key (HARKARA_SECRET_KEY, or ${join(dataDir, 'secret.key')})`);
    expect(readdirSync(dataDir)).to.deep.equal([]);
    rmSync(dataDir, { recursive: true });
  });

  it('ends with 1 and one sentence for each bad setting', async () => {
    const { err, exited } = start({ HARKARA_PORT: 'http', HARKARA_MESSAGE_MAX_SEGMENTS: '256' });

    expect(await exited).to.deep.equal([1, null]);
    expect(err()).to.equal(
      'HARKARA_PORT must be a whole number from 0 to 65535, not "http".\nHARKARA_MESSAGE_MAX_SEGMENTS must be a whole number from 1 to 255, not "256".\n',
    );
  });
});
