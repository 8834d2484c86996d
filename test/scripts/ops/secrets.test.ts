import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { openedPassword, openedTrust } from '../../../shared/carriers/carrier-secrets.ts';
import { createCarrier } from '../../../shared/carriers/carrier-store.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { setProvider } from '../../../shared/carriers/providers/store.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { createEndpoint, rotateSecret } from '../../../shared/events/webhooks/endpoint-store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { addKey, createSecretBox, loadSecretKeys, SEALED_FIELDS } from '../../../shared/platform/runtime/secret-box.ts';
import { NUMBER, PROVIDER } from '../../support/chatapp.ts';
import { OpsWorld } from '../../support/ops-world.ts';

const OLD = 'ab'.repeat(32);
const NEW = 'cd'.repeat(32);
const RESEAL = 'secrets reseal --settle-seconds 0';

describe('npm run ops: secrets reseal', () => {
  let world: OpsWorld;
  beforeEach(async () => {
    world = await OpsWorld.open();
  });
  afterEach(() => world.close());

  const keyFile = () => join(world.dir, 'secret.key');
  const collection = <T extends object>(name: string) => world.store.db.collection<T>(name);

  /** Seals one of each kind with a running process's box. */
  async function sealAll() {
    const { db } = world.store;
    const box = createSecretBox(loadSecretKeys('', world.dir));
    const account = newId('acc');
    const tlsKey = readFileSync('test/fixtures/tls/client.key', 'utf8');
    const tlsCertificate = readFileSync('test/fixtures/tls/client.pem', 'utf8');
    await createCarrier(db, systemClock, box, {
      ...{ _id: 'acme', name: 'Acme', host: 'smpp.example.com', port: 2775, systemId: 'us', password: 'pa55word' },
      trust: { tlsKey, tlsCertificate },
    });
    await setProvider(db, systemClock, box, account, NUMBER, PROVIDER);
    const url = 'https://hooks.example/';
    const wanted = { account, channel: 'sms', url, events: ['message.sent'] } as const;
    const { endpoint, secret } = await createEndpoint(db, systemClock, box, wanted);
    await rotateSecret(db, systemClock, box, { secret: 'whsec_bmV3' }, endpoint._id);
    const user = newId('usr');
    await collection('users').insertOne({
      _id: user,
      totp: { seed: box.seal('SEED', ['users', user, 'totp.seed']) },
    } as never);
    const claim = `${account}:key`;
    await collection('idempotency').insertOne({
      _id: claim,
      result: box.seal('text', ['idempotency', account, 'result']),
      answer: { status: 200, body: box.seal('{}', ['idempotency', claim, 'answer.body']), sealed: true },
    } as never);
    return { box, account, user, claim, endpoint: endpoint._id, secret, tlsKey };
  }

  async function texts(): Promise<string> {
    const all = await Promise.all(Object.keys(SEALED_FIELDS).map((name) => collection(name).find().toArray()));
    return JSON.stringify(all);
  }

  it('seals everything with a new key, which running processes use at once, and drops the old one', async () => {
    const { box, user, claim, endpoint, secret, tlsKey } = await sealAll();
    const old = readFileSync(keyFile(), 'utf8').trim();
    const oldId = /v2\.([0-9a-f]{8})\./.exec(await texts())?.[1] ?? '';

    const { code, out, err } = await world.run(RESEAL);

    expect([code, err]).to.deep.equal([
      0,
      '10 secrets are sealed anew. Waiting 0 s for what is being stored just now.\n',
    ]);
    expect(out).to.match(/^10 secrets are sealed with the new key \(id [0-9a-f]{8}\)\. The old key is no longer/);
    const key = readFileSync(keyFile(), 'utf8').trim();
    expect(key)
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.equal(old);
    expect(statSync(keyFile()).mode & 0o777).to.equal(0o600);
    expect(existsSync(`${keyFile()}.next`)).to.equal(false);
    for (const said of [out, err]) expect(said).not.to.include(key).and.not.to.include(old);
    expect(await texts()).not.to.include(oldId);
    const carrier = await collection<CarrierDocument>('carriers').findOne({});
    const provider = await collection<ProviderDocument>('providers').findOne({});
    const hook = await collection<EndpointDocument>('endpoints').findOne({});
    if (carrier === null || provider === null || hook === null) throw new Error('something has gone');
    expect(openedPassword(box, carrier)).to.equal('pa55word');
    expect(openedTrust(box, carrier).trust?.tlsKey).to.equal(tlsKey);
    expect(box.open(provider.token, ['providers', NUMBER, 'token'])).to.equal(PROVIDER.token);
    for (const { sealed } of hook.secrets) {
      expect(box.open(sealed, ['endpoints', hook._id, 'secrets.sealed'])).to.match(/^whsec_/);
    }
    expect(box.open(hook.secrets[1]?.sealed ?? '', ['endpoints', endpoint, 'secrets.sealed'])).to.equal(secret);
    expect(JSON.stringify(await collection('audit').findOne({ action: 'secrets.reseal' }))).to.include('"resealed":10');
    expect([user, claim]).to.have.length(2);
    expect((await world.run(RESEAL)).code).to.equal(0);
  });

  it('interrupted, goes on with the same new key', async () => {
    const { box } = await sealAll();
    const old = readFileSync(keyFile(), 'utf8').trim();
    addKey(world.dir);
    const [first] = readFileSync(keyFile(), 'utf8').split('\n');
    // Left by a crash after the draft, before the file was replaced.
    copyFileSync(keyFile(), `${keyFile()}.next`);
    box.seal('x', ['carriers', 'acme', 'password']);

    expect(JSON.parse((await world.run(`${RESEAL} --json`)).out)).to.include({ resealed: 10 });

    expect(readFileSync(keyFile(), 'utf8')).to.equal(`${first}\n`);
    expect(first).not.to.equal(old);
  });

  it('interrupted before it took away what it needed, makes a new key the next time', async () => {
    await sealAll();
    // Crashes left the newest key beside the file, and half-written drafts.
    copyFileSync(keyFile(), `${keyFile()}.next`);
    copyFileSync(keyFile(), `${keyFile()}.4711`);
    const old = readFileSync(keyFile(), 'utf8');

    expect(JSON.parse((await world.run(`${RESEAL} --json`)).out)).to.include({ resealed: 10 });

    expect(readFileSync(keyFile(), 'utf8')).not.to.equal(old);
    const files = readdirSync(world.dir).filter((name) => name.startsWith('secret.key'));
    expect(files).to.deep.equal(['secret.key']);
  });

  it('names what no key opens, and what was copied from elsewhere', async () => {
    const { box } = await sealAll();
    const moved = box.seal('pa55word', ['carriers', 'other', 'password']);
    await collection<CarrierDocument>('carriers').updateOne({ _id: 'acme' }, { $set: { password: moved } });

    const { code, out } = await world.run(RESEAL);

    expect(code).to.equal(1);
    expect(out).to.include('NOT READABLE').and.to.include('password of acme (carriers)');
  });

  it('keys of the setting are changed by the operator: the first seals, all open', async () => {
    writeFileSync(keyFile(), `${OLD}\n`, { mode: 0o600 });
    await sealAll();

    const alone = await world.run(RESEAL, { HARKARA_SECRET_KEY: OLD });
    const both = await world.run(RESEAL, { HARKARA_SECRET_KEY: `${NEW},${OLD}` });

    expect(alone.err).to.include('Put a new one before it');
    expect(both.out).to.include('take the old key out of HARKARA_SECRET_KEY');
    const carrier = await collection<CarrierDocument>('carriers').findOne({});
    if (carrier === null) throw new Error('the carrier has gone');
    expect(openedPassword(createSecretBox(loadSecretKeys(NEW, '')), carrier)).to.equal('pa55word');
    expect(readFileSync(keyFile(), 'utf8')).to.equal(`${OLD}\n`);
  });
});
