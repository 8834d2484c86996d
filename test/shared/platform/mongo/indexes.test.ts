import { type Db, type Document, MongoClient } from 'mongodb';
import type { DeliveryState } from '../../../../shared/events/webhooks/delivery.ts';
import type { BatchState } from '../../../../shared/messages/batch.ts';
import { STATES } from '../../../../shared/messages/document/status.ts';
import { type Building, buildIndexes } from '../../../../shared/platform/mongo/build-indexes.ts';
import { ensureIndexes, INDEXES, RARE_STATES } from '../../../../shared/platform/mongo/indexes.ts';
import { StartError } from '../../../../shared/platform/runtime/lifecycle.ts';
import { openScriptedMongo, type ScriptedAnswer, type ScriptedMongo } from '../../../support/scripted-mongo.ts';
import { useStore } from '../../../support/store.ts';

describe('the indexes of the product', () => {
  const store = useStore();

  const names = async (): Promise<readonly string[]> =>
    (await store.db.collection('messages').indexes()).map(({ name }) => String(name));

  it('are made, also by several processes at once', async () => {
    await Promise.all([ensureIndexes(store.db), ensureIndexes(store.db)]);
    await ensureIndexes(store.db);

    const wanted = INDEXES.filter(({ collection }) => collection === 'messages').map(({ options }) => options.name);
    expect(await names()).to.have.members(['_id_', ...wanted]);
  });

  it('have filters of forms that every server of the protocol knows', () => {
    const forms = INDEXES.flatMap(({ options: { partialFilterExpression = {} } }) =>
      Object.values(partialFilterExpression).flatMap((test) =>
        typeof test === 'object' && test !== null ? Object.keys(test) : ['equal'],
      ),
    );

    expect(new Set(forms)).to.deep.equal(new Set(['equal', '$exists', '$gte', '$lte']));
  });

  const inRanges = (collection: string, states: readonly string[]) =>
    INDEXES.filter((index) => index.collection === collection).flatMap(
      ({ options: { name, partialFilterExpression } }) => {
        const test: unknown = partialFilterExpression?.state;
        if (typeof test !== 'object' || test === null) return [];
        const { $gte = '', $lte = '\uffff' }: { $gte?: string; $lte?: string } = test;
        return states.filter((state) => state >= $gte && state <= $lte).map((state) => [state, name]);
      },
    );

  it('take in the states of their lists and no others', () => {
    const batches: readonly BatchState[] = ['unpaid', 'booked', 'paid', 'split', 'stopping', 'stopped'];
    const deliveries: readonly DeliveryState[] = ['due', 'waiting', 'done', 'exhausted'];

    expect(inRanges('messages', Object.keys(STATES))).to.have.deep.members(Object.entries(RARE_STATES));
    expect(inRanges('deliveries', deliveries)).to.have.deep.members([
      ['waiting', 'failed_tries'],
      ['exhausted', 'failed_tries'],
    ]);
    expect(inRanges('batches', batches).map(([state]) => state)).to.have.members([
      'paid',
      'split',
      'stopping',
      'stopped',
    ]);
  });
});

describe('building indexes', () => {
  let server: ScriptedMongo;
  let client: MongoClient;
  let db: Db;
  let answer: (command: Document) => ScriptedAnswer = () => undefined;
  let hello: Document = {};
  beforeEach(async () => {
    answer = () => undefined;
    hello = {};
    server = await openScriptedMongo({ answer: (command) => answer(command), hello: () => hello });
    open();
  });
  afterEach(async () => {
    await client.close();
    await server.close();
  });

  /** `socketTimeoutMS`: when a connection is given up; 0: never. */
  function open(socketTimeoutMS = 0): void {
    client = new MongoClient(server.uri, { directConnection: true, socketTimeoutMS });
    db = client.db('x');
  }

  const indexes = [
    { name: 'one', key: { a: 1 } as const },
    { name: 'two', key: { b: 1, c: 1 } as const, unique: true },
  ];
  const built = () => server.commands.filter((command) => 'createIndexes' in command);
  const build = async (): Promise<readonly Building[]> => {
    const told: Building[] = [];
    await buildIndexes(db, 'things', indexes, { quorum: true, tell: (building) => told.push(building) });
    return told;
  };

  it('is awaited beyond the time after which a connection is given up, and says so meanwhile', async () => {
    await client.close();
    open(2_000);
    answer = () => (built().length < 3 ? 'silent' : {});

    const told = await build();

    expect(told).to.have.length(2);
    for (const one of told) expect(one).to.deep.include({ collection: 'things', indexes: 'one, two' });
    expect(built()).to.have.length(3);
  });

  it('joins a build that another process began', async () => {
    answer = () => (built().length < 2 ? { ok: 0, code: 285, errmsg: 'already in progress' } : {});

    expect(await build()).to.have.length(1);
  });

  for (const [code, says] of [
    [85, /^The index `two` of `things` cannot be built\. Another index of `things` has the same fields \(b, c\)/],
    [86, /dropIndex\('two'\) and start again\.$/],
    [276, /The server ended the build/],
    [11_000, /Several documents of `things` have the same b, c: keep one of them/],
    [13, /give it the role readWrite/],
    [67, /does not take this kind of index: run MongoDB 6\.0 or newer\.$/],
    [72, /^The index `two` of `things` cannot be built\. The server says: no$/],
  ] as const) {
    it(`names the index and the way out when the server refuses it with ${code}`, async () => {
      answer = ({ indexes: wanted }) =>
        wanted?.some(({ name }: Document) => name === 'two') ? { ok: 0, code, errmsg: 'no' } : {};

      const error = await build().catch((reason: unknown) => reason);

      expect(error).to.be.instanceOf(StartError);
      expect(error).to.have.property('message').that.matches(says);
    });
  }

  for (const [what, face, quorum] of [
    ['a standalone', {}, undefined],
    ['a replica set', { setName: 'rs0', hosts: ['127.0.0.1:1'] }, 'majority'],
    ['a cluster', { msg: 'isdbgrid' }, 'majority'],
  ] as const) {
    it(`on ${what}: ${quorum === undefined ? 'one server builds' : 'a majority of the members is enough'}`, async () => {
      hello = face;
      await ensureIndexes(db);

      expect(built().length).to.be.greaterThan(10);
      for (const { commitQuorum } of built()) expect(commitQuorum).to.equal(quorum);
    });
  }
});
