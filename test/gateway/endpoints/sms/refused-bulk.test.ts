import request from 'supertest';
import { UNPAID_BYTES_MAX } from '../../../../gateway/endpoints/sms/paid-batch-store.ts';
import { batchCollection } from '../../../../shared/messages/batch.ts';
import { setAccountStatus } from '../../../../shared/money/accounts/store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { type AcceptOutcome, GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeBatch, makeEntries } from '../../../support/batches.ts';
import { makeKey, openGateway, type TestGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { startWireProxy } from '../../../support/mongo-wire/proxy.ts';
import { expectProblem } from '../../../support/problem.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

/** Requests for many recipients, which are stored first and then paid for. `more`: fields beyond a bulk request's. */
const ENDPOINTS = [
  { path: '/v2/send-bulk', more: {} },
  { path: '/v2/schedule', more: { schedule_time: new Date(Date.now() + 3_600_000).toISOString() } },
];
const STORED = ['batches', 'batch_chunks', 'idempotency', 'messages', 'schedules', 'ledger'];

describe('bulk requests that are refused after they were stored', () => {
  const store = useStore();
  let gateways: readonly TestGateway[];
  before(async () => {
    gateways = [await openGateway(store.db), await openGateway(store.db)];
  });
  after(async () => {
    for (const gateway of gateways) await gateway.close();
  });

  const to = makeEntries(1_200).map((entry) => entry.to);
  const bodyOf = (more: object) => ({ to, message: 'Sale today', sender: 'HARKRA', ...more });
  const caller = async (credits: number) => {
    const account = await makeAccount(store.db, credits);
    return { account, key: await makeKey(store.db, account) };
  };
  const post = (gateway: TestGateway | undefined, path: string, key: string, body: object) =>
    request(gateway?.url ?? '')
      .post(path)
      .set('Authorization', `Bearer ${key}`)
      .set('Idempotency-Key', newId('req'))
      .send(body);
  const counts = async () => {
    const all = await Promise.all(STORED.map((name) => store.db.collection(name).countDocuments({})));
    return Object.fromEntries(STORED.map((name, i) => [name, all[i]]));
  };
  /** A gateway whose account is suspended between the first check of its credits and the debit. */
  const openTooLate = async (account: AccountId, db = store.db): Promise<TestGateway> => {
    const suspend = () => setAccountStatus(store.db, account, 'suspended');
    class TooLate extends GroupAccepter {
      override acceptBatch(...order: Parameters<GroupAccepter['acceptBatch']>): Promise<AcceptOutcome> {
        return suspend().then(() => super.acceptBatch(...order));
      }
      override book(...order: Parameters<GroupAccepter['book']>): Promise<AcceptOutcome> {
        return suspend().then(() => super.book(...order));
      }
    }
    return openGateway(db, { accepter: new TooLate({ db, clock: systemClock, log: silentLog }) });
  };

  for (const { path, more } of ENDPOINTS) {
    describe(`POST ${path}`, () => {
      it('50 at the same moment over two gateways, with the credits for one: what the 49 stored is gone', async () => {
        const { account, key } = await caller(1_200);
        const before = await counts();

        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, i) => post(gateways[i % 2], path, key, bodyOf(more))),
        );

        const refused = answers.filter(({ status }) => status !== 200);
        expect(refused).to.have.length(49);
        for (const answer of refused) expectProblem(answer, 'insufficient_credits');
        const after = await counts();
        expect(after).to.include({
          batches: Number(before.batches) + 1,
          batch_chunks: Number(before.batch_chunks) + 3,
          idempotency: Number(before.idempotency) + 1,
        });
        expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 0, problems: [] });
      });

      it('leaves nothing when the account is suspended before its debit', async () => {
        const { account, key } = await caller(5_000);
        const late = await openTooLate(account);
        const before = await counts();

        expectProblem(await post(late, path, key, bodyOf(more)), 'account_suspended');

        expect(await counts()).to.deep.equal(before);
        await late.close();
      });

      it('keeps it until its time to pay is over when a lost debit may still come', async () => {
        const { account, key } = await caller(5_000);
        const proxy = await startWireProxy(store.uri);
        const cut = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: store.db.databaseName });
        const late = await openTooLate(account, cut.db);
        const lost = proxy.loseAnswerTo('update', 'accounts');

        expectProblem(await post(late, path, key, bodyOf(more)), 'account_suspended');

        expect(lost.met).to.equal(1);
        const kept = await batchCollection(store.db).findOne({ account });
        expect(kept).to.include({ state: 'unpaid' });
        expect(kept?.unpaid?.payBy).to.be.greaterThan(new Date());
        await late.close();
        await cut.close();
        await proxy.close();
      });

      it('429 when the account holds more unpaid than it may, wherever that was stored; nothing stays', async () => {
        const { account, key } = await caller(5_000);
        const other = makeBatch(account, 1, {
          unpaid: { payBy: new Date(Date.now() + 15_000), bytes: UNPAID_BYTES_MAX - 1_000 },
        });
        await batchCollection(store.db).insertOne(other);
        const before = await counts();

        const answer = await post(gateways[0], path, key, bodyOf(more));

        expectProblem(answer, 'too_much_unpaid');
        expect(answer.headers).to.have.property('retry-after', '2');
        expect(await counts()).to.deep.equal(before);
        await batchCollection(store.db).deleteOne({ _id: other._id });
        expect((await post(gateways[1], path, key, bodyOf(more))).status).to.equal(200);
      });
    });
  }
});
