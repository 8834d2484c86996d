import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { connectStore, type Store } from '../../../../shared/platform/mongo/connect.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { balanceOf } from '../../../support/balance.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { startWireProxy } from '../../../support/mongo-wire/proxy.ts';
import { linesOf } from '../../../support/queue.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

/** Only our code repeats a write, never the driver, even if the address asks for it (decision 3). */
describe('a write of an SMS whose answer is lost', () => {
  const store = useStore();
  const proxy = use(() => startWireProxy(store.uri));
  let cut: Store;
  before(async () => {
    const mongodbUri = `${proxy.uri}${proxy.uri.includes('?') ? '&' : '/?'}retryWrites=true`;
    cut = await connectStore({ mongodbUri, dataDir: '', mongodbDatabase: store.db.databaseName });
  });
  after(async () => {
    await cut.close();
  });

  for (const [name, command, collection] of [
    ['the debit', 'update', 'accounts'],
    ['the message', 'insert', 'queue'],
    ['the ledger entry', 'insert', 'ledger'],
  ] as const) {
    it(`is done once: ${name}`, async () => {
      const account = await makeAccount(store.db, 5);
      const accepter = new GroupAccepter({ db: cut.db, clock: systemClock, log: silentLog });
      const lost = proxy.loseAnswerTo(command, collection);

      const outcome = await accepter.accept(account, [makeDraft()]);

      expect(outcome).to.deep.equal({ kind: 'accepted', credits: 1 });
      await eventually(() => lost.met === 1, 'its answer is lost');
      const entries = () => store.db.collection('ledger').countDocuments({ account });
      await eventually(async () => (await entries()) === 2, 'the top-up and the debit are entered');
      expect(await balanceOf(store.db, account)).to.equal(4);
      expect(await linesOf(store.db, account)).to.have.length(1);
      expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
    });
  }
});
