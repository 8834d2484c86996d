import type { Document } from 'mongodb';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import { checkStore } from '../../../../shared/platform/mongo/feature-probe.ts';
import { type Clock, systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { StartError } from '../../../../shared/platform/runtime/lifecycle.ts';
import { openScriptedMongo, type ScriptedAnswer } from '../../../support/scripted-mongo.ts';
import { openTestStore } from '../../../support/store.ts';

const TROUBLE_MS = 300;

interface Peer {
  readonly hello?: Document;
  readonly answer?: (command: Document) => ScriptedAnswer;
  /** Added to the address. */
  readonly options?: string;
}

/** Connects to a server that answers like this, and checks it. Returns the warnings, and the commands that it got. */
async function start({ hello = {}, answer = asMongo, options = '' }: Peer, clock: Clock = systemClock) {
  let address = '';
  const server = await openScriptedMongo({
    hello: () => (hello.setName === undefined ? hello : { hosts: [address], ...hello, me: address }),
    answer,
  });
  address = new URL(server.uri).host;
  const mongodbUri = `${server.uri}?${options}`;
  try {
    const store = await connectStore({ mongodbUri, dataDir: '', mongodbDatabase: 'x' }, 0);
    try {
      return { warnings: await checkStore(store, clock, TROUBLE_MS), commands: server.commands };
    } finally {
      await store.close();
    }
  } finally {
    await server.close();
  }
}

/** Answers the probe as MongoDB does. */
function asMongo(command: Document): ScriptedAnswer {
  const [name] = Object.keys(command);
  switch (name) {
    case 'buildInfo':
      return { version: '7.0.14' };
    case 'findAndModify':
      return { value: probed() };
    case 'insert':
      return { n: 2, writeErrors: [{ index: 1, code: 11_000, errmsg: 'E11000' }] };
    case 'find':
      return { cursor: { id: 7n, ns: 'x.start_checks', firstBatch: [{ _id: 'probe' }] } };
    case 'getMore':
      return { cursor: { id: 0n, ns: 'x.start_checks', nextBatch: [{ _id: 'place:1' }, { _id: 'place:3' }] } };
    default:
      return { n: 1, nModified: 1 };
  }
}

const probed = (at = new Date()): Document => ({
  ...{ _id: 'probe', at, merged: { at, of: '$at' }, later: new Date(at.getTime() + 1_000), due: 1, sum: 1 },
  parts: { first: 1, second: { of: 1 } },
});

const three = ['a:1', 'b:1', 'c:1'];
const fits: readonly [what: string, peer: Peer, warns: readonly RegExp[]][] = [
  ['a replica set of three', { hello: { setName: 'rs0', hosts: three }, options: 'directConnection=true' }, []],
  ['a sharded cluster', { hello: { msg: 'isdbgrid' } }, []],
  ['a standalone', {}, [/^HARKARA_MONGODB_URI leads to a standalone server: there is no failover/]],
  ['a set of one', { hello: { setName: 'rs0' } }, [/^The replica set rs0 has one member: there is no failover/]],
  [
    'a set with an arbiter',
    { hello: { setName: 'rs0', hosts: ['a:1', 'b:1'], arbiters: ['c:1'] }, options: 'directConnection=true' },
    [/^The replica set rs0 has an arbiter: .* Replace it by a member with data\.$/],
  ],
  [
    'one whose version nobody may ask for',
    {
      hello: { msg: 'isdbgrid' },
      answer: (command) =>
        'buildInfo' in command ? { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'no' } : asMongo(command),
    },
    [],
  ],
];

const direct = 'directConnection=true';
const answering = (to: string, told: Document) => (command: Document) =>
  Object.keys(command)[0] === to ? told : asMongo(command);
const unfits: readonly [what: string, peer: Peer, says: RegExp][] = [
  [
    'a version that is too old',
    { hello: { maxWireVersion: 13 }, answer: answering('buildInfo', { version: '5.0.31' }) },
    /speaks as MongoDB 5\.0\.31 does\. Harkara needs 6\.0 or newer: upgrade it\.$/,
  ],
  ['a version that the driver does not know any more', { hello: { maxWireVersion: 6 } }, /MongoDB 4\./],
  [
    'a secondary, named directly',
    { hello: { setName: 'rs0', isWritablePrimary: false, secondary: true }, options: direct },
    /leads straight to a member of the replica set rs0 that is not the primary \(127\.0\.0\.1:\d+\)/,
  ],
  [
    'an arbiter, named directly',
    { hello: { setName: 'rs0', isWritablePrimary: false, arbiterOnly: true }, options: direct },
    /leads straight to an arbiter \(127\.0\.0\.1:\d+\), which stores nothing/,
  ],
  [
    'a member of a set that nobody initiated',
    { hello: { isreplicaset: true, isWritablePrimary: false }, options: direct },
    /run rs\.initiate\(\)/,
  ],
  [
    'a set without a primary',
    { hello: { setName: 'rs0', isWritablePrimary: false, secondary: true }, options: 'replicaSet=rs0' },
    /the replica set rs0 has no primary \(127\.0\.0\.1:\d+ is secondary\)/,
  ],
  [
    'a set of another name',
    { hello: { setName: 'rs1' }, options: 'replicaSet=rs0' },
    /no server in it belongs to the replica set rs0/,
  ],
  [
    'a user who may not write',
    { answer: answering('findAndModify', { ok: 0, code: 13, errmsg: 'not authorized' }) },
    /may not write to the database `x`: give it the role readWrite/,
  ],
  [
    'a user of Atlas who may not write',
    { answer: answering('findAndModify', { ok: 0, code: 8_000, errmsg: 'user is not allowed to do action [update]' }) },
    /may not write to the database `x`: give it the role readWrite/,
  ],
  [
    'a server without $$NOW in updates',
    { answer: answering('findAndModify', { ok: 0, code: 9, errmsg: 'The $$NOW operator cannot be used' }) },
    /lacks what Harkara needs: `\$\$NOW` \(The \$\$NOW operator cannot be used\)\. AWS DocumentDB and Azure Cosmos DB are not enough: run MongoDB 6\.0 or newer\.$/,
  ],
  [
    'a server that takes a pipeline for something else',
    { answer: answering('findAndModify', { value: { ...probed(), parts: { second: { of: 1 } } } }) },
    /lacks what Harkara needs: fields in fields \(it gives another result\)\. AWS/,
  ],
  [
    'a server that leaves $expr out',
    { answer: answering('update', { n: 2, nModified: 2 }) },
    /lacks what Harkara needs: `\$expr` in filters \(it ignores `\$expr`\)/,
  ],
  [
    'a server that does not know the time inside an object',
    {
      answer: (command) =>
        JSON.stringify(command.update ?? {}).includes('mergeObjects') && 'findAndModify' in command
          ? { ok: 0, code: 2, errmsg: 'Use of undefined variable: NOW' }
          : asMongo(command),
    },
    /lacks what Harkara needs: `\$\$NOW` inside `\$mergeObjects` \(Use of undefined variable: NOW\)\. AWS/,
  ],
  [
    'a server that cannot say what it does not know',
    { answer: answering('createIndexes', { ok: 0, code: 50_463_173, errmsg: 'unexpected' }) },
    /fails at what Harkara needs: partial and unique indexes \(unexpected\)\. If it is MongoDB, its log says why.*; AWS/,
  ],
  [
    'a server without partial indexes',
    { answer: answering('createIndexes', { ok: 0, code: 67, errmsg: 'not supported' }) },
    /lacks what Harkara needs: partial and unique indexes \(not supported\)/,
  ],
  [
    'a server that stores twice what must be there once',
    { answer: answering('insert', { n: 3 }) },
    /lacks what Harkara needs: unique indexes of some documents only \(it stores one twice\)/,
  ],
  [
    'a server that takes a partial index for a whole one',
    {
      answer: answering('getMore', { cursor: { id: 0n, ns: 'x.start_checks', nextBatch: [{ _id: 'place:1' }] } }),
    },
    /lacks what Harkara needs: cursors that are read in several pieces \(it does not show place:3\)/,
  ],
  [
    'a server that forgets its cursors',
    { answer: answering('getMore', { ok: 0, code: 43, errmsg: 'cursor id 7 not found' }) },
    /lacks what Harkara needs: cursors that are read in several pieces \(cursor id 7 not found\)/,
  ],
  [
    'a server that fails when two make one document',
    {
      answer: (command) =>
        'findAndModify' in command && String(command.query._id).startsWith('race:')
          ? { ok: 0, code: 1, errmsg: 'tuple concurrently updated' }
          : asMongo(command),
    },
    /fails at what Harkara needs: upserts of one `_id` at the same moment \(tuple concurrently updated\)/,
  ],
  ...[79, 100].map((code): (typeof unfits)[number] => [
    `a write concern that cannot be satisfied (${code})`,
    {
      answer: answering('findAndModify', {
        value: probed(),
        writeConcernError: { code, errmsg: 'not enough data-bearing nodes' },
      }),
    },
    /cannot acknowledge a write by a majority \(not enough data-bearing nodes\)/,
  ]),
];

describe('the deployment of the store', () => {
  for (const [what, peer, warns] of fits) {
    it(`is taken: ${what}${warns.length === 0 ? '' : ', with a warning'}`, async () => {
      const { warnings, commands } = await start(peer);

      expect(warnings).to.have.length(warns.length);
      for (const [i, says] of warns.entries()) expect(warnings[i]).to.match(says);
      expect(commands.length, 'commands of a start').to.be.at.most(12);
    });
  }

  for (const [what, peer, says] of unfits) {
    it(`is refused in one sentence: ${what}`, async () => {
      const error = await start(peer).catch((reason: unknown) => reason);

      expect(error).to.be.instanceOf(StartError);
      expect(String(error)).to.match(says);
    }).timeout(30_000);
  }

  it('is waited for when it has no primary yet', async () => {
    let asked = 0;
    const server = await openScriptedMongo({
      hello: () => {
        asked += 1;
        return { setName: 'rs0', hosts: three, isWritablePrimary: asked > 6, secondary: asked <= 6 };
      },
      answer: asMongo,
    });
    const mongodbUri = `${server.uri}?${direct}`;

    const store = await connectStore({ mongodbUri, dataDir: '', mongodbDatabase: 'x' }, 30_000);

    expect(store.warnings).to.deep.equal([]);
    await store.close();
    await server.close();
  });

  for (const [ms, told] of [
    [-20_000, 'is 20.0 s ahead of that of this machine'],
    [20_000, 'is 20.0 s behind that of this machine'],
  ] as const) {
    it(`is told apart by its clock: this machine's is ${ms} ms off`, async () => {
      const fixed = new Date();
      const clock = { now: () => new Date(fixed.getTime() + ms), monotonicMs: () => 0 };
      const answer = answering('findAndModify', { value: probed(fixed) });

      const { warnings } = await start({ hello: { msg: 'isdbgrid' }, answer }, clock);

      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include(told).and.to.include('NTP');
    });
  }

  it('passes on the real one, also when many processes start at once', async () => {
    const store = await openTestStore();

    const checks = Array.from({ length: 8 }, () => checkStore({ db: store.db, warnings: [] }, systemClock));

    expect(await Promise.all(checks)).to.deep.equal(checks.map(() => []));
    await store.close();
  });
});
