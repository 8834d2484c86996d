import { expect } from 'chai';
import { MongoBulkWriteError, MongoNetworkError, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { hadNoEffect, isOverload, isStoreTrouble, worstWriteError } from '../../../shared/mongo/errors.ts';
import { OVERLOAD_CODES, TROUBLE_CODES } from '../../../shared/mongo/trouble-codes.ts';

/** What a server answers to a command that it refuses. */
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
      // As the driver makes it from a raw socket error: the code is the socket's.
      Object.assign(Object.create(MongoBulkWriteError.prototype), { message: 'write EPIPE', code: 'EPIPE' }),
      true,
    ],
    [
      'a connection that is lost during a bulk write',
      // As the driver makes it from a MongoNetworkError.
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
    ['a mistake of ours', new TypeError('x is not a function'), false],
    ['nothing at all', undefined, false],
  ];
  for (const [what, error, trouble] of cases) {
    it(`${what}: ${trouble ? 'trouble' : 'none'}`, () => {
      expect(isStoreTrouble(error)).to.equal(trouble);
    });
  }
});

describe('codes of trouble', () => {
  /** Codes that mongod 8.2 labels `RetryableWriteError`, and codes of other troubles that end by themselves. */
  const passing = [
    ...[6, 7, 24, 43, 50, 63, 64, 82, 89, 90, 91, 112, 133, 134, 145, 150, 175, 189, 202, 237, 249, 262, 279, 314, 317],
    ...[319, 355, 358, 365, 371, 384, 402, 406, 407, 412, 433, 449, 450, 453, 462, 9_001, 10_058, 10_107],
    ...[11_600, 11_601, 11_602, 13_388, 13_435, 13_436, 14_031, 46_841, 50_915, 91_331, 10_045_600],
  ];

  it('are these, of a whole command and of one write in it', () => {
    expect([...TROUBLE_CODES.keys()]).to.have.members(passing);
    for (const code of passing) {
      expect(isStoreTrouble(refusal(code)), String(code)).to.equal(true);
      expect(isStoreTrouble(new MongoServerError({ code, errmsg: 'of one write' })), String(code)).to.equal(true);
    }
  });

  it('are not those of a command or a deployment that is wrong: waiting changes nothing about them', () => {
    // IllegalOperation, UnknownReplWriteConcern, UnsatisfiableWriteConcern, Unauthorized, AuthenticationFailed, CommandNotFound,
    // OperationFailed: that of a plan which fails each time.
    for (const code of [20, 79, 100, 13, 18, 59, 96])
      expect(isStoreTrouble(refusal(code)), String(code)).to.equal(false);
  });

  it('include every code that the server itself calls one', () => {
    for (const label of ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError']) {
      expect(isStoreTrouble(refusal(999_999, [label])), label).to.equal(true);
    }
  });

  it('win over other errors of the same command', () => {
    const writeErrors = [{ code: 11_000 }, { code: 11_602 }];

    expect(worstWriteError(writeErrors)).to.deep.equal({ error: { code: 11_602 }, trouble: true });
    expect(worstWriteError([{ code: 66 }, { code: 11_000 }])).to.deep.equal({ error: { code: 66 }, trouble: false });
    expect(worstWriteError([])).to.deep.equal({ error: undefined, trouble: false });
  });
});

describe('an overloaded store', () => {
  it('is known by its codes and by the label', () => {
    for (const code of OVERLOAD_CODES) expect(isOverload(refusal(code)), String(code)).to.equal(true);
    expect(isOverload(refusal(10_107))).to.equal(false);
    expect(isOverload(refusal(999_999, ['SystemOverloadedError']))).to.equal(true);
  });

  it('did nothing when it says so of the whole command', () => {
    const both = ['SystemOverloadedError', 'RetryableError'];

    expect(hadNoEffect(refusal(462))).to.equal(true);
    expect(hadNoEffect(refusal(433, both))).to.equal(true);
    // Without the label the overload may have been noticed when a part of the command was done.
    expect(hadNoEffect(refusal(433))).to.equal(false);
    // The error of one write says nothing about the other writes of the command.
    expect(hadNoEffect(new MongoServerError({ code: 462, errmsg: 'of one write' }))).to.equal(false);
    expect(hadNoEffect(refusal(11_602, ['RetryableWriteError']))).to.equal(false);
  });
});
