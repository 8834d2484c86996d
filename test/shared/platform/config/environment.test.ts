import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  envFile,
  readEnvFile,
  readEnvironment,
  withoutSecrets,
} from '../../../../shared/platform/config/environment.ts';
import { StartError } from '../../../../shared/platform/runtime/lifecycle.ts';

const KEY = 'ab'.repeat(32);

describe('the environment of a process', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-env-'));
    file = join(folder, '.env');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(text: string, mode = 0o600): void {
    writeFileSync(file, text);
    chmodSync(file, mode);
  }

  it('goes before the file, empty values too', () => {
    write('HARKARA_PORT=4000\nHARKARA_LOG_LEVEL=warn\nHARKARA_MONGODB_DATABASE=other\n');

    const found = readEnvironment({ HARKARA_ENV_FILE: file, HARKARA_PORT: '5000', HARKARA_LOG_LEVEL: '' });

    expect(found).to.include({ HARKARA_PORT: '5000', HARKARA_LOG_LEVEL: '', HARKARA_MONGODB_DATABASE: 'other' });
  });

  it('is all there is when it names no file', () => {
    expect(readEnvironment({ HARKARA_ENV_FILE: '' })).to.deep.equal({ HARKARA_ENV_FILE: '' });
  });

  it('refuses to go on without a file that it names: the settings of another store would be the default', () => {
    expect(() => readEnvironment({ HARKARA_ENV_FILE: file })).to.throw(
      StartError,
      `HARKARA_ENV_FILE names ${file}, but there is no file that this user can read`,
    );
  });

  it('looks beside package.json for .env, wherever the process runs', () => {
    expect(envFile({})).to.equal(join(import.meta.dirname, '../../../../.env'));
  });

  for (const secret of [`HARKARA_SECRET_KEY=${KEY}`, 'HARKARA_MONGODB_URI=mongodb://user:word@db.example/']) {
    it(`refuses a file that others may read, with the sentence that mends it: ${secret.split('=')[0]}`, () => {
      write(`HARKARA_PORT=4000\n${secret}\n`, 0o644);

      expect(() => readEnvironment({ HARKARA_ENV_FILE: file })).to.throw(StartError, `chmod 600 ${file}`);

      chmodSync(file, 0o600);
      expect(readEnvironment({ HARKARA_ENV_FILE: file })).to.include({ HARKARA_PORT: '4000' });
    });
  }

  it('reads a file without a secret as it is', () => {
    write('HARKARA_PORT=4000\nHARKARA_SECRET_KEY=\nHARKARA_MONGODB_URI=mongodb://127.0.0.1/\n', 0o644);

    expect(readEnvironment({ HARKARA_ENV_FILE: file })).to.include({ HARKARA_PORT: '4000' });
  });

  describe('under PM2', () => {
    const UNDER_PM2 = { pm_out_log_path: '/var/log/gateway-out.log' };

    it('gives PM2 no secret that .env has, and the processes read it there', () => {
      write(`HARKARA_SECRET_KEY=${KEY}\nHARKARA_MONGODB_URI=mongodb://user:word@db.example/\n`);
      const caller = { HARKARA_ENV_FILE: file, HARKARA_SECRET_KEY: KEY };

      const given = withoutSecrets(caller, readEnvFile(file), file);
      const seen = readEnvironment({ ...UNDER_PM2, ...caller, ...given });

      expect(given).to.deep.equal({ HARKARA_MONGODB_URI: '', HARKARA_SECRET_KEY: '', HARKARA_SMTP_PASSWORD: '' });
      expect(seen).to.include({ HARKARA_SECRET_KEY: KEY, HARKARA_MONGODB_URI: 'mongodb://user:word@db.example/' });
    });

    it('gives PM2 an address without a password', () => {
      const given = withoutSecrets({ HARKARA_MONGODB_URI: 'mongodb://db.example/' }, {}, file);

      expect(given).to.deep.equal({
        HARKARA_MONGODB_URI: 'mongodb://db.example/',
        HARKARA_SECRET_KEY: '',
        HARKARA_SMTP_PASSWORD: '',
      });
    });

    it('refuses a secret that is not the one in .env, with the line that mends it, and does not show it', () => {
      for (const [name, value] of [
        ['HARKARA_SECRET_KEY', 'cd'.repeat(32)],
        ['HARKARA_MONGODB_URI', 'mongodb://user:word@db.example/'],
      ] as const) {
        const give = () => withoutSecrets({ [name]: value }, { HARKARA_SECRET_KEY: KEY }, file);

        expect(give)
          .to.throw(StartError)
          .with.property('message')
          .that.includes(`Write it into ${file} as ${name}=… (chmod 600), then: unset ${name}.`)
          .and.does.not.include(value);
      }
    });

    it('refuses a caller that wants the default in place of what .env says: the file would count', () => {
      expect(() =>
        withoutSecrets({ HARKARA_MONGODB_URI: '' }, { HARKARA_MONGODB_URI: 'mongodb://db.example/' }, file),
      ).to.throw(StartError, `HARKARA_MONGODB_URI is empty in the environment and set in ${file}`);
    });

    it('lets .env say what the caller does not: empty means that PM2 was to forget a variable', () => {
      write('HARKARA_PORT=4000\nHARKARA_LOG_LEVEL=warn\n');
      const environment = { HARKARA_ENV_FILE: file, HARKARA_PORT: '', HARKARA_LOG_LEVEL: 'debug' };

      expect(readEnvironment({ ...UNDER_PM2, ...environment })).to.include({
        HARKARA_PORT: '4000',
        HARKARA_LOG_LEVEL: 'debug',
      });
      expect(readEnvironment(environment)).to.include({ HARKARA_PORT: '', HARKARA_LOG_LEVEL: 'debug' });
    });
  });
});
