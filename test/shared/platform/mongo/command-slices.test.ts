import { expect } from 'chai';
import { Binary, BSON, type Db, MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import { commandSlices } from '../../../../shared/platform/mongo/command-slices.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { updateEach } from '../../../../shared/platform/mongo/update-each.ts';
import { useStore } from '../../../support/store.ts';

/** mongod refuses a larger command, whatever it is. */
const COMMAND_BYTES_MAX = 16 * 1024 * 1024;

describe('commands of many documents', () => {
  const store = useStore();

  /** The same store, and the size of each command to it. */
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
