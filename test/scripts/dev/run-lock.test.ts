import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { notePart, readPart, takeRun } from '../../../scripts/dev/run-lock.ts';
import type { DirectoryLock } from '../../../shared/platform/runtime/directory-lock.ts';
import { type ProcessIdentity, thisProcess } from '../../../shared/platform/runtime/process-identity.ts';
import { errorOf } from '../../workers/embedded-db/store-under-test.ts';

describe('the lock of npm start', () => {
  let runDir: string;
  const locks: DirectoryLock[] = [];
  const hold = (lock: DirectoryLock): number => locks.push(lock);
  /** What a holder leaves when its socket is gone: its name. */
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
