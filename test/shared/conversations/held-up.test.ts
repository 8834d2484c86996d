import { expect } from 'chai';
import { findAcceptedChat } from '../../../gateway/chatapp/find-accepted.ts';
import { createChatAccepter } from '../../../shared/conversations/open.ts';
import { topUp } from '../../../shared/ledger/change.ts';
import { connectStore, type Store } from '../../../shared/mongo/connect.ts';
import { GroupAccepter } from '../../../shared/payment/accept.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { balanceOf } from '../../support/balance.ts';
import { CHAT_PRICES, makeTemplateDraft } from '../../support/chat.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { cutBefore } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { doneLate } from '../../support/mongo-wire/undo.ts';
import { silentLog } from '../../support/silent-log.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('conversations/open: an attempt that is held up on its way to the store', () => {
  let store: TestStore;
  let proxy: WireProxy;
  let cut: Store;
  before(async () => {
    store = await openTestStore();
    proxy = await startWireProxy(store.uri);
    cut = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: store.db.databaseName });
  });
  after(async () => {
    await cut.close();
    await proxy.close();
    await store.close();
  });

  /** The first attempt to pay is held up, and the credits go to something else meanwhile. Returns what sends it on. */
  function holdUp(account: AccountId): () => Promise<unknown> {
    let work: (() => Promise<unknown>) | undefined;
    const late = doneLate(store.db, (held) => {
      work = held;
    });
    proxy.inject({
      command: 'findAndModify',
      collection: 'accounts',
      happens: async (command, link) => {
        await new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog }).accept(account, [makeDraft()]);
        await late(command, link);
      },
    });
    return async () => work?.();
  }

  const accept = (account: AccountId, draft: ReturnType<typeof makeTemplateDraft>, payBy: Date) =>
    createChatAccepter({ db: cut.db, clock: systemClock, log: silentLog, prices: CHAT_PRICES }).accept(
      account,
      draft,
      payBy,
    );
  const inAnHour = () => new Date(Date.now() + 3_600_000);

  it('may pay after the caller was refused, and the refusal says so', async () => {
    const account = await makeAccount(store.db, CHAT_PRICES.businessCredits);
    const draft = makeTemplateDraft();
    const sendOn = holdUp(account);

    const outcome = await accept(account, draft, inAnHour());
    await topUp(store.db, account, 1, `late-${account}`);
    await sendOn();

    expect(outcome).to.include({ kind: 'insufficient_credits', mayStillPay: true });
    expect(await findAcceptedChat(store.db, account, draft._id), 'it has paid').to.include({ _id: draft._id });
    expect(await balanceOf(store.db, account)).to.equal(0);
  });

  it('is unknown when nothing more can be learned after it', async () => {
    const account = await makeAccount(store.db, CHAT_PRICES.businessCredits);
    holdUp(account);
    // The decision is made anew: the next debit's, of which the store has not heard.
    const refused = proxy.inject({ command: 'find', collection: 'accounts', after: 1, times: 2, happens: cutBefore });

    const outcome = await accept(account, makeTemplateDraft(), inAnHour());

    expect(refused.met).to.equal(2);
    expect(outcome).to.deep.equal({ kind: 'outcome_unknown' });
  });

  it('leaves a refusal final that came without one', async () => {
    const account = await makeAccount(store.db, 0);

    expect(await accept(account, makeTemplateDraft(), inAnHour())).not.to.have.property('mayStillPay');
  });
});
