import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { createSecretBox, loadSecretKeys } from '../../../shared/platform/runtime/secret-box.ts';
import { builtProgram } from '../../support/built.ts';
import { OpsWorld, type Ran } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

describe('npm run ops: the ledger, and as a program', () => {
  const world = use(() => OpsWorld.open());

  describe('ledger', () => {
    it('that is whole verifies; one that was tampered with makes the exit code 1', async () => {
      const account = await world.newAccount();
      await world.run(`credits top-up ${account} 500`);

      expect(await world.run(`ledger verify --account ${account}`)).to.include({ code: 0 });
      await world.store.db.collection('ledger').updateOne({ account }, { $set: { amount: 400 } });
      const broken = await world.run('ledger verify');

      expect(broken.code).to.equal(1);
      expect(broken.out).to.include('ledgers ARE BROKEN').and.to.include('seq 1: 0 + 400 is not 500');
    });
  });

  describe('as a program', () => {
    it('answers on stdout, says what is wrong on stderr, and tells by its exit code', async () => {
      const listed = await program(['account', 'list', '--json'], world.env);
      const typo = await program(['acount', 'list'], world.env);

      expect(listed).to.include({ code: 0, err: '' });
      expect(JSON.parse(listed.out)).to.be.an('array');
      expect(typo).to.include({ code: 2, out: '' });
      expect(typo.err).to.include("unknown command 'acount'\n(Did you mean account?)");
    });

    it('takes a password from stdin', async () => {
      const words = [
        'carrier',
        'create',
        'stdin',
        '--host',
        'h',
        '--port',
        '1',
        '--system-id',
        'us',
        '--password-stdin',
      ];

      expect(await bundledProgram(words, world.env, 'from-stdin\n')).to.include({ code: 0 });

      const stored = await world.store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'stdin' });
      expect(
        createSecretBox(loadSecretKeys('', world.dir)).open(stored?.password ?? '', [
          'carriers',
          stored?._id ?? '',
          'password',
        ]),
      ).to.equal('from-stdin');
    });

    it('without a store says in one sentence what to do', async () => {
      const { code, err } = await bundledProgram(['account', 'list'], {
        HARKARA_MONGODB_URI: '',
        HARKARA_DATA_DIR: world.dir,
      });

      expect(code).to.equal(1);
      expect(err).to.equal(
        `No embedded store is running in ${world.dir}: start the product first (npm start, or PM2), or set HARKARA_MONGODB_URI. If the store ends again, its log says why.\n`,
      );
    });
  });
});

/** As `npm run ops` starts it. */
function program(words: readonly string[], env: Record<string, string>): Promise<Ran> {
  return ran(['--import', 'tsx', 'scripts/ops/main.ts', ...words], env);
}

async function bundledProgram(words: readonly string[], env: Record<string, string>, stdin = ''): Promise<Ran> {
  return ran([await builtProgram('ops'), ...words], env, stdin);
}

function ran(args: readonly string[], env: Record<string, string>, stdin = ''): Promise<Ran> {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk;
  });
  child.stdin.end(stdin);
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? -1, ...said }));
  });
}
