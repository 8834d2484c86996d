import { findProvider } from '../../../shared/carriers/providers/store.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { openGates } from '../../support/gates.ts';
import { makeItem, makeStatus } from './make.ts';
import { graphError, json } from './provider-server.ts';
import { type ChatAccount, chatWorld, customers } from './world.ts';

describe('chatapp worker: messages fail because of the account after they were accepted', () => {
  const world = chatWorld();

  /** A status of the latest message that the provider accepted. */
  const told = (account: ChatAccount, status: 'sent' | 'delivered' | 'failed', code?: number) => {
    const upstreamId = account.provider.sends.at(-1)?.wamid ?? '';
    const error = code === undefined ? {} : { error: { code, title: 'x' } };
    return world.post([makeItem(account.id, makeStatus({ upstreamId, status, ...error }))]);
  };
  const trouble = async (account: ChatAccount) =>
    (await findProvider(world.store.db, account.number))?.troubles?.statuses;
  async function failOne(account: ChatAccount, to: string, code: number): Promise<void> {
    const [message] = await world.queue(account, { to });
    await world.until(message?._id ?? 'msg_', ({ state }) => state === 'sent');
    await told(account, 'failed', code);
    await world.until(message?._id ?? 'msg_', ({ state }) => state === 'failed');
  }

  for (const code of [131_048, 131_031, 368]) {
    it(`${code}: after five in a row what waits waits, then one message tries`, async () => {
      let aheadMs = 0;
      const clock = { now: systemClock.now, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
      const account = await world.openAccount();
      const other = await world.openAccount();
      await world.startWorker({ clock });
      for (const to of customers(5)) await failOne(account, to, code);
      const noted = await eventually(() => trouble(account), 'the operator is told');
      expect(noted?.reason).to.match(/^the provider fails messages because of the account: \w+$/);

      await world.queue(account, ...customers(9).map((to) => ({ to })));
      await world.queue(other, ...customers(9).map((to) => ({ to })));
      await world.allIn(other, 'sent', 9);
      expect(account.provider.sends, 'nothing leaves during the pause').to.have.length(5);

      aheadMs += 30_000;
      await world.allIn(account, 'sent', 1);
      expect((await findProvider(world.store.db, account.number))?.status, 'it is never stopped').to.equal('active');
      await told(account, 'sent');
      await world.allIn(account, 'sent', 9);
      expect(account.provider.sends).to.have.length(14);
      await eventually(async () => (await trouble(account)) === undefined, 'the note is taken away');
    });
  }

  it('131042: the first status stops the channel, as an answer does, and it is probed; a late one stops nothing', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    const [old] = await world.queue(account, { to: '919000000001' });
    await world.until(old?._id ?? 'msg_', ({ state }) => state === 'sent');
    const late = account.provider.sends.at(-1)?.wamid ?? '';
    const [good] = await world.queue(account, { to: '919000000002' });
    await world.until(good?._id ?? 'msg_', ({ state }) => state === 'sent');
    await told(account, 'delivered');
    await world.until(good?._id ?? 'msg_', ({ state }) => state === 'delivered');
    await world.post([
      makeItem(account.id, makeStatus({ upstreamId: late, status: 'failed', error: { code: 131_042, title: 'x' } })),
    ]);
    await world.until(old?._id ?? 'msg_', ({ state }) => state === 'failed');
    await failOne(account, '919000000003', 131_026);
    expect(await findProvider(world.store.db, account.number)).not.to.have.property('stoppedReason');

    await failOne(account, '919000000004', 131_042);

    const stopped = await eventually(async () => {
      const provider = await findProvider(world.store.db, account.number);
      return provider?.stoppedReason === undefined ? undefined : provider;
    }, 'the channel is stopped');
    expect(stopped).to.include({ stoppedReason: 'provider_payment_problem: (131042) x', status: 'paused' });
    expect(stopped?.probe?.at.getTime()).to.be.within(Date.now(), Date.now() + 60_000);
    await world.queue(account, { to: '919000000005' });
    await world.allIn(account, 'queued', 1);
  });

  it('templates fail while answers in a session go well: templates alone wait, no answer waits behind them', async () => {
    let aheadMs = 0;
    const clock = { now: systemClock.now, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const account = await world.openAccount();
    const people = customers(40);
    await world.store.db.collection<ConversationDocument>('conversations').insertMany(
      people.map((customer) => ({
        ...{ _id: conversationKey(account.id, customer), account: account.id, customer },
        ...{ lastInboundAt: new Date(), sessions: { [account.number]: new Date() } },
      })),
    );
    const answer = (to: string) => world.queue(account, { to, content: { kind: 'text', text: 'hi' } });
    const answered = async (to: string) => {
      const [message] = await answer(to);
      await world.until(message?._id ?? 'msg_', ({ state }) => state === 'sent');
      await told(account, 'delivered');
      await world.until(message?._id ?? 'msg_', ({ state }) => state === 'delivered');
    };
    await world.startWorker({ clock });
    for (const to of people.slice(0, 5)) {
      await failOne(account, to, 131_048);
      await answered(to);
    }
    await eventually(() => trouble(account), 'the operator is told');

    await world.queue(account, ...people.map((to) => ({ to })));
    for (const to of people.slice(20, 30)) await answered(to);

    const templates = () => account.provider.sends.filter(({ body }) => body.type === 'template').length;
    expect(templates(), 'no template leaves during the pause').to.equal(5);
    expect(await trouble(account), 'answers that go well do not solve it').to.not.equal(undefined);

    aheadMs += 30_000;
    await eventually(() => templates() === 6, 'one template tries');
    const trial = account.provider.sends.at(-1)?.wamid ?? '';
    await answered(people[39] ?? '');
    expect(templates(), 'the others wait for what is told of it').to.equal(6);
    await world.post([makeItem(account.id, makeStatus({ upstreamId: trial, status: 'sent' }))]);
    await eventually(() => templates() === 45, 'all go');
    await eventually(async () => (await trouble(account)) === undefined, 'the note is taken away');
  });

  it('statuses of a channel that works are no reason to look for more to send', async () => {
    const gates = openGates(world.store.db, systemClock);
    const refresh = gates.refresh.bind(gates);
    let rounds = 0;
    gates.refresh = () => {
      rounds += 1;
      return refresh();
    };
    const account = await world.openAccount();
    await world.queue(account, ...customers(20).map((to) => ({ to })));
    await world.startWorker({ gates });
    await world.allIn(account, 'sent', 20);
    const before = rounds;

    for (const [i, { wamid = '' }] of account.provider.sends.entries()) {
      await world.post([makeItem(account.id, makeStatus({ upstreamId: wamid, status: 'delivered' }))]);
      await world.allIn(account, 'delivered', i + 1);
    }

    // One round may be left of the last send, and the worker sometimes looks by itself.
    expect(rounds - before).to.be.below(5);
  });

  it('131048 in answers: five are refused, the others wait', async () => {
    const account = await world.openAccount((_, res) => json(res, 400, graphError(131_048)), { windowSize: 1 });
    await world.queue(account, ...customers(9).map((to) => ({ to })));
    await world.startWorker();

    await eventually(() => trouble(account), 'the operator is told');

    await world.allIn(account, 'rejected', 5);
    await world.allIn(account, 'queued', 4);
  });
});
