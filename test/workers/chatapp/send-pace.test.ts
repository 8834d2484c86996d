import { expect } from 'chai';
import { graphError, json } from './provider-server.ts';
import { chatWorld, customers } from './world.ts';

describe('chatapp worker: pace of the sends', () => {
  const world = chatWorld();

  it('131056: this customer waits, in its order, the others go on', async () => {
    const asha = '919999999999';
    const account = await world.openAccount((send, res, accept) => {
      if (send.to === asha) json(res, 400, graphError(131_056));
      else accept();
    });
    await world.queue(account, { to: asha }, { to: asha }, ...customers(20).map((to) => ({ to })));
    await world.startWorker();

    await world.allIn(account, 'sent', 20);
    await world.allIn(account, 'queued', 2);

    // The customer's first message is tried again after the pause, if the test takes that long; the second waits behind it.
    const tried = account.provider.sends.filter(({ to }) => to === asha);
    expect(new Set(tried.map(({ ours }) => ours)).size).to.equal(1);
  });

  it('a storm of 429: all arrive once it is over, none twice, none rejected', async () => {
    let refused = 0;
    const account = await world.openAccount(
      (_, res, accept) => {
        if (refused >= 30) accept();
        else {
          refused++;
          json(res, 429, graphError(130_429));
        }
      },
      { perSecond: 1_000, windowSize: 30 },
    );
    await world.queue(account, ...customers(60).map((to) => ({ to })));
    await world.startWorker();

    await world.allIn(account, 'sent', 60);

    const accepted = account.provider.sends.filter(({ wamid }) => wamid !== undefined);
    expect(accepted).to.have.length(60);
    expect(new Set(accepted.map(({ ours }) => ours)).size).to.equal(60);
    expect(await world.messages.countDocuments({ account: account.id, tries: { $gt: 0 } })).to.equal(0);
  });

  it('never has more sends open than the window, one to a customer, each customer’s in order', async () => {
    const open = new Set<string>();
    const together: string[] = [];
    const account = await world.openAccount(
      (send, res, accept) => {
        if (open.has(send.to)) together.push(send.to);
        open.add(send.to);
        res.on('finish', () => open.delete(send.to));
        setTimeout(accept, Math.random() * 20);
      },
      { perSecond: 1_000, windowSize: 4 },
    );
    const people = customers(6);
    const queued = await world.queue(account, ...Array.from({ length: 60 }, (_, i) => ({ to: people[i % 6] ?? '' })));
    await world.startWorker();

    await world.allIn(account, 'sent', 60);

    expect(together).to.deep.equal([]);
    expect(account.provider.mostOpen).to.be.within(2, 4);
    for (const to of people) {
      const order = account.provider.sends.filter((send) => send.to === to).map(({ ours }) => ours);
      expect(order).to.deep.equal(queued.filter((message) => message.to === to).map(({ _id }) => _id));
    }
  });

  it('keeps the pause between two messages to one customer', async () => {
    const account = await world.openAccount(undefined, { perCustomerMs: 300 });
    await world.queue(account, {}, {}, {});
    await world.startWorker();

    await world.allIn(account, 'sent', 3);

    const stored = await world.messages.find({ account: account.id }).toArray();
    const claimedAtMs = new Map(stored.map(({ _id, claim }) => [String(_id), claim?.at.getTime() ?? 0]));
    const pauses = account.provider.sends.slice(1).map(({ atMs }, i) => {
      // From the claim of the message before, because its send began after that. When it arrived depends on the machine.
      const before = claimedAtMs.get(String(account.provider.sends[i]?.ours)) ?? 0;
      return performance.timeOrigin + atMs - before;
    });
    // Timers and the two clocks may differ by some milliseconds.
    expect(pauses).to.have.length(2);
    expect(Math.min(...pauses), String(pauses)).to.be.within(280, 60_000);
  });
});
