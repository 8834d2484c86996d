import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Pacing } from '../../../workers/chatapp/pacing.ts';
import { Breaker, type News, SendHealth } from '../../../workers/chatapp/send-health.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { makeChatMessage } from './make.ts';
import { graphError, json } from './provider-server.ts';
import { chatWorld, customers } from './world.ts';

describe('Pacing', () => {
  const ASHA = '919999999999';
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
  });
  const pacing = (provider: object = {}) =>
    new Pacing({ provider: { perSecond: 80, windowSize: 2, perCustomerMs: 0, ...provider }, clock, random: () => 0 });

  it('never sends more than the rate in a second', () => {
    const paced = pacing({ perSecond: 10, windowSize: 1_000 });
    let sent = 0;
    for (let ms = 0; ms < 1_000; ms++, clock.turn(1)) {
      for (; paced.room > 0; sent++) paced.begin(`c${sent}`);
    }

    expect(sent).to.be.within(9, 10);
  });

  it('a customer is busy until it is stored that a message to it was refused, which takes no place', async () => {
    const paced = pacing();
    let store = (): void => undefined;
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    const { room } = paced;
    const refused = paced.settling(ASHA, stored);
    expect([paced.busy(), paced.room]).to.deep.equal([[ASHA], room]);

    store();
    await refused;

    expect(paced.busy()).to.deep.equal([]);
  });

  it('a customer that the provider wants left alone is, longer each time until it takes a message', () => {
    const paced = pacing();
    const waits: (number | undefined)[] = [];
    for (const accepted of [false, false, true, false]) {
      if (accepted) paced.accepted(ASHA);
      paced.delayCustomer(ASHA);
      waits.push(paced.waitMs);
      clock.turn(60_000);
      paced.busy();
    }

    expect(waits).to.deep.equal([6_000, 12_000, 6_000, 12_000]);
  });

  it('keeps the pause that the provider asks for when it throttles', () => {
    const paced = pacing();
    paced.throttled(30_000);

    expect([paced.room, paced.waitMs]).to.deep.equal([0, 30_000]);
  });

  it('waits for nothing when nobody is held', () => {
    expect(pacing().waitMs).to.equal(undefined);
  });
});

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

    // The customer's first message is retried after the pause if the test lasts that long; the second waits behind it.
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
      // From the previous message's claim, because its send began after that. Its arrival depends on the machine.
      const before = claimedAtMs.get(String(account.provider.sends[i]?.ours)) ?? 0;
      return performance.timeOrigin + atMs - before;
    });
    // Timers and the two clocks may differ by some milliseconds.
    expect(pauses).to.have.length(2);
    expect(Math.min(...pauses), String(pauses)).to.be.within(280, 60_000);
  });
});

describe('SendHealth', () => {
  let clock: ManualClock;
  let health: SendHealth;
  beforeEach(() => {
    clock = new ManualClock();
    health = new SendHealth(clock, () => 1);
  });

  const leave = (): ChatMessageDocument => {
    const message = makeChatMessage({ claim: { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: clock.now() } });
    health.begin(message._id);
    return message;
  };
  const tell = (...all: readonly News[]): void => {
    for (const news of all) health.noteNews(leave(), news);
  };
  const fail = (times: number): void => tell(...Array.from({ length: times }, () => 'account' as const));

  it('one that went well in between counts from the beginning, one that says nothing does not', () => {
    fail(4);
    tell('good');
    fail(4);
    expect(health.state).to.equal('good');

    tell('other');
    fail(1);

    expect(health.state).to.equal('paused');
  });

  it('hears no failure of a message that left before one that went well, or before the run began', () => {
    const before = Array.from({ length: 9 }, leave);
    clock.turn(1_000);
    tell('good');
    for (const message of before) health.noteNews(message, 'account');
    expect(health.state).to.equal('good');

    health = new SendHealth(clock, () => 1);
    for (const message of before) health.noteNews(message, 'account');

    expect(health.state).to.equal('good');
  });

  it('a reading of what left before the trouble hides no failure', () => {
    const before = leave();
    clock.turn(1_000);
    fail(4);
    health.noteNews(before, 'good');
    fail(1);

    expect(health.state).to.equal('paused');
  });

  it('waits twice as long after each trial that failed, five minutes at most', () => {
    fail(5);
    const pauses: number[] = [];
    for (let i = 0; i < 6; i++) {
      clock.turn(health.waitMs);
      fail(1);
      pauses.push(health.waitMs);
    }

    expect(pauses).to.deep.equal([60_000, 120_000, 240_000, 300_000, 300_000, 300_000]);
  });

  it('tries another one when the first says nothing', () => {
    fail(5);
    clock.turn(30_000);
    tell('other');

    expect([health.state, health.room]).to.deep.equal(['trying', 1]);
  });

  it('lets all go when nothing is told of the trial, and pauses for longer if they fail again', () => {
    fail(5);
    clock.turn(30_000);
    leave();
    clock.turn(30_000);
    expect(health.room).to.equal(Number.POSITIVE_INFINITY);

    fail(5);

    expect(health.waitMs).to.equal(60_000);
  });
});

describe('Breaker', () => {
  let clock: ManualClock;
  let breaker: Breaker;
  beforeEach(() => {
    clock = new ManualClock();
    breaker = new Breaker(clock, () => 1);
  });

  const fail = (times: number): void => {
    for (let i = 0; i < times; i++) breaker.failed(breaker.begin());
  };

  it('a success in between counts from the beginning', () => {
    fail(4);
    breaker.succeeded(false);
    fail(4);

    expect(breaker.state).to.equal('closed');
  });

  it('waits twice as long after each probe that failed, thirty seconds at most', () => {
    fail(5);
    const pauses: number[] = [];
    for (let i = 0; i < 7; i++) {
      clock.turn(breaker.waitMs);
      breaker.failed(breaker.begin());
      pauses.push(breaker.waitMs);
    }

    expect(pauses).to.deep.equal([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is neither opened longer nor closed by what began before it opened', () => {
    fail(5);
    breaker.failed(false);
    breaker.succeeded(false);

    expect([breaker.state, breaker.waitMs]).to.deep.equal(['open', 1_000]);
  });

  it('gives the probe back when it did not take place', () => {
    fail(5);
    clock.turn(1_000);
    breaker.withdrawn(breaker.begin());

    expect(breaker.room).to.equal(1);
  });
});
