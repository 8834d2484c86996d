import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { forgetPart, notePart, readPart, takeRun } from '../../../scripts/dev/run-lock.ts';
import { StartError } from '../../../shared/runtime/lifecycle.ts';
import { identityText, thisProcess } from '../../../shared/runtime/process-identity.ts';

describe('the lock of npm start', () => {
  let runDir: string;
  beforeEach(() => {
    runDir = mkdtempSync(join(tmpdir(), 'harkara-run-'));
  });
  afterEach(() => rmSync(runDir, { recursive: true, force: true }));

  it('is had once while its holder lives', () => {
    takeRun(runDir, 'data');

    expect(() => takeRun(runDir, 'data')).to.throw(
      StartError,
      `npm start runs already on data (process ${process.pid})`,
    );
  });

  it('is free again when it was left', () => {
    takeRun(runDir, 'data');

    forgetPart(runDir, 'starter');

    expect(() => takeRun(runDir, 'data')).not.to.throw();
  });

  it('is taken from a holder that was killed', () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    writeFileSync(join(runDir, 'starter'), identityText({ ...thisProcess(), pid: dead }));

    takeRun(runDir, 'data');

    expect(readPart(runDir, 'starter')?.pid).to.equal(process.pid);
  });

  it('is taken from a holder whose pid is another program by now', () => {
    writeFileSync(join(runDir, 'starter'), identityText({ ...thisProcess(), startedAt: '1' }));

    expect(() => takeRun(runDir, 'data')).not.to.throw();
  });

  it('is taken from a holder from before the machine was started again', () => {
    const { machine, ...me } = thisProcess();
    writeFileSync(join(runDir, 'starter'), identityText({ ...me, machine: machine.replace(/@.*/, '@earlier') }));

    expect(() => takeRun(runDir, 'data')).not.to.throw();
  });

  it('knows no part that was never noted', () => {
    expect(readPart(runDir, 'pm2')).to.equal(undefined);

    notePart(runDir, 'pm2', process.pid);

    expect(readPart(runDir, 'pm2')?.pid).to.equal(process.pid);
  });
});
