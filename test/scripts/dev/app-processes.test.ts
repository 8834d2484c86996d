import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { appPids } from '../../../scripts/dev/app-processes.ts';
import { eventually } from '../../support/eventually.ts';

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
    symlinkSync(join(home, 'gone'), join(home, 'pids', 'webhooks-2.pid')); // listed, and cannot be read

    await eventually(() => appPids(home).length > 0, 'the program has begun');

    expect(appPids(home)).to.deep.equal([app.pid]);
  });
});
