import { expect } from 'chai';
import { type Db, type Document, MongoClient } from 'mongodb';
import { isDuplicateKey, isStoreTrouble } from '../../../../shared/platform/mongo/errors.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { updateEach } from '../../../../shared/platform/mongo/update-each.ts';
import { openScriptedMongo } from '../../../support/scripted-mongo.ts';
import { use } from '../../../support/use.ts';

/** What a server answers when a batch was cut half way: each write has an error of its own, in the order of the writes. */
describe('several errors in one answer', () => {
  const server = use(() => openScriptedMongo({ answer: () => answer }));
  let client: MongoClient;
  let db: Db;
  let answer: Document = {};
  before(async () => {
    client = new MongoClient(server.uri);
    db = client.db('x');
  });
  after(async () => {
    await client.close();
  });

  const writeErrors = (...codes: readonly number[]) =>
    codes.map((code, index) => ({ index, code, errmsg: `error ${code}` }));
  const writes: readonly (readonly [what: string, write: () => Promise<unknown>])[] = [
    ['insertNew', () => insertNew(db, 'things', [{ _id: 'a' }, { _id: 'b' }])],
    ['updateEach', () => updateEach(db, 'things', [{ filter: { _id: 'a' }, update: { $set: { v: 1 } } }])],
  ];
  for (const [what, write] of writes) {
    const failureOf = () => write().catch((error: unknown) => error);

    it(`${what}: one that says that the store had trouble wins`, async () => {
      answer = { n: 0, writeErrors: writeErrors(66, 11_000, 11_602) };
      expect(isStoreTrouble(await failureOf())).to.equal(true);

      answer = { n: 0, writeErrors: writeErrors(11_602, 66) };
      expect(isStoreTrouble(await failureOf())).to.equal(true);

      answer = { n: 0, writeErrors: writeErrors(66, 67) };
      expect(await failureOf()).to.include({ code: 66 });
    });

    it(`${what}: nobody knows what is on a majority when the write concern failed too`, async () => {
      const writeConcernError = {
        code: 64,
        codeName: 'WriteConcernTimeout',
        errmsg: 'waiting for replication timed out',
      };

      answer = { n: 1, writeErrors: writeErrors(11_000), writeConcernError };
      expect(isStoreTrouble(await failureOf())).to.equal(true);

      answer = { n: 1, writeConcernError };
      expect(isStoreTrouble(await failureOf())).to.equal(true);
    });
  }

  it("the same of the driver's own bulk writes", async () => {
    const failureOf = () =>
      db
        .collection('things')
        .insertMany([{ a: 1 }, { a: 2 }], { ordered: false })
        .catch((error: unknown) => error);

    answer = { n: 0, writeErrors: writeErrors(11_000, 11_602) };
    expect(isStoreTrouble(await failureOf())).to.equal(true);
    expect(isDuplicateKey(await failureOf())).to.equal(false);

    answer = { n: 1, writeErrors: writeErrors(11_000) };
    expect(isStoreTrouble(await failureOf())).to.equal(false);
    expect(isDuplicateKey(await failureOf())).to.equal(true);
  });
});
