import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../../support/sources.ts';

describe('the client of the dashboard', () => {
  it('is sound by its types', () => {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', join(ROOT, 'gateway/dashboard/client')]);

    expect(String(stdout)).to.equal('');
  });
});
