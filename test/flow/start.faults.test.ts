import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { usualGateways } from '../../shared/platform/processes/apps.ts';
import { isGone } from '../../shared/platform/runtime/process-identity.ts';
import { embeddedStoreDir } from '../../shared/platform/runtime/unix-socket.ts';
import { startEmbeddedStore } from '../../workers/embedded-db/server.ts';
import { curlLines, doCurlLine } from '../support/curl-line.ts';
import { eventually } from '../support/eventually.ts';
import { NpmStart, START_MS, STOP_MS } from '../support/npm-start.ts';

describe('npm start', function () {
  this.timeout(START_MS + STOP_MS);
  let folder: string;
  const runs: NpmStart[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-start-'));
  });
  afterEach(async () => {
    for (const run of runs.splice(0)) await run.end();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(env?: Record<string, string>): Promise<NpmStart> {
    const run = await NpmStart.begin(folder, env);
    runs.push(run);
    return run;
  }

  it('prints a curl line that works: the message is delivered and its signed webhook shown; Ctrl-C leaves nothing', async () => {
    const run = await (await start()).ready();
    const sent = await doCurl(run.out, '/v2/send');
    expect(sent).to.include({ status: 'success', to: '919876543210', status_code: '1000', credits_used: 1 });
    const id = String(sent.message_id);

    let status: Readonly<Record<string, unknown>> = {};
    await eventually(async () => {
      status = await doCurl(run.out, '/v2/status/', id);
      return status.status === 'delivered';
    }, 'delivered');
    expect(status).to.include({ message_id: id, operator: 'Simulator' });
    expect(status.delivered_at).to.be.a('string');
    const webhook = new RegExp(`webhook message\\.delivered ${id} · signature valid · answered 200`);
    await eventually(() => webhook.test(run.out), 'its webhook on the terminal');

    const second = await start();
    expect(await second.exited).to.equal(1);
    expect(second.out).to.match(
      /npm start runs already on .+ \(process \d+\): stop it with Ctrl-C, or set HARKARA_DATA_DIR/,
    );

    expect(openFiles(run.dataDir)).to.deep.equal([]);
    const processes = run.processes();
    // npm, starter, guard, PM2, the store, 4 workers, the simulator, and the gateways
    expect(processes).to.have.length(10 + usualGateways(availableParallelism()));
    run.ctrlC();
    expect(await run.exited).to.equal(0);
    await eventually(() => processes.every((one) => isGone(one)), 'no process of it', STOP_MS);
  });

  /** Files and directories open to other users. PM2's sockets are open, but their directory is closed. */
  function openFiles(dir: string): string[] {
    const all = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => !name.endsWith('.sock'));
    return all.filter((name) => ((statSync(join(dir, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
  }

  /** 0 while the app has no process. */
  function appPid({ dataDir }: NpmStart, app: string): number {
    const pids = join(dataDir, 'pm2', 'pids');
    const file = readdirSync(pids).find((name) => name.startsWith(app));
    return file === undefined ? 0 : Number(readFileSync(join(pids, file), 'utf8'));
  }

  /** Each test continues from the one before, because a start takes fourteen processes. */
  describe('one after the other in one folder', () => {
    let home: string;
    let run: NpmStart;
    const started: NpmStart[] = [];
    async function another(): Promise<NpmStart> {
      const one = await NpmStart.begin(home);
      started.push(one);
      return one.ready();
    }
    before(async () => {
      home = mkdtempSync(join(tmpdir(), 'harkara-start-'));
      run = await another();
    });
    after(async () => {
      for (const one of started) await one.end();
      rmSync(home, { recursive: true, force: true });
    });

    it('brings back what is killed, within seconds, and says so', async () => {
      for (const app of ['embedded-db', 'smpp', 'simulator']) {
        const killed = appPid(run, app);
        process.kill(killed, 'SIGKILL');
        await eventually(() => ![0, killed].includes(appPid(run, app)), `another ${app}`);
        await eventually(() => run.out.includes(`${app} ended (SIGKILL); PM2 starts it again.`), 'the news');
      }

      let id = '';
      await eventually(async () => {
        id = String((await doCurl(run.out, '/v2/send')).message_id ?? '');
        return id !== '';
      }, 'the store to be back');
      const webhook = new RegExp(`webhook message\\.delivered ${id} · signature valid`);
      await eventually(() => webhook.test(run.out), 'its webhook, with a secret that the new simulator knows');
    });

    it('killed, it leaves nothing either; the next start goes on with the same account and key', async () => {
      const killed = run;
      const processes = killed.processes();
      for (const pid of [processes[0]?.pid, killed.npm.pid]) process.kill(pid ?? 0, 'SIGKILL');

      run = await another();

      expect(processes.filter((one) => !isGone(one))).to.deep.equal([]);
      expect(accountOf(run.out)).to.equal(accountOf(killed.out));
      const keyOf = (out: string) => /KEY=(hk_live_\S+)/.exec(out)?.[1];
      expect(keyOf(run.out)).to.be.a('string').and.equal(keyOf(killed.out));
    });

    it('a second Ctrl-C does not wait for a process that hangs', async () => {
      const processes = run.processes();
      process.kill(appPid(run, 'smpp'), 'SIGSTOP');

      run.ctrlC();
      await eventually(() => run.out.includes('Stopping …'), 'the first to be heard');
      // Repeated, because a Ctrl-C within a second of the first counts as the same one.
      await eventually(() => {
        run.ctrlC();
        return processes.every((one) => isGone(one));
      }, 'no process of it, long before the 20 s that PM2 would wait');
    });
  });

  it('a process that does not start ends it all, with the reason and the log', async () => {
    const run = await start({ HARKARA_SIMULATOR_ALPHABET: 'nonsense' });

    expect(await run.exited).to.equal(1);
    expect(run.out).to.include('simulator did not start: --alphabet must be one of');
    expect(run.out).to.include(join(folder, 'logs', 'simulator-'));
    expect(readdirSync(join(folder, 'run'))).to.deep.equal([]);
  });

  it('a store that lost its log does not start, and says what is missing', async () => {
    const dir = embeddedStoreDir(folder);
    const store = await startEmbeddedStore({ dir, durability: 'none' });
    const client = new MongoClient(store.uri);
    await client.db('x').collection('c').insertOne({});
    await client.close();
    await store.close();
    rmSync(join(dir, 'data.log'));

    const run = await start();

    expect(await run.exited).to.equal(1);
    expect(run.out).to.match(
      /embedded-db did not start: \S+data\.log is missing: it belongs to the data\.mdb beside it/,
    );
  });

  describe('says in one sentence', () => {
    let other: Server;
    let port: string;
    before(async () => {
      // Not MongoDB: it answers the first bytes with an error and hangs up.
      other = createServer((socket) =>
        socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      );
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const address = other.address();
      port = String(typeof address === 'object' && address !== null ? address.port : 0);
    });
    after(() => new Promise((resolve) => other.close(resolve)));

    const cases: readonly [what: string, env: () => Record<string, string>, says: () => string][] = [
      ['that a port is busy', () => ({ HARKARA_PORT: port }), () => `Port ${port} is taken by another program`],
      [
        'that the SMPP port is busy',
        () => ({ HARKARA_SIMULATOR_SMSC_PORT: port }),
        () => `Port ${port} is taken by another program: choose a free one, HARKARA_SIMULATOR_SMSC_PORT=`,
      ],
      [
        'that HARKARA_MONGODB_URI is not MongoDB',
        () => ({ HARKARA_MONGODB_URI: `mongodb://127.0.0.1:${port}/` }),
        () => 'HARKARA_MONGODB_URI does not answer as MongoDB',
      ],
      [
        'that HARKARA_MONGODB_URI is no address',
        () => ({ HARKARA_MONGODB_URI: 'localhost' }),
        () => 'HARKARA_MONGODB_URI is not a MongoDB address',
      ],
      [
        'that a setting is wrong whose form only its processes know',
        () => ({ HARKARA_WEBHOOK_ALLOW_SUBNETS: 'nonsense' }),
        () => 'HARKARA_WEBHOOK_ALLOW_SUBNETS: "nonsense" is not a subnet',
      ],
      [
        'that a setting is wrong',
        () => ({ HARKARA_LOG_LEVEL: 'loud' }),
        () => 'HARKARA_LOG_LEVEL must be debug | info | warn | error | silent',
      ],
    ];
    for (const [what, env, says] of cases) {
      it(what, async () => {
        const run = await start(env());

        expect(await run.exited).to.equal(1);
        const said = run.out.split('\n').filter((line) => line !== '' && !/^(>|npm |Building)/.test(line));
        expect(said, run.out).to.have.length(1);
        expect(said[0]).to.include(says());
      });
    }
  });
});

function accountOf(out: string): string | undefined {
  return /acc_\w+/.exec(out)?.[0];
}

/** The answer to the first printed curl line of a path, with `id` in place of `MESSAGE_ID`. */
async function doCurl(out: string, path: string, id = ''): Promise<Readonly<Record<string, unknown>>> {
  const [line = ''] = curlLines(out, path);
  return (await doCurlLine(line.replace('MESSAGE_ID', id))).body;
}
