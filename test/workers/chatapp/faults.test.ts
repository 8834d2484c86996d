import type { InboundItem } from '../../../shared/messages/chat-inbox.ts';
import { connectStore } from '../../../shared/platform/mongo/connect.ts';
import { NUMBER } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import type { Injected } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { makeItem } from './make.ts';
import { chatWorld, customers } from './world.ts';

/** The worker's connection loses commands or answers; the test's own does not. */
describe('chatapp worker: a store that loses answers', () => {
  const world = chatWorld();
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function startWorker(): Promise<WireProxy> {
    const { store } = world;
    const proxy = await startWireProxy(store.uri);
    closing.push(() => proxy.close());
    const way = await connectStore({
      mongodbUri: proxy.uri,
      dataDir: '',
      mongodbDatabase: store.db.databaseName,
    });
    closing.push(() => way.close());
    const worker = await world.startWorker({ db: way.db });
    closing.push(() => worker.stop());
    return proxy;
  }

  it('the answer to a claim is lost: what it took leaves all the same, once', async () => {
    const account = await world.openAccount();
    const proxy = await startWorker();
    await eventually(() => account.provider.lists.length > 0, 'the account is served');
    const lost = proxy.loseAnswerTo('update', 'messages');

    await world.queue(account, ...customers(20).map((to) => ({ to })));

    await world.allIn(account, 'sent', 20);
    expect(lost.met).to.equal(1);
    expect(new Set(account.provider.sends.map(({ ours }) => ours)).size).to.equal(20);
    expect(account.provider.sends).to.have.length(20);
  });

  it('the answer to a claim is lost: what may not leave is refused all the same, and never sent', async () => {
    const account = await world.openAccount();
    const proxy = await startWorker();
    await eventually(() => account.provider.lists.length > 0, 'the account is served');
    const lost = proxy.loseAnswerTo('update', 'messages');

    await world.queue(account, { content: { kind: 'text', text: 'outside the session' } });

    await world.allIn(account, 'rejected', 1);
    expect(lost.met).to.equal(1);
    expect(account.provider.sends).to.have.length(0);
  });

  it('the store is away when a provider has answered: the answer is stored when it is back, and nothing sent again', async () => {
    let proxy: WireProxy | undefined;
    let lost: Injected | undefined;
    const account = await world.openAccount((_, __, accept) => {
      // The claims are answered by now, so the next updates are the outcomes.
      lost ??= proxy?.loseAll('update', 'messages');
      accept();
    });
    proxy = await startWorker();
    await world.queue(account, {}, { to: '918888888888' });
    await eventually(() => (lost?.met ?? 0) >= 2, 'outcomes could not be stored');
    expect(await world.messages.countDocuments({ state: 'sent' })).to.equal(0);

    const reached = account.provider.sends.length;
    account.provider.answer = (_, __, accept) => accept();
    lost?.end();

    await world.allIn(account, 'sent', 2);
    expect(reached).to.be.within(1, 2);
    expect(account.provider.sends).to.have.length(2);
    await eventually(async () => (await world.events(account)).length === 2, 'their events');
  });

  for (const [command, collection] of [
    ['insert', 'messages'],
    ['insert', 'deliveries'],
    ['update', 'chat_inbox'],
  ] as const) {
    it(`the answer to "${command} ${collection}" is lost: a customer’s message is there once and told once`, async () => {
      const account = await world.openAccount();
      const proxy = await startWorker();
      await eventually(() => account.provider.lists.length > 0, 'the account is served');
      const lost = proxy.loseAnswerTo(command, collection);
      const what: InboundItem = {
        kind: 'message',
        number: NUMBER,
        upstreamId: 'wamid.in',
        from: '919999999999',
        sentAt: new Date(),
        type: 'text',
        body: 'hi',
      };

      await world.post([makeItem(account.id, what)]);

      await eventually(
        async () => (await world.store.db.collection('chat_inbox').countDocuments({ due: { $exists: true } })) === 0,
        'it is worked off',
      );
      expect(lost.met).to.equal(1);
      expect(await world.store.db.collection('messages').countDocuments({ direction: 'in' })).to.equal(1);
      expect((await world.events(account)).map(({ event }) => event)).to.deep.equal(['message.received']);
    });
  }
});
