import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createCarrier } from '../../../../shared/carriers/carrier-store.ts';
import { openSecretBox } from '../../../../shared/platform/processes/open-secret-box.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { StartError } from '../../../../shared/platform/runtime/lifecycle.ts';
import { openTestStore, type TestStore } from '../../../support/store.ts';

const KEY = 'ab'.repeat(32);

const PLACE = ['carriers', 'acme', 'password'] as const;

describe('the box of the secret key', () => {
  let store: TestStore;
  let dataDir: string;
  let file: string;
  beforeEach(async () => {
    store = await openTestStore();
    dataDir = mkdtempSync(join(tmpdir(), 'harkara-'));
    file = join(dataDir, 'secret.key');
  });
  afterEach(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  const open = (secretKey = '') => openSecretBox({ secretKey, dataDir }, store.db);
  const seal = async () =>
    createCarrier(store.db, systemClock, await open(), {
      ...{ _id: 'acme', name: 'Acme', host: 'smpp.example.com', port: 2775, systemId: 'us', password: 'secret' },
    });

  it('makes the key once, when several processes start for the first time', async () => {
    const boxes = await Promise.all([open(), open(), open()]);

    expect(boxes.map((box) => box.open(boxes[0]?.seal('word', PLACE) ?? '', PLACE))).to.deep.equal([
      'word',
      'word',
      'word',
    ]);
    expect(existsSync(file)).to.equal(true);
  });

  it('makes no other one when the key is missing and secrets were sealed with it; the old one put back works', async () => {
    const { password } = await seal();
    renameSync(file, `${file}.away`);

    const refusal = await open().catch((error: unknown) => error);

    expect(refusal).to.be.instanceOf(StartError);
    expect(String(refusal)).to.include(file).and.to.include('put it back');
    expect(existsSync(file)).to.equal(false);
    renameSync(`${file}.away`, file);
    expect((await open()).open(password, PLACE)).to.equal('secret');
  });

  it('takes a key that was made on purpose, or comes from the setting', async () => {
    await seal();
    rmSync(file);

    await open(KEY);
    expect(existsSync(file)).to.equal(false);
    writeFileSync(file, `${KEY}\n`);
    const own = await open();

    expect((await open(KEY)).open(own.seal('word', PLACE), PLACE)).to.equal('word');
  });
});
