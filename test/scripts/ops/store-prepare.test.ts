import { expect } from 'chai';
import { INDEXES } from '../../../shared/mongo/indexes.ts';
import { newestSchema } from '../../../shared/schema/migrate.ts';
import { setVersion } from '../../../shared/schema/version-store.ts';
import { refused } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { OpsWorld } from '../../support/ops-world.ts';

const NEWEST = newestSchema();

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

  it('changes nothing in a store that is newer', async () => {
    await setVersion(world.store.db, undefined, NEWEST + 1);
    await messages().dropIndex('recipient');

    const { code, err } = await prepare();

    expect(code).to.equal(1);
    expect(err).to.include(`schema ${NEWEST + 1}`);
    expect(await namesOf()).not.to.include('recipient');
  });
});
