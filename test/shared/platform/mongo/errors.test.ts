import {
  type Db,
  type Document,
  MongoBulkWriteError,
  MongoClient,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoUnexpectedServerResponseError,
  MongoWriteConcernError,
} from 'mongodb';
import {
  hadNoEffect,
  isDuplicateKey,
  isOverload,
  isStoreTrouble,
  OWN_FAULTS,
  worstWriteError,
} from '../../../../shared/platform/mongo/errors.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { updateEach } from '../../../../shared/platform/mongo/update-each.ts';
import { FOREIGN_CODES } from '../../../support/mongo-wire/faults.ts';
import { openScriptedMongo } from '../../../support/scripted-mongo.ts';
import { use } from '../../../support/use.ts';

const refusal = (code: number, errorLabels: string[] = []) =>
  new MongoServerError({ ok: 0, errmsg: 'refused', code, errorLabels });

describe('isStoreTrouble', () => {
  const cases: readonly [what: string, error: unknown, trouble: boolean][] = [
    ['a broken connection', new MongoNetworkError('connection 3 closed'), true],
    ['a server that steps down', new MongoServerError({ message: 'not primary', code: 10_107 }), true],
    [
      'a write into a socket that the killed server left',
      Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }),
      true,
    ],
    [
      'the same inside a bulk write',
      // The driver's form of a raw socket error, with the socket's code.
      Object.assign(Object.create(MongoBulkWriteError.prototype), { message: 'write EPIPE', code: 'EPIPE' }),
      true,
    ],
    [
      'a connection that is lost during a bulk write',
      // The driver's form of a MongoNetworkError.
      Object.assign(Object.create(MongoBulkWriteError.prototype), { message: 'connection 6 closed', writeErrors: [] }),
      true,
    ],
    [
      'a duplicate key in a bulk write',
      Object.assign(Object.create(MongoBulkWriteError.prototype), {
        ...{ message: 'E11000', code: 11_000, writeErrors: [], errorLabelSet: new Set() },
      }),
      false,
    ],
    ['a router that lost its server', new MongoServerError({ message: 'socket exception', code: 9_001 }), true],
    [
      'a write that is not known to be on a majority, whatever the reason',
      new MongoWriteConcernError({ ok: 1, writeConcernError: { code: 79, errmsg: 'no such write concern' } }),
      true,
    ],
    ['a duplicate key', new MongoServerError({ message: 'E11000', code: 11_000 }), false],
    ['a driver without a connection', new MongoNotConnectedError('Client must be connected'), true],
    ['an answer that is none', new MongoUnexpectedServerResponseError('no cursor'), true],
    ['a call of the driver that makes no sense', new MongoInvalidArgumentError('no filter'), false],
    ['a mistake of ours', new TypeError('x is not a function'), false],
    ['nothing at all', undefined, false],
  ];
  for (const [what, error, trouble] of cases) {
    it(`${what}: ${trouble ? 'trouble' : 'none'}`, () => {
      expect(isStoreTrouble(error)).to.equal(trouble);
    });
  }
});

describe('an answer of the server', () => {
  /** Certainly about the document or the command. */
  const own = [
    ...[2, 9, 14, 15, 16, 27, 28, 40, 48, 52, 53, 54, 56, 57, 59, 66, 67, 68, 72, 73, 85, 86, 115, 121, 168, 171, 197],
    ...[201, 224, 238, 241, 292, 301, 10_334, 11_000, 17_419, 17_420, 40_414, 40_415],
  ];

  it('is about the document or the command for these codes only', () => {
    expect([...OWN_FAULTS.keys()]).to.have.members(own);
    for (const code of own) {
      expect(isStoreTrouble(refusal(code)), String(code)).to.equal(false);
      expect(isStoreTrouble(new MongoServerError({ code, errmsg: 'of one write' })), String(code)).to.equal(false);
    }
  });

  it('is trouble of the store for every other code, known or not, and without any', () => {
    for (const code of FOREIGN_CODES) {
      expect(isStoreTrouble(refusal(code)), String(code)).to.equal(true);
      expect(isStoreTrouble(new MongoServerError({ code, errmsg: 'of one write' })), String(code)).to.equal(true);
    }
    expect(isStoreTrouble(new MongoServerError({ ok: 0, errmsg: 'no code' }))).to.equal(true);
    expect(isStoreTrouble(new MongoServerError({ ok: 0, errmsg: 'a word', code: 'XX000' }))).to.equal(true);
  });

  it('is trouble when the server says that it may be asked again', () => {
    for (const label of ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError']) {
      expect(isStoreTrouble(refusal(2, [label])), label).to.equal(true);
    }
  });

  it('to several writes is the trouble of one of them before anything else', () => {
    const writeErrors = [{ code: 11_000 }, { code: 11_602 }];

    expect(worstWriteError(writeErrors)).to.deep.equal({ error: { code: 11_602 }, trouble: true });
    expect(worstWriteError([{ code: 66 }, { code: 50_463_173 }, {}])).to.deep.equal({
      error: { code: 50_463_173 },
      trouble: true,
    });
    expect(worstWriteError([{ code: 66 }, { code: 11_000 }])).to.deep.equal({ error: { code: 66 }, trouble: false });
    expect(worstWriteError([])).to.deep.equal({ error: undefined, trouble: false });
  });
});

describe('an overloaded store', () => {
  it('is known by its codes and by the label', () => {
    for (const code of [433, 449, 450, 462]) expect(isOverload(refusal(code)), String(code)).to.equal(true);
    expect(isOverload(refusal(10_107))).to.equal(false);
    expect(isOverload(refusal(999_999, ['SystemOverloadedError']))).to.equal(true);
  });

  it('did nothing when it says so of the whole command', () => {
    const both = ['SystemOverloadedError', 'RetryableError'];

    expect(hadNoEffect(refusal(462))).to.equal(true);
    expect(hadNoEffect(refusal(433, both))).to.equal(true);
    // Without the label a part of the command may have been done before the overload.
    expect(hadNoEffect(refusal(433))).to.equal(false);
    // The error of one write says nothing about the command's other writes.
    expect(hadNoEffect(new MongoServerError({ code: 462, errmsg: 'of one write' }))).to.equal(false);
    expect(hadNoEffect(refusal(11_602, ['RetryableWriteError']))).to.equal(false);
  });
});

/** For a batch cut half way, a server returns an error for each write, in their order. */
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
