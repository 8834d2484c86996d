import { expect } from 'chai';
import { readContract } from '../../gateway/docs/contract.ts';
import { OPERATOR_SCOPES } from '../../shared/keys/key.ts';
import { connectStore, type Store } from '../../shared/mongo/connect.ts';
import { WriteRefused } from '../../shared/mongo/guarded-connection.ts';
import { makeBatch, payUnmarked } from '../support/batches.ts';
import { makeKey, openGateway, type TestGateway } from '../support/gateway.ts';
import { makeAccount } from '../support/make.ts';
import { paySchedule } from '../support/schedules.ts';
import { openTestStore, type TestStore } from '../support/store.ts';

/** Stands for every parameter of a path. Nothing has this id, and to find that out is a read too. */
const ANYTHING = 'none';

describe('a gateway while the store is read-only', () => {
  let store: TestStore;
  let readOnly: Store;
  let gateway: TestGateway;
  let keys: readonly string[];
  before(async () => {
    store = await openTestStore();
    const account = await makeAccount(store.db, 10);
    keys = [
      await makeKey(store.db, account, ['send', 'read', 'manage']),
      await makeKey(store.db, undefined, OPERATOR_SCOPES),
      'hk_live_wrong',
    ];
    const guard = { write: () => Promise.reject(new WriteRefused('a write got through to the store')) };
    readOnly = await connectStore(
      { mongodbUri: store.uri, dataDir: '', mongodbDatabase: store.db.databaseName },
      0,
      guard,
    );
    gateway = await openGateway(readOnly.db, { gate: { open: false } });
  });
  after(async () => {
    await gateway.close();
    await readOnly.close();
    await store.close();
  });

  const { contract } = readContract();
  const routes = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const ask = (method: string, path: string, key: string) =>
    fetch(gateway.url + path.replaceAll(/\{[a-z_]+\}/g, ANYTHING), {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${key}`, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
      ...(method !== 'GET' && { body: '{}' }),
    });

  it('answers every read, with good and bad keys', async () => {
    const reads = routes.filter(
      ({ method, operation }) => method === 'GET' && !JSON.stringify(operation).includes('text/event-stream'),
    );
    const troubled: string[] = [];
    for (const { path } of reads) {
      for (const key of keys) {
        const { status } = await ask('GET', path, key);
        if (status >= 500) troubled.push(`${path} ${status}`);
      }
    }

    expect(reads.length).to.be.above(50);
    expect(troubled).to.deep.equal([]);
  });

  it('shows what is paid for and not stored yet: its process died, and nothing may be stored now', async () => {
    const account = await makeAccount(store.db, 10);
    const key = await makeKey(store.db, account, ['read']);
    const batch = makeBatch(account, 3);
    await payUnmarked(store.db, batch);
    const schedule = await paySchedule(store.db, account, new Date(Date.now() + 3_600_000));

    for (const path of [`batches/${batch._id}`, `batches/${batch._id}/failures`, `schedule/${schedule}`]) {
      const answer = await ask('GET', `/v2/${path}`, key);
      expect({ path, status: answer.status }).to.deep.equal({ path, status: 200 });
    }
    for (const path of ['batches', 'schedules', 'schedules?state=scheduled']) {
      const answer = await ask('GET', `/v2/${path}`, key);
      expect(await answer.text(), path).to.include(path === 'batches' ? batch._id : schedule);
    }
  });

  it('refuses everything else at once, and says when to come again', async () => {
    const writes = routes.filter(({ method }) => method !== 'GET');
    for (const { method, path } of writes) {
      const answer = await ask(method, path, keys[0] ?? '');
      const body = (await answer.json()) as { readonly code: string };
      const said = { status: answer.status, code: body.code, after: answer.headers.get('retry-after') };
      expect(said, `${method} ${path}`).to.deep.equal({ status: 503, code: 'read_only', after: '30' });
    }
    expect(writes.length).to.be.above(50);
  });

  it('counts requests of keys by itself', async () => {
    const key = await makeKey(store.db, await makeAccount(store.db, 10), ['read'], undefined, 3);

    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('GET', '/v2/balance', key)));

    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 200, 200, 429, 429]);
  });
});
