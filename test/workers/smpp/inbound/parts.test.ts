import type { InboundDocument } from '../../../../shared/messages/inbound.ts';
import { thisProcess } from '../../../../shared/platform/runtime/process-identity.ts';
import { eventually } from '../../../support/eventually.ts';
import { bodies, inboundWorldPerTest, NUMBER, PHONE } from './world.ts';

/** Text for four parts in UCS-2, with characters split between two of them. */
const LONG = `x${'👍🏽'.repeat(60)}`;
const QUICKLY = { partsMs: 5_000, refuseUnassigned: false, unassignedDays: 1 };

describe('smpp worker: messages of handsets in parts', () => {
  const open = inboundWorldPerTest();

  it('in any order, over two binds, with a part twice: one message', async () => {
    const here = await open({ carrier: { binds: 2 } });

    here.says({ text: LONG, reference: 7 }, ([a, b, c, d, ...rest]) =>
      [d, b, d, c, a, ...rest].flatMap((part) => part ?? []),
    );

    expect(bodies(await here.received(1))).to.deep.equal([LONG]);
    await eventually(async () => (await here.counted('repeated')) === 1, 'the part that came twice is counted');
    expect(await here.received(1)).to.have.length(1);
  });

  it('of two handsets with the same reference: two messages', async () => {
    const here = await open();

    here.says({ text: `${LONG}1`, reference: 7 }, (parts) => parts.slice(0, 2));
    here.says({ text: `${LONG}2`, reference: 7, from: '919811113333' });
    here.says({ text: `${LONG}1`, reference: 7 }, (parts) => parts.slice(2));

    expect(bodies(await here.received(2)).sort()).to.deep.equal([`${LONG}1`, `${LONG}2`]);
  });

  it('references of 8 and 16 bits and of SAR are different ones', async () => {
    const here = await open();

    for (const split of ['udh8', 'udh16', 'sar'] as const) {
      here.says({ text: `${split}${LONG}`, reference: 9, split }, (parts) => parts.slice(0, 1));
    }
    for (const split of ['udh8', 'udh16', 'sar'] as const) {
      here.says({ text: `${split}${LONG}`, reference: 9, split }, (parts) => parts.slice(1));
    }

    const texts = ['udh8', 'udh16', 'sar'].map((split) => `${split}${LONG}`);
    expect(bodies(await here.received(3)).sort()).to.deep.equal(texts.sort());
  });

  it('a handset that always uses the same reference: each of its messages is one', async () => {
    const here = await open();

    for (const n of [1, 2, 3]) here.says({ text: `${n}${LONG}`, reference: 0 });

    expect(bodies(await here.received(3))).to.deep.equal([1, 2, 3].map((n) => `${n}${LONG}`));
  });

  it('a part never comes: the others are told after the set time, with a mark of what is missing', async () => {
    const here = await open({ inbound: QUICKLY });

    here.says({ text: `${'a'.repeat(153)}${'b'.repeat(153)}${'c'.repeat(10)}` }, ([a, , c]) =>
      [a, c].flatMap((p) => p ?? []),
    );
    const [message] = await here.received(1);

    expect(message?.inbound).to.deep.equal({
      type: 'text',
      body: 'a'.repeat(153) + 'c'.repeat(10),
      more: { missing_parts: [2], total_parts: 3 },
    });
    expect(await here.counted('incomplete')).to.equal(2);
  });

  it('the reference comes again with another text while a part is missing: both are told', async () => {
    const here = await open();

    here.says({ text: `1${LONG}`, reference: 3 }, (parts) => parts.slice(0, 1));
    here.says({ text: `2${LONG}`, reference: 3 });
    const received = await here.received(2);

    expect(received.map(({ inbound }) => inbound.more)).to.deep.equal([
      { missing_parts: [2, 3, 4], total_parts: 4 },
      undefined,
    ]);
    expect(received[1]?.inbound.body).to.equal(`2${LONG}`);
  });

  it('the worker changes between two parts: the next one joins them', async () => {
    const here = await open();
    here.says({ text: LONG, reference: 5 }, (parts) => parts.slice(0, 3));
    await eventually(async () => (await here.kept()).length === 3, 'three parts are kept');

    here.anotherWorker({ ...thisProcess(), startedAt: 'another' });
    await here.worker.stop();
    here.says({ text: LONG, reference: 5, systemId: 'harkara' }, (parts) => parts.slice(3));

    const [message] = await here.received(1);
    expect(message).to.deep.include({ from: PHONE, to: NUMBER, state: 'received' });
    expect(message?.inbound).to.deep.equal({ type: 'text', body: LONG });
  });

  it('a process dies while it removes the parts of what was announced: the same reference begins another message', async () => {
    const here = await open();
    here.says({ text: LONG, reference: 5 }, (parts) => parts.slice(0, 3));
    await eventually(async () => (await here.kept()).length === 3, 'three parts are kept');
    const [, ...left] = await here.kept();
    here.says({ text: LONG, reference: 5 }, (parts) => parts.slice(3));
    await here.received(1);
    await eventually(() => here.smsc.stats().deliveries.acknowledged === 4, 'the carrier has our answers');
    await here.worker.stop();
    const inbound = here.db.collection<InboundDocument>('inbound');
    await inbound.deleteMany({});
    await inbound.insertMany(left);

    here.anotherWorker({ ...thisProcess(), startedAt: 'another' });
    await eventually(() => here.smsc.stats().binds === 2, 'the other one is bound');
    here.says({ text: `another ${LONG}`, reference: 5, systemId: 'harkara' });

    expect((await here.received(2)).map(({ inbound }) => inbound)).to.deep.equal([
      { type: 'text', body: LONG },
      { type: 'text', body: `another ${LONG}` },
    ]);
  });

  it('what a reference, total or number that cannot be brings is a message of its own', async () => {
    const here = await open();
    const header = (total: number, number: number): Buffer => Buffer.from([5, 0, 3, 1, total, number]);

    for (const [total, number] of [
      [0, 0],
      [2, 0],
      [2, 3],
      [1, 1],
    ] as const) {
      const userData = Buffer.concat([header(total, number), Buffer.from('Hi')]);
      here.smsc.sendMo({ from: PHONE, to: NUMBER, esmClass: 0x40, userData });
    }

    expect(bodies(await here.received(4))).to.deep.equal(['Hi', 'Hi', 'Hi', 'Hi']);
  });
});
