import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoServerError } from 'mongodb';
import { readSecret } from '../../../scripts/ops/input.ts';
import { runOps } from '../../../scripts/ops/run.ts';
import type { AskedSecret } from '../../../shared/platform/config/environment.ts';

describe('npm run ops, when a command fails', () => {
  it('says that the disk is full in one sentence, without a stack trace', async () => {
    const full = new MongoServerError({ message: 'the disk is full. Make room.', code: 14_031 });

    expect(await failing(full)).to.deep.equal({
      code: 1,
      err: 'The store cannot write: the disk is full. Make room.',
    });
  });

  it('shows where an error of this program was thrown', async () => {
    const { code, err } = await failing(new Error('a bug'));

    expect(code).to.equal(1);
    expect(err).to.match(/^Error: a bug\n +at /);
  });
});

async function failing(error: Error): Promise<{ readonly code: number; readonly err: string }> {
  let err = '';
  const terminal = { out: () => {}, err: (text: string) => (err += text) };
  const code = await runOps(['account', 'list'], terminal, () => {
    throw error;
  });
  return { code, err };
}

describe('a secret that ops wants', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-secret-'));
    process.env.HARKARA_ENV_FILE = join(folder, '.env');
    writeFileSync(join(folder, '.env'), 'HARKARA_CHATAPP_TOKEN=of-the-file\n', { mode: 0o600 });
  });
  afterEach(() => {
    delete process.env.HARKARA_CHATAPP_TOKEN;
  });
  after(() => {
    process.env.HARKARA_ENV_FILE = ''; // As root-hooks.ts sets it.
    rmSync(folder, { recursive: true });
  });

  it('may stand in .env, like every setting', async () => {
    expect(await readSecret('HARKARA_CHATAPP_TOKEN', false)).to.equal('of-the-file');
  });

  it('is asked for on a terminal; elsewhere the sentence names the option and the variable', async () => {
    const { isTTY } = process.stdin;
    process.stdin.isTTY = false;
    const refusal = (variable: AskedSecret) => readSecret(variable, false).catch(String);
    const [password, address] = [await refusal('HARKARA_SMPP_PASSWORD'), await refusal('HARKARA_STORE_URI')];
    process.stdin.isTTY = isTTY;

    expect(password).to.include('Give the password on stdin with --password-stdin, or in HARKARA_SMPP_PASSWORD');
    expect(address).to.include("Give the other store's address on stdin with --uri-stdin, or in HARKARA_STORE_URI");
  });

  it('is that of the environment first', async () => {
    process.env.HARKARA_CHATAPP_TOKEN = 'of-the-shell';

    expect(await readSecret('HARKARA_CHATAPP_TOKEN', false)).to.equal('of-the-shell');
  });
});
