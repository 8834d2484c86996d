import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import { answer } from '../../../support/mongo-wire/framing.ts';
import type { Handler } from '../../../support/mongo-wire/link.ts';
import { startWireProxy } from '../../../support/mongo-wire/proxy.ts';
import { ReceiptWorld, receipt } from '../../../support/receipt-world.ts';
import { use } from '../../../support/use.ts';

describe('ReceiptSettler: a store that refuses its user', () => {
  const world = use(() => ReceiptWorld.open());
  beforeEach(() => world.begin());

  for (const code of [13, 18]) {
    it(`has taken no receipt (${code})`, async () => {
      const proxy = await startWireProxy(world.store.uri);
      const mongodbDatabase = world.store.db.databaseName;
      const store = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase });
      const happens: Handler = async ({ message }, link) => link.tell(answer(message, { ok: 0, code, errmsg: 'no' }));
      const fault = proxy.inject({ command: 'find', collection: 'messages', times: Infinity, happens });
      const message = await world.put();
      const receipts = world.settler(store.db);

      const refused: unknown = await receipts.add(receipt('1')).catch((error: unknown) => error);
      fault.end();
      const again = await receipts.add(receipt('1'));
      await store.close();
      await proxy.close();

      expect(refused).to.be.instanceOf(MongoServerError).and.include({ code });
      expect([again, await world.state(message)]).to.deep.equal(['matched', 'delivered']);
    });
  }
});
