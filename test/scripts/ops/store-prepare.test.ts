import { expect } from 'chai';
import { INDEXES } from '../../../shared/mongo/indexes.ts';
import { STEPS } from '../../../shared/schema/steps.ts';
import { setVersion } from '../../../shared/schema/version-store.ts';
import { refused } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { OpsWorld } from '../../support/ops-world.ts';

const NEWEST = STEPS.at(-1)?.to ?? 1;

describe('npm run ops: store prepare', () => {
  let world: OpsWorld;
  let proxy: WireProxy;
  beforeEach(async () => {
    world = await OpsWorld.open();
    proxy = await startWireProxy(world.store.uri);
  });
  afterEach(async () => {
    await proxy.close();
    await world.close();
  });

  const messages = () => world.store.db.collection('messages');
  const prepare = () => world.run('store prepare', { MONGODB_URI: proxy.uri });
  const schema = async () =>
    (await world.store.db.collection<{ _id: string; version: number }>('store_state').findOne({ _id: 'schema' }))
      ?.version;
  const namesOf = async () => (await messages().indexes()).map(({ name }) => name);

  it('builds what the new version needs, says how long that takes, and when it is over', async () => {
    await setVersion(world.store.db, undefined, NEWEST);
    await messages().insertOne({ text: 'of the version before' });
    await messages().dropIndex('recipient');
    proxy.inject({ command: 'createIndexes', collection: 'messages', happens: refused('IndexBuildAlreadyInProgress') });

    const { code, out, err } = await prepare();

    expect(code, err).to.equal(0);
    expect(err).to.match(/^Building indexes of messages \(.+\): \d+ s so far\.$/m);
    expect(out).to.include(`All ${INDEXES.length} indexes of this version are there. Start or reload`);
    const wanted = INDEXES.filter(({ collection }) => collection === 'messages').map(({ options }) => options.name);
    expect(await namesOf()).to.have.members(['_id_', ...wanted]);
  });

  it('leaves the migration to the start, and says so', async () => {
    await setVersion(world.store.db, undefined, NEWEST - 1);

    const { code, out } = await prepare();

    expect(code).to.equal(0);
    expect(out).to.include(`from schema ${NEWEST - 1} to ${NEWEST}`);
    expect(await schema()).to.equal(NEWEST - 1);
  });

  it('changes nothing in a store that is newer', async () => {
    await setVersion(world.store.db, undefined, NEWEST + 1);
    await messages().dropIndex('recipient');

    const { code, err } = await prepare();

    expect(code).to.equal(1);
    expect(err).to.include(`schema ${NEWEST + 1}`);
    expect(await namesOf()).not.to.include('recipient');
  });
});
