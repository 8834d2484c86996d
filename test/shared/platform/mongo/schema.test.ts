import type { Db } from 'mongodb';
import {
  ensureSchema,
  expectSchema,
  readSchema,
  SCHEMA,
  setSchema,
  UNFINISHED_COPY,
} from '../../../../shared/platform/mongo/schema.ts';
import { openTestStore, type TestStore } from '../../../support/store.ts';

describe('the schema of the store', () => {
  let store: TestStore;
  let db: Db;
  beforeEach(async () => {
    store = await openTestStore();
    db = store.db;
  });
  afterEach(() => store.close());

  it('is given to a store without one, also when several processes start at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => ensureSchema(db)));
    await ensureSchema(db);

    expect(await readSchema(db)).to.equal(SCHEMA);
  });

  for (const [version, words] of [
    [SCHEMA + 1, `has schema ${SCHEMA + 1}, and this program needs ${SCHEMA}`],
    [SCHEMA - 1, `has schema ${SCHEMA - 1}, and this program needs ${SCHEMA}`],
    [UNFINISHED_COPY, 'is a copy that is not complete'],
  ] as const) {
    it(`that is ${version} is refused, and stays as it is`, async () => {
      await setSchema(db, version);

      for (const look of [expectSchema, ensureSchema]) {
        const refused = await look(db).catch((error: unknown) => error);

        expect(refused).to.be.instanceOf(Error).with.property('code', 'start_failed');
        expect(String(refused)).to.include(words);
      }
      expect(await readSchema(db)).to.equal(version);
    });
  }
});
