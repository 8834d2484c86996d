import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisProcess } from '../../../../shared/platform/runtime/process-identity.ts';
import { type DirectoryLock, takeDirectory } from '../../../../shared/platform/runtime/unix-socket.ts';

/** Tries to take the directory, reports the outcome, and runs until it is killed. */
const HOLDER = `
import { takeDirectory } from './shared/platform/runtime/unix-socket.ts';
const { kind } = await takeDirectory(process.argv[1], 'x.lock');
process.send(kind);
setInterval(() => {}, 1000);
`;

describe('takeDirectory', () => {
  let dir: string;
  const locks: DirectoryLock[] = [];
  const children: ChildProcess[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'harkara-lock-'));
  });
  afterEach(async () => {
    for (const lock of locks.splice(0)) await lock.release();
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  async function take(): Promise<'taken' | 'held'> {
    const taking = await takeDirectory(dir, 'x.lock');
    if (taking.kind === 'taken') locks.push(taking.lock);
    return taking.kind;
  }

  async function holder(): Promise<{ child: ChildProcess; kind: unknown }> {
    const args = ['--import', 'tsx', '--input-type=module', '-e', HOLDER, dir];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    children.push(child);
    return { child, kind: await new Promise((resolve) => child.once('message', resolve)) };
  }

  async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exit;
  }

  it('gives it to one, and to the next when that one has left', async () => {
    expect(await take()).to.equal('taken');
    expect(await take()).to.equal('held');

    await locks.shift()?.release();

    expect(readdirSync(dir)).to.deep.equal([]);
    expect(await take()).to.equal('taken');
  });

  it('tells who has it', async () => {
    await take();

    const taking = await takeDirectory(dir, 'x.lock');

    expect(taking).to.deep.equal({ kind: 'held', by: thisProcess() });
  });

  it('is free again when its holder was killed, and what that left is removed', async () => {
    const { child, kind } = await holder();
    expect(kind).to.equal('taken');
    expect(await take()).to.equal('held');

    await ended(child, 'SIGKILL');

    expect(await take()).to.equal('taken');
    expect(readdirSync(dir)).to.have.lengthOf(2);
    expect(JSON.parse(readFileSync(join(dir, 'x.lock'), 'utf8'))).to.include({ pid: process.pid });
  });

  it('is held by a process that does not run at the moment', async () => {
    const { child } = await holder();
    child.kill('SIGSTOP');

    expect(await take()).to.equal('held');
  });

  it('gives it to one of many processes that come at the same moment over what a killed one left', async () => {
    const { child } = await holder();
    await ended(child, 'SIGKILL');

    const kinds = await Promise.all(Array.from({ length: 4 }, async () => (await holder()).kind));

    expect(kinds.filter((kind) => kind === 'taken')).to.have.lengthOf(1);
  });

  it('does not rest on what the file says, but for a process that is seen and one of another machine', async () => {
    const { machine, ...me } = thisProcess();
    const cases: readonly [machine: string, startedAt: string, kind: 'taken' | 'held'][] = [
      [machine, me.startedAt, 'held'], // running, with a version that had no socket yet
      [machine, '1', 'taken'],
      [machine.replace(/#.*/, '#1'), me.startedAt, 'taken'],
      [machine.replace(/^[^@]*/, 'renamed').replace(/#.*/, '#1'), me.startedAt, 'taken'], // a recreated container
      [machine.replace(/@[^#]*/, '@earlier'), me.startedAt, 'taken'],
      ['elsewhere@other#1', me.startedAt, 'held'],
    ];
    for (const [of, startedAt, kind] of cases) {
      writeFileSync(join(dir, 'x.lock'), JSON.stringify({ machine: of, pid: me.pid, startedAt }));

      expect(await take(), of).to.equal(kind);
      for (const lock of locks.splice(0)) await lock.release();
    }
  });
});
