import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readSecret } from '../../../scripts/ops/read-secret.ts';

describe('a secret that ops wants', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-secret-'));
    process.env.HARKARA_ENV_FILE = join(folder, '.env');
    writeFileSync(join(folder, '.env'), 'CHATAPP_TOKEN=of-the-file\n', { mode: 0o600 });
  });
  afterEach(() => {
    delete process.env.CHATAPP_TOKEN;
  });
  after(() => {
    process.env.HARKARA_ENV_FILE = ''; // As root-hooks.ts set it.
    rmSync(folder, { recursive: true });
  });

  it('may stand in .env, like every setting', async () => {
    expect(await readSecret('CHATAPP_TOKEN', false)).to.equal('of-the-file');
  });

  it('is that of the environment first', async () => {
    process.env.CHATAPP_TOKEN = 'of-the-shell';

    expect(await readSecret('CHATAPP_TOKEN', false)).to.equal('of-the-shell');
  });
});
