import { deserialize } from 'bson';
import { spend } from '../../../workers/embedded-db/bson/effort.ts';
import { OK } from '../../../workers/embedded-db/commands/command.ts';
import { type Progress, Rest } from '../../../workers/embedded-db/commands/store.ts';
import { checkStore } from '../../../workers/embedded-db/offline.ts';
import { eventually } from '../../support/eventually.ts';
import { StoreInGroups } from './store-in-groups.ts';
import { EMBEDDED } from './store-under-test.ts';
import { storesInOneDirectory } from './stores-world.ts';

const MINUTE_MS = 60_000;
const NUMBERS = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`n${i}`, i]));
/** The store looks at the whole document for each condition. */
const CONDITIONS = Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, { $gte: 0 }]));
/** With these conditions, a document with this text needs a sixteenth of the effort allowed for one. */
const TEXT = 'x'.repeat(1024 * 1024);
const DOCUMENTS = 24;
const FAR_TOO_MUCH_BYTES = 2 ** 30;

if (EMBEDDED) {
  describe('embedded-db, and how much it may look at for one document', function () {
    this.timeout(MINUTE_MS);
    const world = storesInOneDirectory();
    let groups: StoreInGroups | undefined;
    afterEach(async () => {
      await groups?.close();
      groups = undefined;
    });

    it('checks a whole store, in which all documents together take more', async () => {
      const store = await world.start();
      const all = world.connect(store).db('x').collection<{ _id: number }>('c');
      await all.createIndex({ n0: 1 }, { partialFilterExpression: CONDITIONS });
      for (let _id = 0; _id < DOCUMENTS; _id++) await all.insertOne({ _id, ...NUMBERS, text: TEXT } as { _id: number });
      await world.stop(store);

      const report = await checkStore(world.dir, () => {});

      expect(report).to.deep.equal({ collections: 1, documents: DOCUMENTS, entries: DOCUMENTS, problems: [] });
    });

    it('looks for documents whose time is over also after a command that took more', async () => {
      let looks = 0;
      const now = (): number => {
        looks++;
        return Date.UTC(2026, 10, 21);
      };
      const store = await world.start({ ttlEveryMs: 10, now });
      await world.connect(store).db('x').collection('c').createIndex({ at: 1 }, { expireAfterSeconds: 60 });
      const before = looks;

      expect(() => spend(FAR_TOO_MUCH_BYTES)).to.throw('exceeded the limit');

      await eventually(() => Promise.resolve(looks > before + 1), 'two more looks');
    });

    it('goes on with a long command after another one that took more', async () => {
      groups = new StoreInGroups();
      const { commits } = groups;
      const told = new Promise<Buffer>((resolve) => {
        const end = (): Progress => {
          spend(1);
          return OK;
        };
        commits.add(() => new Rest(end), resolve);
      });
      const tooMuch = (): Progress => {
        spend(FAR_TOO_MUCH_BYTES);
        return OK;
      };
      const refused = new Promise<Buffer>((resolve) => commits.add(tooMuch, resolve));

      expect(deserialize(await refused)).to.include({ code: 50 });
      expect(deserialize(await told)).to.include({ ok: 1 });
    });
  });
}
