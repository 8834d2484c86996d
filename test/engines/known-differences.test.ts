import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { connectStore, type Store } from '../../shared/platform/mongo/connect.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { startEmbeddedStore } from '../../workers/embedded-db/server.ts';
import { eventually } from '../support/eventually.ts';
import { use } from '../support/use.ts';
import { DIFFERENCES, type Difference } from './known-differences.ts';
import { Secantus } from './secantus.ts';

/** A test of SecantusDB fails here when the server does it right by now: then remove that difference from the list. */
describe('known differences', () => {
  /** A store's answer, in a new database that is dropped afterwards. */
  async function answer(uri: string, { ask }: Difference): Promise<unknown> {
    const store: Store = await connectStore({ mongodbUri: uri, dataDir: '', mongodbDatabase: newId('test') });
    try {
      return await ask(store.db);
    } finally {
      await store.db.dropDatabase();
      await store.close();
    }
  }

  for (const server of ['python', 'rust'] as const) {
    describe(`SecantusDB, ${server}: not yet`, () => {
      const secantus = use(() => Secantus.start({ server }));

      for (const difference of DIFFERENCES.filter(({ servers }) => servers.includes(server))) {
        it(difference.title, async () => {
          // Some of them are races, which a loaded machine does not play at the first try.
          const differs = async () => !isDeepStrictEqual(await answer(secantus.uri, difference), difference.right);
          await eventually(differs, 'it answers differently');
        });
      }
    });
  }

  describe('the embedded store: as the manual says', () => {
    const dir = mkdtempSync(join(tmpdir(), 'harkara-test-'));
    let embedded: Awaited<ReturnType<typeof startEmbeddedStore>>;
    before(async () => {
      embedded = await startEmbeddedStore({ dir, durability: 'none' });
    });
    after(async () => {
      await embedded.close();
      rmSync(dir, { recursive: true });
    });

    for (const difference of DIFFERENCES) {
      it(`${difference.title} (${difference.manual})`, async () => {
        expect(await answer(embedded.uri, difference)).to.deep.equal(difference.right);
      });
    }
  });
});
