import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { bytesOf, MoveWorld } from '../scripts/ops/move-world.ts';
import { use } from '../support/use.ts';
import { Secantus } from './secantus.ts';

for (const server of ['rust', 'python'] as const) {
  describe(`all data, moved to SecantusDB (${server}) and back`, function () {
    this.timeout(600_000);
    const secantus = use(() => Secantus.start({ server }));
    let world: MoveWorld;
    before(async () => {
      const { uri } = secantus;
      const store = await connectStore({ mongodbUri: uri, dataDir: '', mongodbDatabase: newId('test') });
      world = await MoveWorld.open({ db: store.db, uri, close: () => store.close() });
    });
    after(async () => {
      await world?.close();
    });

    it('is the same, byte by byte', async () => {
      await world.fill(1_500);
      const { audit, ...before } = await bytesOf(world.source.db);

      const there = await world.export('--json');
      const atServer = await bytesOf(world.target.db);
      await world.source.db.dropDatabase();
      const from = [world.target.uri, '--database', world.target.db.databaseName];
      const back = await world.ops(world.source, 'store', 'import', ...from, '--json');
      const afterwards = await bytesOf(world.source.db);

      expect([there.code, there.err, back.code, back.err]).to.deep.equal([0, '', 0, '']);
      expect(atServer).to.deep.include(before);
      expect(afterwards).to.deep.include(before);
      for (const { audit: kept } of [atServer, afterwards]) expect(kept).to.include.members([...(audit ?? [])]);
      expect(JSON.parse(there.out)).to.include({ ledgers: 2, balances: 1_023 });
    });
  });
}
