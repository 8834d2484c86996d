import { Binary, BSON, type Db, MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { isDuplicateKey } from '../../../../shared/platform/mongo/errors.ts';
import { findAtOnce } from '../../../../shared/platform/mongo/find-one.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { pauseMs, untilAnswered } from '../../../../shared/platform/mongo/until-answered.ts';
import { commandSlices, updateEach } from '../../../../shared/platform/mongo/update-each.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

/** mongod refuses any larger command. */
const COMMAND_BYTES_MAX = 16 * 1024 * 1024;

describe('commands of many documents', () => {
  const store = useStore();

  /** The same store, with the size of each command. */
  function weighed(): { readonly db: Db; readonly bytes: number[] } {
    const bytes: number[] = [];
    const db = new Proxy(store.db, {
      get(target, property) {
        if (property !== 'command') return Reflect.get(target, property);
        return (...[command, options]: Parameters<Db['command']>) => {
          bytes.push(BSON.calculateObjectSize(command, { ignoreUndefined: true }));
          return target.command(command, options);
        };
      },
    });
    return { db, bytes };
  }

  it('are no larger than a server takes, whatever the documents hold', async () => {
    const { db, bytes } = weighed();
    const texts = Array.from({ length: 40 }, (_, i) => ({ _id: i, text: '\u{20ac}'.repeat(170_000) }));

    await insertNew(db, 'texts', texts);
    const matched = await updateEach(
      db,
      'texts',
      texts.map(({ _id }) => ({
        filter: { _id },
        update: [{ $set: { text: '', pending: { messages: new Binary(Buffer.alloc(510_000)) } } }],
      })),
    );

    expect(matched).to.equal(40);
    expect(await store.db.collection('texts').countDocuments({ text: '' })).to.equal(40);
    expect(Math.max(...bytes)).to.be.below(COMMAND_BYTES_MAX);
  });

  it('are not said to have never been sent when only the later ones were not', async () => {
    const noServer = Object.assign(Object.create(MongoServerSelectionError.prototype), { message: 'no server' });
    let asked = 0;
    const db = new Proxy(store.db, {
      get(target, property) {
        if (property !== 'command') return Reflect.get(target, property);
        return (...[command, options]: Parameters<Db['command']>) =>
          ++asked === 1 ? target.command(command, options) : Promise.reject(noServer);
      },
    });
    const update = { $set: { text: 'x'.repeat(5_000_000) } };

    const error: unknown = await updateEach(
      db,
      'texts',
      [1, 2].map((_id) => ({ filter: { _id: -_id }, update })),
    ).catch((reason: unknown) => reason);

    expect(asked).to.equal(2);
    expect(error).to.be.instanceOf(MongoNetworkError).and.to.have.property('cause', noServer);
  });

  it('keep the order, and are one while they are small', () => {
    const small = Array.from({ length: 1_000 }, (_, i) => ({ _id: i, at: new Date(), history: [], text: 'hello' }));

    expect(commandSlices(small, 1_000)).to.deep.equal([small]);
    expect(commandSlices(small, 600)).to.deep.equal([small.slice(0, 600), small.slice(600)]);
    expect(commandSlices([], 600)).to.deep.equal([]);
  });

  it('have what is too large for any alone', () => {
    const [large, small] = [{ text: 'x'.repeat(9_000_000) }, { text: 'x' }];

    expect(commandSlices([small, large, small], 10)).to.deep.equal([[small], [large], [small]]);
  });
});

interface Thing {
  readonly _id: number;
  readonly kind: string;
  readonly at?: Date;
}

describe('findAtOnce', () => {
  const store = useStore();

  it('gives what find gives: filtered, in order, at most so many, however many more there are', async () => {
    const things = Array.from({ length: 300 }, (_, n): Thing => ({ _id: n, kind: n % 2 === 0 ? 'even' : 'odd' }));
    await store.db.collection<Thing>('things').insertMany([...things, { _id: 300, kind: 'late', at: new Date(7) }]);
    const find = (filter: Partial<Record<keyof Thing, unknown>>, limit: number): Promise<Thing[]> =>
      findAtOnce<Thing>(store.db, 'things', { filter: filter as object, sort: { _id: -1 }, limit });

    expect((await find({ kind: 'even' }, 120)).map(({ _id }) => _id)).to.deep.equal(
      Array.from({ length: 120 }, (_, n) => 298 - 2 * n),
    );
    expect(await find({ kind: 'late', at: undefined }, 10)).to.deep.equal([
      { _id: 300, kind: 'late', at: new Date(7) },
    ]);
    expect(await find({ kind: 'none' }, 10)).to.deep.equal([]);
  });

  it('rejects with what the server says', async () => {
    const asking = findAtOnce<Thing>(store.db, 'things', { filter: { $no: 1 } as object, sort: { _id: 1 }, limit: 1 });

    const error: unknown = await asking.catch((reason: unknown) => reason);

    // The embedded store cannot know whether MongoDB has it: 238 in place of 2.
    expect(error).to.have.property('code').that.is.oneOf([2, 238]);
  });
});

describe('insertNew', () => {
  const store = useStore();

  const things = () => store.db.collection<{ _id: string; n: number }>('things');

  it('inserts what is new and leaves what is there', async () => {
    await things().insertOne({ _id: 'a', n: 1 });

    await insertNew(
      store.db,
      'things',
      ['a', 'b', 'c'].map((_id) => ({ _id, n: 2, nothing: undefined })),
    );

    expect(await things().find().sort({ _id: 1 }).toArray()).to.deep.equal([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
      { _id: 'c', n: 2 },
    ]);
  });

  it('takes more than one command can carry, and nothing', async () => {
    await insertNew(
      store.db,
      'many',
      Array.from({ length: 2_500 }, (_, _id) => ({ _id })),
    );
    await insertNew(store.db, 'many', []);

    expect(await store.db.collection('many').countDocuments()).to.equal(2_500);
  });

  it('throws what is no duplicate, and has inserted the others', async () => {
    const error = await insertNew(store.db, 'odd', [{ _id: { $a: 1 } }, { _id: 2 }]).catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(MongoServerError);
    expect(await store.db.collection('odd').countDocuments()).to.equal(1);
  });
});

describe('updateEach', () => {
  const store = useStore();
  before(async () => {
    await things().createIndex({ name: 1 }, { unique: true, sparse: true });
  });
  beforeEach(async () => {
    await things().deleteMany({});
    await things().insertMany([
      { _id: 'a', v: 1 },
      { _id: 'b', v: 1 },
      { _id: 'c', v: 2, name: 'taken' },
    ]);
  });

  const things = () => store.db.collection<{ _id: string; v: number; name?: string }>('things');

  it('does each and counts those that matched', async () => {
    const matched = await updateEach(
      store.db,
      'things',
      ['a', 'b', 'c'].map((_id) => ({ filter: { _id, v: 1 }, update: { $inc: { v: 1 } } })),
    );

    expect(matched).to.equal(2);
    expect(await things().countDocuments({ v: 2 })).to.equal(3);
  });

  it('does the others when one fails, and throws its error', async () => {
    const failed = await updateEach(store.db, 'things', [
      { filter: { _id: 'a' }, update: { $set: { name: 'taken' } } },
      { filter: { _id: 'b' }, update: { $set: { name: 'free' } } },
    ]).catch((error: unknown) => error);

    expect(isDuplicateKey(failed)).to.equal(true);
    expect(await things().findOne({ _id: 'b' })).to.include({ name: 'free' });
  });

  it('asks nothing when there is nothing to do', async () => {
    expect(await updateEach(store.db, 'things', [])).to.equal(0);
  });
});

describe('untilAnswered', () => {
  const lost = new MongoNetworkError('the connection broke');
  const noServer: unknown = Object.assign(Object.create(MongoServerSelectionError.prototype), { message: 'no server' });
  const refused = new Error('refused');
  const overloaded = new MongoServerError({ ok: 0, code: 462, errmsg: 'too many requests' });
  /** Answers with these in turn; errors are thrown. */
  const asking = (...happens: readonly unknown[]) => {
    const left = [...happens];
    return untilAnswered({ clock: systemClock, log: silentLog, what: {} }, async () => {
      const next = left.shift();
      if (next instanceof Error) throw next;
      return next;
    });
  };
  const rejectionOf = (promise: Promise<unknown>) => promise.then(undefined, (error: unknown) => error);

  it('gives the answer, also when earlier ones were lost', async () => {
    expect(await asking('yes')).to.deep.equal({ answer: 'yes' });
    expect(await asking(lost, noServer, 'yes')).to.deep.equal({ answer: 'yes' });
  });

  it('rejects while nothing can have happened', async () => {
    expect(await rejectionOf(asking(noServer))).to.equal(noServer);
    expect(await rejectionOf(asking(refused))).to.equal(refused);
  });

  it('does not take a refusal of the repeat for one of what was asked before', async () => {
    expect(await asking(lost, refused)).to.equal('unknown');
  });

  it('asks an overloaded store again, which had done nothing', async () => {
    expect(await asking(overloaded, overloaded, 'yes')).to.deep.equal({ answer: 'yes' });
    expect(await rejectionOf(asking(overloaded, refused))).to.equal(refused);
    expect(await asking(overloaded, lost, refused)).to.equal('unknown');
  });

  it('rejects with its refusal when it stays overloaded for too long', async () => {
    const clock = new ManualClock(new Date());
    const asked = untilAnswered({ clock, log: silentLog, what: {} }, async () => {
      clock.turn(1_500);
      throw overloaded;
    });

    expect(await rejectionOf(asked)).to.equal(overloaded);
  });

  it('waits longer each time for an overloaded store, for a random part of it, and never for long', () => {
    const longest = () => 1;

    expect([1, 2, 3, 4, 5, 60].map((failed) => pauseMs(overloaded, failed, longest))).to.deep.equal([
      200, 400, 800, 1_600, 1_600, 1_600,
    ]);
    expect(pauseMs(overloaded, 3, () => 0.25)).to.equal(200);
    expect([1, 60].map((failed) => pauseMs(lost, failed, longest))).to.deep.equal([100, 100]);
  });
});
