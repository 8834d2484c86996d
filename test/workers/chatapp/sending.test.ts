import { chatMessageKey, type ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { eventually } from '../../support/eventually.ts';
import { graphError, json, type ProviderServer } from './provider-server.ts';
import { chatWorld, customers } from './world.ts';

function refusing(code: number, status = 400): ProviderServer['answer'] {
  return (_, res) => json(res, status, graphError(code));
}

describe('chatapp worker: sending', () => {
  const world = chatWorld();

  it('a queued message leaves once, is sent with the provider’s id, and its event is told', async () => {
    const account = await world.openAccount();
    const [message] = await world.queue(account, { reference: 'order 7' });
    await world.startWorker();

    const sent = await world.until(message?._id ?? 'msg_', ({ state }) => state === 'sent');

    const [send] = account.provider.sends;
    expect(account.provider.sends).to.have.length(1);
    expect(send).to.include({ path: '/v23.0/1055/messages', to: sent.to, ours: sent._id });
    expect(sent.parts).to.deep.equal([{ key: chatMessageKey(account.id, 'wamid.1'), state: 'accepted' }]);
    await eventually(async () => (await world.events(account)).length === 1, 'its event');
    expect((await world.events(account))[0]).to.include({
      event: 'message.sent',
      message_id: sent._id,
      reference: 'order 7',
      conversation_id: sent.conversation,
    });
  });

  it('what is queued while the worker is idle leaves soon', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    await world.queue(account, {}, { to: '918888888888' });

    await world.allIn(account, 'sent', 2);
  });

  it('a provider that never answers holds up its own account only; its sends are unknown and not sent again', async () => {
    const slow = await world.openAccount(() => {}, { windowSize: 2, timeoutMs: 500 });
    const quick = await world.openAccount();
    const failing = await world.openAccount(refusing(131_000, 503));
    const people = customers(40).map((to) => ({ to }));
    await world.queue(slow, ...people);
    await world.queue(failing, ...people);
    await world.queue(quick, ...people);
    await world.startWorker();

    await world.allIn(quick, 'sent', 40);

    const unknown = () => world.messages.countDocuments({ account: slow.id, state: 'submitting', outcome: 'unknown' });
    // Five failures open the breaker; those in flight end too.
    await eventually(async () => (await unknown()) >= 5, 'unknown sends');
    expect(new Set(slow.provider.sends.map(({ ours }) => ours)).size).to.equal(slow.provider.sends.length);
    expect(slow.provider.mostOpen).to.equal(2);
    expect(slow.provider.sends.length).to.be.below(20);
  });

  it('a provider that hangs for long: no message but the first five is risked, and the others go when it is back', async () => {
    let hangs = true;
    const account = await world.openAccount((_, __, accept) => hangs || accept(), { windowSize: 1, timeoutMs: 300 });
    const { provider } = account;
    provider.answersNumber = false;
    await world.queue(account, ...customers(10).map((to) => ({ to })));
    await world.startWorker();

    await eventually(() => provider.numberAsked >= 2, 'whether it is back was asked twice');
    expect(provider.sends).to.have.length(5);
    hangs = false;
    provider.answersNumber = true;

    const sent = () => world.messages.countDocuments({ account: account.id, state: 'sent' });
    await eventually(async () => (await sent()) === 5, 'the others are sent');
    expect(provider.sends).to.have.length(10);
  });

  it('a provider that is not there: nothing is lost or counted as a try, and all goes when it is back', async () => {
    const away = await world.openAccount();
    const { port } = new URL(away.provider.url);
    await away.provider.close();
    await world.queue(away, ...customers(10).map((to) => ({ to })));
    await world.startWorker();
    await eventually(
      async () => (await world.messages.countDocuments({ account: away.id, v: { $gte: 4 } })) >= 1,
      'sends were tried',
    );

    const back = await world.openAccount();
    // The provider comes back at another address, which the worker must notice.
    await world.store.db
      .collection<ProviderDocument>('providers')
      .updateOne({ _id: away.number }, { $set: { baseUrl: back.provider.url } });

    await world.allIn(away, 'sent', 10);
    expect(port).not.to.equal('');
    expect(await world.messages.countDocuments({ account: away.id, tries: { $gt: 0 } })).to.equal(0);
    expect(back.provider.sends).to.have.length(10);
  });

  it('a stop waits for the answers that are under way, and stores them', async () => {
    const account = await world.openAccount((_, __, accept) => setTimeout(accept, 300), { windowSize: 10 });
    await world.queue(account, ...customers(30).map((to) => ({ to })));
    const worker = await world.startWorker();
    await eventually(() => account.provider.sends.length >= 5, 'sends are under way');

    await worker.stop();

    const sent = account.provider.sends.length;
    expect(await world.messages.countDocuments({ state: 'sent' })).to.equal(sent);
    expect(await world.messages.countDocuments({ state: 'queued' })).to.equal(30 - sent);
    expect(await world.store.db.collection('leases').countDocuments({ until: { $gt: new Date(1) } })).to.equal(0);
  });
});
