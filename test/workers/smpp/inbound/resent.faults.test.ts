import type { DeliverSession } from '../../../../shared/carriers/smpp/session.ts';
import { thisProcess } from '../../../../shared/platform/runtime/process-identity.ts';
import { type Arrival, Arrivals } from '../../../../workers/smpp/inbound/arrivals.ts';
import { documentOf, readIncoming } from '../../../../workers/smpp/inbound/incoming.ts';
import { eventually } from '../../../support/eventually.ts';
import { latch } from '../../../support/latch.ts';
import { held, refused } from '../../../support/mongo-wire/faults.ts';
import { bodies, inboundWorldPerTest, NUMBER, PHONE } from './world.ts';

const DELIVER = { from: PHONE, to: NUMBER, esmClass: 0, dataCoding: 0, body: Buffer.from('yes') };

function arrival(via: Arrival['via'], cameMs: number, more: Partial<Arrival> = {}): Arrival {
  const stamp = { carrier: 'c', at: new Date(cameMs), alphabet: 'gsm', partsMs: 1_000, set: undefined } as const;
  const document = documentOf(readIncoming(DELIVER), stamp);
  return {
    document,
    ...(via === undefined ? {} : { via }),
    cameMs,
    stored: true,
    announced: true,
    sure: false,
    ...more,
  };
}

describe('Arrivals: a deliver_sm that is sent again, or a second one that is equal', () => {
  const { fingerprint } = readIncoming(DELIVER);
  const alive = { open: true, heardMs: 0 };
  const ended = { open: false, heardMs: 0 };
  const CASES: readonly {
    readonly what: string;
    readonly known: Arrival;
    /** The second deliver_sm's session. Default: another open session than that of `known`. */
    readonly session?: DeliverSession;
    readonly sequence?: number;
    readonly atMs: number;
    readonly repeated: boolean;
  }[] = [
    {
      what: 'answered, and the session lives: a person wrote it twice',
      known: arrival({ session: alive, sequence: 1 }, 0, { answeredMs: 10 }),
      ...{ session: alive, atMs: 3_000, repeated: false },
    },
    {
      what: 'the session ended just after the answer',
      known: arrival({ session: ended, sequence: 1 }, 0, { answeredMs: 10 }),
      ...{ atMs: 300_000, repeated: true },
    },
    {
      what: 'the session ended later, after the carrier was heard: the answer had arrived',
      known: arrival({ session: { open: false, heardMs: 1_010 }, sequence: 1 }, 0, { answeredMs: 10 }),
      ...{ atMs: 20_000, repeated: false },
    },
    {
      what: 'the carrier answered our unbind: it has read the answer before',
      known: arrival({ session: { ...ended, unboundMs: 10 }, sequence: 1 }, 0, { answeredMs: 10 }),
      ...{ atMs: 1_000, repeated: false },
    },
    {
      what: 'we answered after our unbind',
      known: arrival({ session: { ...ended, unboundMs: 10 }, sequence: 1 }, 0, { answeredMs: 11 }),
      ...{ atMs: 1_000, repeated: true },
    },
    {
      what: 'the carrier has waited in vain',
      known: arrival({ session: alive, sequence: 1 }, 0),
      ...{ session: alive, atMs: 30_000, repeated: true },
    },
    {
      what: 'its second try crossed our answer',
      known: arrival({ session: alive, sequence: 1 }, 0, { answeredMs: 29_900 }),
      ...{ session: alive, atMs: 30_000, repeated: true },
    },
    {
      what: 'at the same moment: no carrier gives up so soon',
      known: arrival({ session: alive, sequence: 1 }, 0),
      ...{ session: alive, atMs: 20, repeated: false },
    },
    {
      what: 'the same sequence number on the same session',
      known: arrival({ session: alive, sequence: 2 }, 0, { answeredMs: 10 }),
      ...{ session: alive, atMs: 20, repeated: true },
    },
    {
      what: 'it was refused for now',
      known: arrival({ session: alive, sequence: 1 }, 0, { refused: true, stored: false, announced: false }),
      ...{ session: alive, atMs: 100, repeated: true },
    },
    { what: 'an earlier holder left it', known: arrival(undefined, 0), atMs: 60_000, repeated: true },
  ];

  for (const { what, known, session = { open: true, heardMs: 0 }, sequence = 2, atMs, repeated } of CASES) {
    it(`${what}: ${repeated ? 'sent again' : 'another message'}`, () => {
      const arrivals = new Arrivals();
      arrivals.add(known);

      const found = arrivals.repeated(fingerprint, { session, sequence }, atMs);

      expect(found === known).to.equal(repeated);
    });
  }

  it('forgets what was told and surely answered, and what nobody sent again within an hour', () => {
    const arrivals = new Arrivals();
    const live = { open: true, heardMs: 900 };
    const sure = arrival({ session: live, sequence: 1 }, 0, { answeredMs: 10 });
    const cut = arrival({ session: ended, sequence: 2 }, 0, { answeredMs: 10 });
    const part = arrival({ session: live, sequence: 3 }, 0, { answeredMs: 10, announced: false });
    for (const one of [sure, cut, part]) arrivals.add(one);

    expect(arrivals.takeFinished(9_000)).to.deep.equal([]);
    live.heardMs = 10_000;
    expect(arrivals.takeFinished(11_000)).to.deep.equal([sure]);
    expect(arrivals.takeFinished(3_600_000)).to.deep.equal([cut]);
    part.announced = true;
    expect(arrivals.takeFinished(3_600_000)).to.deep.equal([part]);
  });
});

describe('smpp worker: messages of handsets that are sent again', () => {
  const open = inboundWorldPerTest();

  it('twice the same text from the same handset: two messages', async () => {
    const here = await open();

    here.says({ text: 'yes' });
    here.says({ text: 'yes' });
    await here.received(2);
    await eventually(() => here.smsc.stats().deliveries.acknowledged === 2, 'the carrier has our answers');
    here.says({ text: 'yes' });

    expect(bodies(await here.received(3))).to.deep.equal(['yes', 'yes', 'yes']);
  });

  it('the connection breaks before the answers arrive: each message is announced once', async () => {
    const here = await open({ smsc: { retryDelayMs: 100 } });
    const texts = Array.from({ length: 200 }, (_, n) => `message ${String(n).padStart(3, '0')}`);
    let cut = false;
    const received = eventually(async () => {
      const count = (await here.kept()).length;
      if (count > 0 && !cut) {
        cut = true;
        here.smsc.resetSessions();
      }
      return cut;
    }, 'it is cut in the middle');

    for (const text of texts) here.says({ text });
    await received;
    await eventually(() => here.smsc.stats().pending === 0, 'all are acknowledged');

    expect(bodies(await here.received(texts.length)).sort()).to.deep.equal(texts);
  });

  it('the store goes away while they come: each message is announced once, when it is back', async () => {
    const here = await open({ smsc: { retryDelayMs: 200 } });
    const texts = Array.from({ length: 50 }, (_, n) => `message ${String(n).padStart(2, '0')}`);

    here.proxy.become('down');
    for (const text of texts) here.says({ text });
    await eventually(async () => (await here.counted('failed')) > 0, 'some are refused for now');
    here.proxy.become('well');
    await eventually(() => here.smsc.stats().pending === 0, 'all are acknowledged');

    expect(bodies(await here.received(texts.length)).sort()).to.deep.equal(texts);
  });

  it('another worker takes over in order: what is sent then is another message', async () => {
    const here = await open();
    here.says({ text: 'yes' });
    await here.received(1);
    await eventually(() => here.smsc.stats().deliveries.acknowledged === 1, 'the carrier has our answer');

    here.anotherWorker({ ...thisProcess(), startedAt: 'another' });
    await here.worker.stop();
    await eventually(() => here.smsc.stats().binds === 2, 'the other one is bound');
    here.says({ text: 'yes', systemId: 'harkara' });
    here.says({ text: 'no', systemId: 'harkara' });

    expect(bodies(await here.received(3))).to.deep.equal(['yes', 'yes', 'no']);
  });

  it('a stop answers what was read before it unbinds: the carrier sends nothing again', async () => {
    const here = await open();
    const stored = latch();
    const inserting = here.proxy.inject({
      command: 'insert',
      collection: 'inbound',
      happens: async (command, link) => {
        await stored.opened;
        link.tell(await link.ask(command.message));
      },
    });
    here.says({ text: 'yes' });
    await eventually(() => inserting.met > 0, 'it is being stored');

    const stopped = here.worker.stop();
    for (let i = 0; i < 10; i++) await here.kept(); // An unbind that did not wait would have been sent by then.
    stored.open();
    await stopped;

    expect(here.smsc.stats().deliveries).to.include({ acknowledged: 1 });
    expect(bodies(await here.received(1))).to.deep.equal(['yes']);
  });

  for (const lost of ['before our answer', 'before the carrier reads our answer and our unbind']) {
    it(`the connection breaks ${lost}, and the worker stops: told once`, async () => {
      const here = await open();
      const stored = latch();
      const inserting = here.proxy.inject({
        ...{ command: 'insert', collection: 'inbound' },
        happens: held(stored.opened),
      });
      here.says({ text: 'yes' });
      await eventually(() => inserting.met > 0, 'it is being stored');
      here.smsc.pause();
      if (lost === 'before our answer') here.smsc.resetSessions();
      stored.open();
      await eventually(async () => (await here.counted('received')) === 1, 'it is told and answered');
      await here.worker.stop();

      here.smsc.resetSessions();
      here.anotherWorker({ ...thisProcess(), startedAt: 'another' });
      here.smsc.resume();
      await eventually(() => here.smsc.stats().pending === 0, 'it is sent again and acknowledged');

      expect(bodies(await here.received(1))).to.deep.equal(['yes']);
    });
  }

  it('what was told and surely answered, but not removed while the store was away: an equal one is another message', async () => {
    const here = await open({ carrier: { enquireLinkMs: 5_000 }, smsc: { retryDelayMs: 100 } });
    const away = { collection: 'inbound', happens: refused('NotWritablePrimary') };
    const removing = here.proxy.inject({ ...away, command: 'delete', times: Infinity });
    here.says({ text: 'yes' });
    await eventually(() => removing.met > 0, 'it cannot be removed');

    here.proxy.inject({ ...away, command: 'insert' });
    here.says({ text: 'no' });
    await here.received(2);
    removing.end();
    await eventually(async () => (await here.kept()).length === 0, 'both are removed');
    here.says({ text: 'yes' });

    expect(bodies(await here.received(3))).to.deep.equal(['yes', 'no', 'yes']);
  });

  it('what is told and surely answered is kept no longer', async () => {
    const here = await open({ carrier: { enquireLinkMs: 5_000 } });

    here.says({ text: 'yes' });
    await here.received(1);

    expect(await here.kept()).to.have.length(1);
    await eventually(async () => (await here.kept()).length === 0, 'it is removed');
  });
});
