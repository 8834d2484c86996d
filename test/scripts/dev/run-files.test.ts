import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runFiles } from '../../../scripts/dev/run-files.ts';
import { StartError } from '../../../shared/platform/runtime/lifecycle.ts';

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
