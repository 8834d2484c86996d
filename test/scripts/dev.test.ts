import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePm2Line } from '../../scripts/dev/pm2.ts';
import { appPids, notePart, readPart, runFiles, takeRun } from '../../scripts/dev/run.ts';
import { freePort } from '../../scripts/dev/settings.ts';
import { awaitReady, endReason, followLines } from '../../scripts/dev/watch.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { type ProcessIdentity, thisProcess } from '../../shared/platform/runtime/process-identity.ts';
import type { DirectoryLock } from '../../shared/platform/runtime/unix-socket.ts';
import { eventually } from '../support/eventually.ts';
import { errorOf } from '../workers/embedded-db/store-under-test.ts';

describe('npm start that is not ready in time', () => {
  let server: Server;
  let url: string;
  let readyz: number;

  before(async () => {
    server = createHttpServer((request, response) => {
      response.statusCode = request.url === '/readyz' ? readyz : 200;
      response.end('{"sessions":[]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => server.close());

  for (const [status, app] of [
    [503, 'gateway'],
    [200, 'smpp'],
  ] as const) {
    it(`names the log of ${app}`, async () => {
      readyz = status;
      const error = await awaitReady(url, url, '/data/logs', 1).catch(String);

      expect(error).to.match(/Not ready after 0 s: .+\. Its log: /);
      expect(error).to.include(`/data/logs/${app}-out.log`);
    });
  }
});

describe('the lock of npm start', () => {
  let runDir: string;
  const locks: DirectoryLock[] = [];
  const hold = (lock: DirectoryLock): number => locks.push(lock);
  /** A lock whose holder's socket is gone: only its name is left. */
  const named = (holder: ProcessIdentity): void => writeFileSync(join(runDir, 'starter'), JSON.stringify(holder));
  beforeEach(() => {
    runDir = mkdtempSync(join(tmpdir(), 'harkara-run-'));
  });
  afterEach(async () => {
    for (const lock of locks.splice(0)) await lock.release();
    rmSync(runDir, { recursive: true, force: true });
  });

  it('is had once while its holder lives', async () => {
    hold(await takeRun(runDir, 'data'));

    expect((await errorOf(takeRun(runDir, 'data'))).message).to.include(
      `npm start runs already on data (process ${process.pid})`,
    );
  });

  it('is free again when it was left', async () => {
    await (await takeRun(runDir, 'data')).release();

    expect(readdirSync(runDir)).to.deep.equal([]);
    hold(await takeRun(runDir, 'data'));
  });

  it('is taken from a holder that was killed', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    named({ ...thisProcess(), pid: dead });

    hold(await takeRun(runDir, 'data'));

    expect(JSON.parse(readFileSync(join(runDir, 'starter'), 'utf8')).pid).to.equal(process.pid);
  });

  it('is taken from a holder whose pid is another program by now', async () => {
    named({ ...thisProcess(), startedAt: '1' });

    hold(await takeRun(runDir, 'data'));
  });

  it('is not taken from a living holder whose socket was removed', async () => {
    named(thisProcess());

    expect((await errorOf(takeRun(runDir, 'data'))).message).to.include(`(process ${process.pid})`);
  });

  it('is taken from a holder from before the machine was started again', async () => {
    const { machine, ...me } = thisProcess();
    named({ ...me, machine: machine.replace(/@.*/, '@earlier') });

    hold(await takeRun(runDir, 'data'));
  });

  it('knows no part that was never noted', () => {
    expect(readPart(runDir, 'pm2')).to.equal(undefined);

    notePart(runDir, 'pm2', process.pid);

    expect(readPart(runDir, 'pm2')?.pid).to.equal(process.pid);
  });
});

describe("npm start's files", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'harkara-files-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('are below the data directory', () => {
    expect(runFiles(dir).pm2Home).to.equal(join(dir, 'pm2'));
    expect(lstatSync(join(dir, 'run')).mode & 0o777).to.equal(0o700);
  });

  it('are refused when the short path for PM2 leads to where somebody else wants it', () => {
    const long = join(dir, 'x'.repeat(100));
    const { pm2Home } = runFiles(long);
    expect(pm2Home).to.match(/harkara-pm2-[0-9a-f]{16}$/);
    expect(existsSync(pm2Home)).to.equal(false);
    mkdirSync(join(dir, 'theirs'));
    symlinkSync(join(dir, 'theirs'), pm2Home);

    try {
      expect(() => runFiles(long)).to.throw(StartError, `${pm2Home} is not this user's directory`);
    } finally {
      rmSync(pm2Home);
    }

    mkdirSync(pm2Home);
    chmodSync(pm2Home, 0o700);
    expect(runFiles(long).pm2Home).to.equal(pm2Home);
    rmSync(pm2Home, { recursive: true });
  });
});

describe('the ports of npm start', () => {
  let taken: Server;
  let port: number;
  before(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  after(() => new Promise((resolve) => taken.close(resolve)));

  it('a busy one is told in one sentence that names the setting', async () => {
    const error: unknown = await freePort('127.0.0.1', port, 'HARKARA_PORT').catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(StartError);
    expect(error).to.have.property(
      'message',
      `Port ${port} is taken by another program: choose a free one, HARKARA_PORT=${port + 1} npm start.`,
    );
  });

  it('an address that this machine does not have is told too', async () => {
    const error: unknown = await freePort('192.0.2.1', 0, 'HARKARA_PORT').catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(StartError).and.to.have.property('message').that.includes('192.0.2.1');
  });

  it('0 becomes one that is free', async () => {
    const found = await freePort('127.0.0.1', 0, 'HARKARA_PORT');

    expect(found).to.be.greaterThan(0);
    expect(await freePort('127.0.0.1', found, 'HARKARA_PORT')).to.equal(found);
  });
});

describe('the processes that PM2 started', () => {
  let home: string;
  let app: ChildProcess;
  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'harkara-pids-'));
    mkdirSync(join(home, 'pids'));
    app = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'main.js']);
    await once(app, 'spawn');
  });
  after(() => {
    app.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });

  it('are found although PM2 begins to write one file and removes another', async () => {
    writeFileSync(join(home, 'pids', 'gateway-0.pid'), String(app.pid));
    writeFileSync(join(home, 'pids', 'smpp-1.pid'), '');
    symlinkSync(join(home, 'gone'), join(home, 'pids', 'webhooks-2.pid')); // listed, but unreadable

    await eventually(() => appPids(home).length > 0, 'the program has begun');

    expect(appPids(home)).to.deep.equal([app.pid]);
  });
});

describe('following a file', () => {
  let folder: string;
  let stop: (() => void) | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-follow-'));
  });
  afterEach(() => {
    stop?.();
    rmSync(folder, { recursive: true, force: true });
  });

  it('passes on each line that comes, whole, and none from before', async () => {
    const file = join(folder, 'out.log');
    const seen: string[] = [];
    writeFileSync(file, 'old\n');
    stop = followLines(file, (line) => seen.push(line));

    appendFileSync(file, Buffer.from('नमस्ते one\ntw', 'utf8'));
    await eventually(() => seen.length === 1, 'the first line');
    appendFileSync(file, 'o\nthree\n');
    await eventually(() => seen.length === 3, 'the others');

    expect(seen).to.deep.equal(['नमस्ते one', 'two', 'three']);
  });

  it('waits for a file that is not there yet', async () => {
    const file = join(folder, 'later.log');
    const seen: string[] = [];
    stop = followLines(file, (line) => seen.push(line));

    writeFileSync(file, 'first\n');

    await eventually(() => seen[0] === 'first', 'its line');
  });
});

describe("PM2's lines", () => {
  const cases: readonly [line: string, news: ReturnType<typeof parsePm2Line>][] = [
    ['2026-11-21T16:50:17: PM2 log: App [embedded-db:0] online', { kind: 'online', app: 'embedded-db' }],
    [
      '2026-11-21T16:50:17: PM2 log: App [gateway:12] exited with code [1] via signal [SIGINT]',
      { kind: 'ended', app: 'gateway', code: 1, signal: 'SIGINT' },
    ],
    ['2026-11-21T16:50:17: PM2 log: App [gateway:2] starting in -cluster mode-', undefined],
    ['{"level":30,"msg":"App [gateway:2] online"}', undefined],
  ];
  for (const [line, news] of cases) {
    it(`${news?.kind ?? 'nothing'}: ${line}`, () => {
      expect(parsePm2Line(line)).to.deep.equal(news);
    });
  }
});

describe('why a process did not start', () => {
  let logs: string;
  beforeEach(() => {
    logs = mkdtempSync(join(tmpdir(), 'harkara-logs-'));
  });
  afterEach(() => rmSync(logs, { recursive: true, force: true }));

  it('is the error that ended it, not what failed before and after', () => {
    writeFileSync(
      join(logs, 'smpp-out.log'),
      '{"msg":"a","error":"first"}\n{"msg":"start_failed","error":"HARKARA_PORT must be text."}\n{"msg":"stop_failed","error":"late"}\n',
    );

    expect(endReason(logs, 'smpp')).to.equal(
      `smpp did not start: HARKARA_PORT must be text.\nIts log: ${join(logs, 'smpp-out.log')}`,
    );
  });

  it('is the last error, when nothing is said to have ended it', () => {
    writeFileSync(join(logs, 'smpp-out.log'), '{"msg":"a","error":"first"}\n{"msg":"b","error":"second"}\n');

    expect(endReason(logs, 'smpp')).to.include('smpp did not start: second');
  });

  it('is what it wrote to stderr, when its log says nothing', () => {
    writeFileSync(join(logs, 'simulator-out.log'), 'SMSC on 127.0.0.1:2775\n');
    writeFileSync(join(logs, 'simulator-error.log'), '\nlisten EADDRINUSE\n    at stack\n');

    expect(endReason(logs, 'simulator')).to.include('simulator did not start: listen EADDRINUSE\n');
  });

  it('says at least where to look', () => {
    expect(endReason(logs, 'webhooks')).to.equal(`webhooks did not start\nIts log: ${join(logs, 'webhooks-out.log')}`);
  });
});
