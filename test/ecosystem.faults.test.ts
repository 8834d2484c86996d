import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIfNeeded } from '../scripts/dev/build.ts';
import { nodeAdvice, nodeFlags, usualGateways } from '../shared/platform/processes/apps.ts';
import { DAMAGED_EXIT_CODE } from '../shared/platform/runtime/lifecycle.ts';
import { eventually } from './support/eventually.ts';

const ROOT = join(import.meta.dirname, '..');
const ADVICE = nodeAdvice(process.versions.node);

interface Shown {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Prints the file's apps, read as PM2 does (`require`). The advice about Node has its own test. */
function read(folder: string, env: Record<string, string>): Shown & { readonly advised: number } {
  const script = `console.log(JSON.stringify(require(${JSON.stringify(join(folder, 'ecosystem.config.js'))}).apps))`;
  // The file stores its environment's secrets here for the processes.
  const dataDir = mkdtempSync(join(tmpdir(), 'harkara-ecosystem-data-'));
  const own = {
    HARKARA_MONGODB_URI: '',
    HARKARA_SIMULATOR: '',
    HARKARA_GATEWAY_INSTANCES: '',
    HARKARA_DATA_DIR: dataDir,
    PM2_HOME: dataDir,
    ...env,
  };
  try {
    const run = { cwd: folder, env: { ...process.env, ...own }, encoding: 'utf8' } as const;
    const { stderr, ...said } = spawnSync(process.execPath, ['--no-warnings', '-e', script], run);
    return { ...said, stderr: stderr.replace(`${ADVICE}\n`, ''), advised: stderr.split(`${ADVICE}\n`).length - 1 };
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

function apps(env: Record<string, string> = {}): readonly Readonly<Record<string, unknown>>[] {
  const { status, stdout, stderr } = read(ROOT, env);
  expect(stderr).to.equal('');
  expect(status).to.equal(0);
  return JSON.parse(stdout);
}

describe('ecosystem.config.js', () => {
  before(() => buildIfNeeded(ROOT, new AbortController().signal, () => {}));

  const names = (env?: Record<string, string>) => apps(env).map((app) => app.name);

  it('starts the store first, and no simulator', () => {
    const workers = ['smpp', 'webhooks', 'chatapp', 'background'];
    expect(names()).to.deep.equal(['embedded-db', 'gateway', ...workers]);
  });

  it('leaves a store stopped that found damage, and gives up nothing else', () => {
    const given = apps().map(({ name, stop_exit_codes: codes }) => [name, codes]);

    expect(given.filter(([, codes]) => codes !== undefined)).to.deep.equal([['embedded-db', [DAMAGED_EXIT_CODE]]]);
  });

  it('starts no store of its own when HARKARA_MONGODB_URI names one', () => {
    expect(names({ HARKARA_MONGODB_URI: 'mongodb://127.0.0.1' })).not.to.include('embedded-db');
  });

  it('starts the simulator for those who ask', () => {
    expect(names({ HARKARA_SIMULATOR: 'on' })).to.include('simulator');
  });

  it('runs as many gateways in cluster mode as HARKARA_GATEWAY_INSTANCES says', () => {
    const gateway = apps({ HARKARA_GATEWAY_INSTANCES: '3' }).find((app) => app.name === 'gateway');

    expect(gateway).to.include({ exec_mode: 'cluster', instances: 3 });
  });

  it('runs a gateway for every two cores when nobody says a number', () => {
    const gateway = apps().find((app) => app.name === 'gateway');

    expect(gateway).to.include({ instances: usualGateways(availableParallelism()) });
    expect([1, 2, 3, 4, 8].map(usualGateways)).to.deep.equal([1, 1, 1, 2, 4]);
  });

  it('starts every process with the options of Node that the benchmark measures', () => {
    for (const app of apps({ HARKARA_SIMULATOR: 'on' })) {
      expect(app.node_args).to.deep.equal(nodeFlags(String(app.name)));
    }
  });

  it('gives a larger young generation to what every message passes, on a machine that has the memory', () => {
    const young = (app: string, gib: number) =>
      nodeFlags(app, gib * 2 ** 30).flatMap((flag) => flag.match(/^--m\w+-semi-space-size=(\d+)$/)?.[1] ?? []);

    for (const app of ['embedded-db', 'gateway', 'smpp', 'webhooks']) {
      const [least, ...most] = [2, 3.7, 7.6, 64].map((gib) => young(app, gib));
      expect(least).to.deep.equal([]);
      expect(most).to.deep.equal([
        ['16', '32'],
        ['16', '64'],
        ['16', '64'],
      ]);
    }
    for (const app of ['chatapp', 'simulator']) expect(young(app, 64)).to.deep.equal([]);
  });

  it('says once which Node runs, unless it is the recommended one or a later one', () => {
    expect(read(ROOT, {}).advised).to.equal(ADVICE === undefined ? 0 : 1);
    expect(nodeAdvice('22.23.3')).to.match(/^Node 22\.23\.3 runs Harkara; .+ with Node 24 /);
    expect(['24.0.0', '24.21.0', '25.1.0'].map(nodeAdvice)).to.deep.equal([undefined, undefined, undefined]);
  });

  it('gives every process longer to stop than it takes at most, and waits for its word that it is ready', () => {
    for (const app of apps()) {
      expect(app).to.include({ wait_ready: true });
      expect(app.kill_timeout).to.be.at.least(20_000);
    }
  });

  describe('with secrets in the environment of its caller', () => {
    /** Variables of other programs. */
    const STRANGE = {
      NPM_TOKEN: 'npm-word',
      AWS_SECRET_ACCESS_KEY: 'cloud-word',
      GREETING: 'greeting-word',
      SECRET_KEY: 'io',
    };
    const SECRETS = {
      HARKARA_SECRET_KEY: 'ab'.repeat(32),
      HARKARA_MONGODB_URI: 'mongodb://user:word-in-uri@127.0.0.1:9/',
      HARKARA_CHATAPP_TOKEN: 'token-in-shell',
      HARKARA_SMPP_PASSWORD: 'password-in-shell',
    };
    let folder: string;
    let pm2: (...words: string[]) => Shown;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'harkara-pm2-'));
      const env = {
        ...{ ...process.env, ...SECRETS, ...STRANGE, HARKARA_DATA_DIR: join(folder, 'data') },
        HARKARA_ENV_FILE: join(folder, '.env'),
        ...{ PM2_HOME: join(folder, 'pm2'), PM2_DISABLE_VERSION_CHECK: 'true', HARKARA_SIMULATOR: 'on' },
        ...{
          HARKARA_SIMULATOR_SMSC_PORT: '0',
          HARKARA_SIMULATOR_CHATAPP_PORT: '0',
          HARKARA_SIMULATOR_WEBHOOK_PORT: '0',
          HARKARA_SIMULATOR_HTTP_CARRIER_PORT: '0',
          HARKARA_SIMULATOR_MAIL_PORT: '0',
        },
      };
      const { HARKARA_SECRET_KEY, HARKARA_MONGODB_URI } = SECRETS; // ops alone uses the others
      const text = `HARKARA_SECRET_KEY=${HARKARA_SECRET_KEY}\nHARKARA_MONGODB_URI=${HARKARA_MONGODB_URI}\n`;
      writeFileSync(join(folder, '.env'), text, { mode: 0o600 });
      const script = join(ROOT, 'node_modules', 'pm2', 'bin', 'pm2');
      pm2 = (...words) => spawnSync(process.execPath, [script, ...words], { cwd: ROOT, env, encoding: 'utf8' });
    });
    after(() => {
      pm2('kill');
      rmSync(folder, { recursive: true, force: true });
    });

    it('keeps them out of all that PM2 shows and saves: those of the product are in .env', () => {
      for (const verb of ['start', 'restart']) pm2(verb, 'ecosystem.config.js', '--only', 'simulator');
      const said = [pm2('save'), pm2('jlist'), pm2('env', '0'), pm2('describe', 'simulator')];

      const shown = [...said.map(({ stdout }) => stdout), readFileSync(join(folder, 'pm2', 'dump.pm2'), 'utf8')];
      expect(shown[1]).to.include('"name":"simulator"');
      for (const text of shown) for (const secret of Object.values(SECRETS)) expect(text).not.to.include(secret);
      for (const text of shown) for (const name of Object.keys(STRANGE)) expect(text).not.to.include(`"${name}"`);
      const [{ pm2_env: kept = {} } = {}] = JSON.parse(shown[1] ?? '[]');
      expect(kept).to.include({ NODE_ENV: 'production', HARKARA_SIMULATOR: 'on' });
    });

    it('refuses one that .env has not, with one sentence', () => {
      writeFileSync(join(folder, '.env'), '', { mode: 0o600 });

      const { status, stderr, stdout } = pm2('start', 'ecosystem.config.js', '--only', 'simulator');

      expect(status).to.equal(1);
      expect(stderr)
        .to.include('HARKARA_MONGODB_URI')
        .and.to.include(`Write it into ${join(folder, '.env')}`);
      for (const secret of Object.values(SECRETS)) expect(stderr + stdout).not.to.include(secret);
    });
  });

  it('hands on each setting of its caller but secrets, unset ones too: a reload forgets none', () => {
    const [app] = apps({ HARKARA_LOG_LEVEL: 'warn' });

    expect(app?.env).to.include({
      NODE_ENV: 'production',
      HARKARA_LOG_LEVEL: 'warn',
      HARKARA_PORT: '',
      HARKARA_MONGODB_URI: '',
    });
  });

  describe('with settings in .env', () => {
    let folder: string;
    let pm2: (...words: string[]) => Shown;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'harkara-pm2-'));
      const { PATH = '' } = process.env;
      const env = { PATH, PM2_HOME: join(folder, 'pm2'), PM2_DISABLE_VERSION_CHECK: 'true' };
      const script = join(ROOT, 'node_modules', 'pm2', 'bin', 'pm2');
      pm2 = (...words) => {
        // After a reboot PM2 has nothing but this in its environment.
        const own = words[0] === 'resurrect' ? {} : { HARKARA_ENV_FILE: join(folder, '.env') };
        return spawnSync(process.execPath, [script, ...words], {
          cwd: ROOT,
          env: { ...env, ...own },
          encoding: 'utf8',
        });
      };
    });
    after(() => {
      pm2('kill');
      rmSync(folder, { recursive: true, force: true });
    });

    const store = (name: string) => join(folder, name, 'store', 'data.mdb');
    const write = (dataDir: string) =>
      writeFileSync(join(folder, '.env'), `HARKARA_DATA_DIR=${join(folder, dataDir)}\n`);

    it('starts after a reboot with those of now, not with those that `pm2 save` met', async () => {
      write('before');
      pm2('start', 'ecosystem.config.js', '--only', 'embedded-db');
      pm2('save');
      expect(existsSync(store('before'))).to.equal(true);

      write('after');
      pm2('kill');
      pm2('resurrect');

      await eventually(() => existsSync(store('after')), 'a store where .env says');
    });
  });

  it('names each directory that other users may look into', () => {
    const folder = mkdtempSync(join(tmpdir(), 'harkara-open-'));
    const [home, data, logs] = ['pm2', 'data', 'logs'].map((name) => join(folder, name)) as [string, string, string]; // three names
    for (const dir of [home, data]) mkdirSync(dir, { mode: 0o755 });
    mkdirSync(logs, { mode: 0o700 });

    const { status, stderr } = read(ROOT, { PM2_HOME: home, PM2_DEFAULT_LOG_PATH: logs, HARKARA_DATA_DIR: data });

    rmSync(folder, { recursive: true });
    expect(status).to.equal(0);
    expect(stderr.split('\n').filter((line) => line !== '')).to.deep.equal(
      [home, data].map((dir) => `${dir} is open to other users (mode 0755): chmod 700 ${dir}`),
    );
  });

  it('says in one sentence which setting is wrong', () => {
    expect(read(ROOT, { HARKARA_GATEWAY_INSTANCES: 'many' })).to.include({
      status: 1,
      stderr: 'HARKARA_GATEWAY_INSTANCES must be a whole number from 0 to 64, not "many".\n',
    });
  });

  it('names what .env has that is no setting, and goes on', () => {
    const folder = mkdtempSync(join(tmpdir(), 'harkara-env-'));
    const file = join(folder, '.env');
    writeFileSync(
      file,
      'HARKARA_LOG_LEVEL=warn\nHARKARA_SMPP_PASSWORD=\nHARKARA_SIMULATOR_ALPHABET=latin1\nMETRIC_PORT=9\n',
    );

    const { status, stderr } = read(ROOT, { HARKARA_ENV_FILE: file });

    rmSync(folder, { recursive: true });
    expect(status).to.equal(0);
    expect(stderr).to.equal(`${file} has METRIC_PORT, which Harkara does not know: .env.example lists all settings.\n`);
  });

  it('refuses what a gateway would refuse at its start, before PM2 ends the old one, and shows no secret', () => {
    const wrong: readonly (readonly [Record<string, string>, string])[] = [
      [{ HARKARA_TRUST_PROXY: 'proxy.example' }, 'HARKARA_TRUST_PROXY must list addresses or subnets'],
      [
        { HARKARA_WEBHOOK_ALLOW_SUBNETS: '10.0.0.0/40' },
        'HARKARA_WEBHOOK_ALLOW_SUBNETS: "10.0.0.0/40" is not a subnet',
      ],
      [{ HARKARA_SECRET_KEY: 'half-of-a-key' }, 'HARKARA_SECRET_KEY must hold 64 hexadecimal digits'],
    ];
    for (const [env, sentence] of wrong) {
      const { status, stderr } = read(ROOT, env);
      expect(status, sentence).to.equal(1);
      expect(stderr).to.include(sentence).and.not.include('half-of-a-key');
    }
  });

  describe('without a build', () => {
    let folder: string;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'harkara-ecosystem-'));
      copyFileSync(join(ROOT, 'ecosystem.config.js'), join(folder, 'ecosystem.config.js'));
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    it('says in one sentence how to make one', () => {
      expect(read(folder, {})).to.include({
        status: 1,
        stderr: 'There is no build in dist/: run `npm run build` first.\n',
      });
    });
  });
});
