import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { envFile, readEnvFile, readEnvironment } from '../../../shared/config/environment.ts';
import { forgetHandedSecrets, withoutSecrets } from '../../../shared/config/handed-secrets.ts';
import { SECRET_VARIABLES } from '../../../shared/config/secrets.ts';
import { StartError } from '../../../shared/runtime/lifecycle.ts';

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
    write('PORT=4000\nLOG_LEVEL=warn\nMONGODB_DATABASE=other\n');

    const found = readEnvironment({ HARKARA_ENV_FILE: file, PORT: '5000', LOG_LEVEL: '' });

    expect(found).to.include({ PORT: '5000', LOG_LEVEL: '', MONGODB_DATABASE: 'other' });
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
    expect(envFile({})).to.equal(join(import.meta.dirname, '../../../.env'));
  });

  for (const secret of [`HARKARA_SECRET_KEY=${KEY}`, 'MONGODB_URI=mongodb://user:word@db.example/']) {
    it(`refuses a file that others may read, with the sentence that mends it: ${secret.split('=')[0]}`, () => {
      write(`PORT=4000\n${secret}\n`, 0o644);

      expect(() => readEnvironment({ HARKARA_ENV_FILE: file })).to.throw(StartError, `chmod 600 ${file}`);

      chmodSync(file, 0o600);
      expect(readEnvironment({ HARKARA_ENV_FILE: file })).to.include({ PORT: '4000' });
    });
  }

  it('reads a file without a secret as it is', () => {
    write('PORT=4000\nHARKARA_SECRET_KEY=\nMONGODB_URI=mongodb://127.0.0.1/\n', 0o644);

    expect(readEnvironment({ HARKARA_ENV_FILE: file })).to.include({ PORT: '4000' });
  });

  describe('under PM2', () => {
    const handed = () => join(folder, 'handed-secrets.json');

    it('gives PM2 no secret, and the processes those that its caller had', () => {
      write(`HARKARA_SECRET_KEY=${KEY}\nPORT=4000\n`);
      const uri = 'mongodb://user:word@db.example/?authSource="x y"';
      const caller = { HARKARA_ENV_FILE: file, MONGODB_URI: uri, CHATAPP_TOKEN: 'token', PATH: '/bin' };

      const given = withoutSecrets(caller, readEnvFile(file), folder);
      const seen = readEnvironment({ ...caller, ...given });

      for (const name of SECRET_VARIABLES) expect(given).to.have.property(name, '');
      expect(JSON.stringify(given)).not.to.match(/word|token/);
      expect(statSync(handed()).mode & 0o777).to.equal(0o600);
      expect(seen).to.include({ MONGODB_URI: uri, HARKARA_SECRET_KEY: KEY, PORT: '4000' });
      // Only ops needs this secret, so it is not written to the disk.
      expect(readFileSync(handed(), 'utf8')).not.to.include('token');
    });

    it('lets .env say what the caller does not: empty means that PM2 was to forget a variable', () => {
      write('PORT=4000\nLOG_LEVEL=warn\n');
      const given = withoutSecrets({}, readEnvFile(file), folder);

      const seen = readEnvironment({ HARKARA_ENV_FILE: file, PORT: '', LOG_LEVEL: 'debug', ...given });

      expect(seen).to.include({ PORT: '4000', LOG_LEVEL: 'debug' });
    });

    it("hands over that the caller wants the default instead of the file's", () => {
      write('MONGODB_URI=mongodb://user:word@db.example/\n');

      const given = withoutSecrets({ MONGODB_URI: '' }, readEnvFile(file), folder);

      expect(readEnvironment({ HARKARA_ENV_FILE: file, ...given })).to.include({ MONGODB_URI: '' });
    });

    it('keeps nothing when .env has it all, or npm start has ended', () => {
      write(`HARKARA_SECRET_KEY=${KEY}\n`);
      withoutSecrets({ HARKARA_SECRET_KEY: 'cd'.repeat(32) }, readEnvFile(file), folder);
      expect(readFileSync(handed(), 'utf8')).to.include('cdcd');

      const given = withoutSecrets({ HARKARA_SECRET_KEY: KEY }, readEnvFile(file), folder);
      expect(existsSync(handed())).to.equal(false);
      expect(readEnvironment({ HARKARA_ENV_FILE: file, ...given })).to.include({ HARKARA_SECRET_KEY: KEY });

      withoutSecrets({ HARKARA_SECRET_KEY: 'cd'.repeat(32) }, {}, folder);
      forgetHandedSecrets(folder);
      expect(existsSync(handed())).to.equal(false);
    });

    it('refuses to go on when they are gone: another store and another key would be the default', () => {
      const given = withoutSecrets({ HARKARA_SECRET_KEY: KEY }, {}, folder);
      withoutSecrets({}, {}, folder); // What `pm2 stop ecosystem.config.js` does in a shell without secrets.

      expect(() => readEnvironment({ HARKARA_ENV_FILE: '', ...given })).to.throw(
        StartError,
        `${handed()} is gone. It had the secrets that PM2 was started with`,
      );

      write(`HARKARA_SECRET_KEY=${KEY}\n`); // The secrets were moved to .env after PM2's list had been saved.
      expect(readEnvironment({ HARKARA_ENV_FILE: file, ...given })).to.include({ HARKARA_SECRET_KEY: KEY });
    });

    it('refuses handed secrets that others may read', () => {
      const given = withoutSecrets({ HARKARA_SECRET_KEY: KEY }, {}, folder);
      chmodSync(handed(), 0o644);

      expect(() => readEnvironment({ HARKARA_ENV_FILE: '', ...given })).to.throw(StartError, 'chmod 600');
    });
  });
});
