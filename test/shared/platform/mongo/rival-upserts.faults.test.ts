import { RateCounter } from '../../../../gateway/access/counter.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { fenceIntents, LeaseLostError, writeIntent } from '../../../../shared/messages/settlement/intents.ts';
import { insertBy } from '../../../../shared/money/conversations/include.ts';
import { Lease } from '../../../../shared/platform/leases/lease.ts';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import { probeFeatures } from '../../../../shared/platform/mongo/feature-probe.ts';
import { systemClock as clock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { answer } from '../../../support/mongo-wire/framing.ts';
import type { Handler } from '../../../support/mongo-wire/link.ts';
import { startWireProxy } from '../../../support/mongo-wire/proxy.ts';
import { openTestStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

/** A server's possible answer to an upsert when another one of the same document came first. */
const notDone: Handler = async ({ message }, link) =>
  link.tell(answer(message, { ok: 0, code: 11_000, errmsg: 'E11000 duplicate key' }));
/** The same for one of a command's several statements. */
const noneDone: Handler = async ({ message }, link) =>
  link.tell(
    answer(message, { ok: 1, n: 0, nModified: 0, writeErrors: [{ index: 0, code: 11_000, errmsg: 'E11000' }] }),
  );
const notTold: Handler = async ({ message }, link) => {
  await link.ask(message);
  link.tell(answer(message, { ok: 1, value: null, lastErrorObject: { n: 1, updatedExisting: false } }));
};

for (const happens of [notDone, notTold]) {
  describe(`upserts of one document that come together, answered by ${happens === notDone ? 'a duplicate key' : 'nothing'}`, () => {
    const test = use(openTestStore);
    const proxy = use(() => startWireProxy(test.uri));
    const store = use(() =>
      connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: test.db.databaseName }),
    );
    const next = (collection: string) => proxy.inject({ command: 'findAndModify', collection, happens });

    it('a lease is taken, once', async () => {
      const lease = new Lease({ name: newId('req'), db: store.db, clock });
      next('leases');

      expect([await lease.keep(), lease.epoch]).to.deep.equal([true, 1]);
    });

    it('an event is counted, once', async () => {
      const counter = new RateCounter({ db: store.db, clock });
      const key = newId('req');
      next('rate');

      expect([(await counter.count(key, 70)).rank, (await counter.count(key, 70)).rank]).to.deep.equal([1, 2]);
    });

    if (happens === notTold) {
      it('a free chat message is stored', async () => {
        const message = { _id: newId('msg'), v: 0, state: 'queued' };
        next('messages');

        // Its other fields do not matter here.
        expect(await insertBy(store.db, message as ChatMessageDocument, new Date(Date.now() + 60_000))).to.equal(true);
      });
    }

    if (happens === notDone) {
      it('an intent is fenced, and an earlier holder writes no other', async () => {
        const lease = newId('req');
        proxy.inject({ command: 'update', collection: 'intents', happens: noneDone });

        await fenceIntents(store.db, { lease, epoch: 2 });
        const late: unknown = await writeIntent(store.db, { lease, epoch: 1 }, 'due', []).catch((error) => error);

        expect(late).to.be.instanceOf(LeaseLostError);
      });
    }

    it("the store's features are there", async () => {
      next('start_checks');

      expect(await probeFeatures(store.db)).to.be.instanceOf(Date);
    });
  });
}
