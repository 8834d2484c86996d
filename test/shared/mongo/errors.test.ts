import { expect } from 'chai';
import { MongoBulkWriteError, MongoNetworkError, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { isStoreTrouble } from '../../../shared/mongo/errors.ts';

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
      Object.assign(Object.create(MongoBulkWriteError.prototype), { message: 'E11000', code: 11_000 }),
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
