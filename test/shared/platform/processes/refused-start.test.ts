import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { builtProduct } from '../../../support/built.ts';
import { answered, pass } from '../../../support/mongo-wire/faults.ts';
import { startWireProxy } from '../../../support/mongo-wire/proxy.ts';
import { useStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

/** What Microsoft's DocumentDB and others say to a variable that they do not know. */
const REFUSED = answered({ ok: 0, code: 9, errmsg: 'Use of undefined variable: NOW' });

describe('a start on a server without `$$NOW`', function () {
  this.timeout(60_000);
  const store = useStore();
  const proxy = use(() => startWireProxy(store.uri));
  let dir: string;
  before(async () => {
    proxy.inject({
      times: Number.POSITIVE_INFINITY,
      happens: (command, link) =>
        JSON.stringify(command.body()).includes('$$NOW') ? REFUSED(command, link) : pass(command, link),
    });
    dir = mkdtempSync(join(tmpdir(), 'harkara-refused-'));
  });
  after(async () => {
    rmSync(dir, { recursive: true, force: true });
  });

  for (const app of ['gateway', 'workers/background']) {
    it(`${app} ends with one sentence that says what is missing`, async () => {
      const main = join(await builtProduct(), app, 'main.js');
      const child = spawn(process.execPath, [main], {
        env: {
          ...{
            PATH: process.env.PATH,
            HARKARA_DATA_DIR: dir,
            HARKARA_LOG_LEVEL: 'silent',
            HARKARA_PORT: '0',
            HARKARA_METRICS_PORT: '0',
          },
          ...{ HARKARA_MONGODB_URI: proxy.uri, HARKARA_MONGODB_DATABASE: store.db.databaseName },
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

      expect(said).to.equal(
        'The server behind HARKARA_MONGODB_URI lacks what Harkara needs: `$$NOW` (Use of undefined variable: NOW). AWS DocumentDB and Azure Cosmos DB are not enough: run MongoDB 6.0 or newer.\n',
      );
      expect(code).to.equal(1);
      expect(await store.db.collection('processes').countDocuments()).to.equal(0);
    });
  }
});
