import { type Document, MongoClient } from 'mongodb';
import { connectStore, type Store } from '../../shared/platform/mongo/connect.ts';
import { ensureIndexes } from '../../shared/platform/mongo/indexes.ts';
import { eventually } from '../support/eventually.ts';
import { expectClear, expectWhole } from '../support/trouble-answers.ts';
import { openTroubleWorld, type TroubleAnswer, type TroubleWorld } from '../support/trouble-world.ts';
import { use } from '../support/use.ts';
import { Secantus } from './secantus.ts';

/** One such wait takes the Python server up to 42 s when thirty jobs share two cores. */
const PATIENCE_MS = 240_000;
const CALLERS = 4;
const SOME = 8;

/** Faults that the server itself can cause: fail points, as in the drivers' own tests, and a step-down. */
describe('the product on SecantusDB: fail points and a step-down under load', function () {
  this.timeout(PATIENCE_MS * 3);
  const secantus = use(() => Secantus.start({ server: 'python' }));
  let client: MongoClient;
  let own: Store;
  let world: TroubleWorld;
  const answers: TroubleAnswer[] = [];
  before(async () => {
    // The fail points are for the app `harkara`, so they spare this client.
    client = await new MongoClient(secantus.uri, { appName: 'test' }).connect();
    // After an error the driver waits for the server's next hello. A mongod sends one when it is primary again; a fail
    // point triggers none, so the driver must poll every 500 ms.
    const uri = withOption(secantus.uri, 'heartbeatFrequencyMS=500');
    own = await connectStore({ mongodbUri: uri, dataDir: '', mongodbDatabase: 'failover' });
    await ensureIndexes(own.db);
    world = await openTroubleWorld(uri, 'failover');
    world.smsc.release();
  });
  after(async () => {
    await world?.close();
    await own?.close();
    await client?.close();
  });

  const accepted = () => answers.filter(({ status }) => status === 200).length;
  const more = (): Promise<unknown> => {
    const wanted = accepted() + SOME;
    return eventually(() => accepted() >= wanted, 'requests are accepted', PATIENCE_MS);
  };
  async function underLoad(trouble: () => Promise<unknown>): Promise<void> {
    let over = false;
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!over) answers.push(await world.send());
    });
    const troubled = (async () => {
      await more();
      await trouble();
      await more();
    })().finally(() => {
      over = true;
    });
    await Promise.all([troubled, ...callers]);
    expectClear(answers);
    await expectWhole(world, own.db, answers);
  }
  const failPoint = (mode: Document | string, data: Document = {}) =>
    client.db('admin').command({ configureFailPoint: 'failCommand', mode, data: { appName: 'harkara', ...data } });

  const WRITES = ['insert', 'update', 'findAndModify'];
  const stepsDown = { code: 11_602, codeName: 'InterruptedDueToReplStateChange', errmsg: 'fail point' };
  it('its fail points meet the connections of the product, and no others', async () => {
    await failPoint({ times: 1 }, { failCommands: ['insert'], errorCode: 10_107 });

    await client.db('failover').collection('things').insertOne({});
    const error: unknown = await own.db
      .collection('things')
      .insertOne({})
      .catch((reason: unknown) => reason);

    expect(error).to.have.property('code', 10_107);
  });

  for (const [what, data] of [
    ['10107: not primary', { failCommands: [...WRITES, 'find'], errorCode: 10_107 }],
    ['11602: interrupted by a step-down', { failCommands: WRITES, errorCode: 11_602 }],
    ['91: shutting down', { failCommands: WRITES, errorCode: 91 }],
    ['462: overloaded', { failCommands: [...WRITES, 'find'], errorCode: 462 }],
    ['a connection that is closed', { failCommands: [...WRITES, 'find'], closeConnection: true }],
    ['done, and perhaps not on a majority', { failCommands: WRITES, writeConcernError: stepsDown }],
  ] as const) {
    it(`${what}, eight times: all is whole`, async () => {
      await underLoad(async () => {
        await failPoint({ times: 8 }, data);
        await more();
        await failPoint('off');
      });
    });
  }

  it('a step-down that is forced: it takes nothing for a second, and all go on by themselves', async () => {
    await underLoad(() => client.db('admin').command({ replSetStepDown: 1, force: true }));

    expect(accepted()).to.be.greaterThan(0);
  });
});

function withOption(uri: string, option: string): string {
  return uri + (uri.includes('?') ? '&' : '/?') + option;
}
