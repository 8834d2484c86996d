import { freePort } from '../../../scripts/bench/fleet.ts';
import { startSmsc } from '../../../scripts/simulator/smsc.ts';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { OrphanDocument } from '../../../shared/messages/settlement/message-log.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { thisProcess } from '../../../shared/platform/runtime/process-identity.ts';
import { eventually } from '../../support/eventually.ts';
import { latch } from '../../support/latch.ts';
import { writeOutAll } from '../../support/queue.ts';
import { CARRIER, numbered, QUICK, type World, worldPerTest } from '../../support/smpp-world.ts';

describe('smpp worker: when things break', () => {
  const open = worldPerTest();
  const countState = ({ db }: World, state: string): Promise<number> =>
    db.collection<MessageDocument>('messages').countDocuments({ state } as object);
  const countOf = (messages: readonly MessageDocument[], wanted: string): number =>
    messages.filter(({ state }) => state === wanted).length;
  const submitsOf = ({ smsc }: World, to: string): number =>
    smsc.messages().filter((submit) => submit.to === to).length;

  it('a connection that breaks with 20 unanswered: none is sent twice, each receipt finds its message', async () => {
    let answering = false;
    const here = await open({
      carrier: { ...QUICK, responseTimeoutMs: 60_000, windowSize: 20 },
      smsc: { holdReceipts: true, behaviour: () => (answering ? undefined : { answer: 'never' }) },
    });
    const ids = await here.sendMany(numbered(20));
    await eventually(() => here.smsc.stats().peakUnanswered === 20, '20 are unanswered');

    answering = true;
    here.smsc.cutSessions();
    const unknown = await eventually(async () => {
      const found = await Promise.all(ids.map((id) => here.message(id)));
      return found.every(({ outcome }) => outcome === 'unknown') ? found : undefined;
    }, 'all 20 are unknown');
    here.smsc.release();
    await here.allReach(ids, 'delivered');

    expect(unknown?.every(({ state }) => state === 'submitting')).to.equal(true);
    expect(here.smsc.messages()).to.have.length(20);
  });

  it('a connection that breaks amid answers: what was claimed beyond the window goes back, none is sent twice', async () => {
    let [submits, answering] = [0, true];
    const here = await open({
      carrier: { ...QUICK, responseTimeoutMs: 60_000, windowSize: 50 },
      smsc: {
        holdReceipts: true,
        responseDelayMs: 5,
        behaviour: () => {
          submits += 1;
          if (submits === 101) answering = false;
          return answering ? undefined : { answer: 'never' };
        },
      },
    });
    const ids = await here.sendMany(numbered(200));

    await eventually(async () => {
      const [sent, claimed] = [await countState(here, 'sent'), await countState(here, 'submitting')];
      return here.smsc.messages().length === 150 && sent === 100 && claimed > 50;
    }, 'a window is unanswered, all answers are stored, and more is claimed');
    answering = true;
    here.smsc.cutSessions();
    await eventually(() => here.smsc.messages().length === 200, 'all are sent');
    here.smsc.release();
    await here.allReach(ids, 'delivered');

    expect(here.smsc.messages()).to.have.length(200);
  });

  it('what waits behind a bind that is down is sent once it is up again', async () => {
    // The port stays reserved while nothing listens there.
    const here = await open({ smsc: { port: await freePort() } });
    await here.reaches(await here.send({}), 'delivered');
    const { port } = here.smsc;
    await here.smsc.close();

    const id = await here.send({ to: '919876512000' });
    const restarted = await startSmsc({ port, receiptDelayMs: 20 });
    try {
      const message = await here.reaches(id, 'delivered');
      expect(message.tries).to.equal(0);
    } finally {
      await restarted.close();
    }
  });

  it('an answer that comes too late still settles its message', async () => {
    const late = latch();
    const here = await open({
      carrier: { ...QUICK, responseTimeoutMs: 150 },
      smsc: { behaviour: () => ({ answerWhen: late.opened, receipts: [] }) },
    });

    const id = await here.send({});
    await eventually(async () => (await here.message(id)).outcome === 'unknown', 'its outcome is unknown');
    late.open();
    const message = await here.reaches(id, 'sent');

    expect(message).not.to.have.property('outcome');
    expect(message.parts?.[0]?.key).to.match(/^sim:/);
    expect(submitsOf(here, message.to)).to.equal(1);
  });

  it('a timed-out submit frees its slot: one dead submit does not stop a window of one', async () => {
    const here = await open({ carrier: { ...QUICK, windowSize: 1 } });

    await here.send({ to: '919876500109' });
    const next = await here.send({ to: '919876500000' });

    await here.reaches(next, 'delivered');
  });

  const hanging: readonly [string, { readonly enquireLinkMs: number; readonly responseTimeoutMs: number }][] = [
    ['by its silence', { enquireLinkMs: 5_000, responseTimeoutMs: 5_000 }],
    ['because submits are not answered', { enquireLinkMs: 60_000, responseTimeoutMs: 2_000 }],
  ];
  for (const [how, times] of hanging) {
    it(`a carrier that hangs is noticed ${how}, risks one window, and is bound again when it lives`, async () => {
      const windowSize = 2;
      const here = await open({ carrier: { ...times, windowSize } });
      await here.reaches(await here.send({}), 'delivered');

      here.smsc.pause();
      const ids = await here.sendMany(Array.from({ length: 6 }, (_, i) => ({ to: `91987650200${i}` })));
      await eventually(() => here.smsc.sessions().length === 0 || here.smsc.stats().connections > 1, 'it hangs up');
      const unknown = await eventually(async () => {
        const messages = await Promise.all(ids.map((id) => here.message(id)));
        const [risked, rest] = [messages.filter(({ outcome }) => outcome === 'unknown'), countOf(messages, 'queued')];
        return risked.length > 0 && risked.length + rest === ids.length ? risked : undefined;
      }, 'what was written is unknown, the rest is in the queue');
      here.smsc.resume();

      expect(unknown).to.have.length(windowSize);
      await here.reaches(await here.send({ to: '919876501000' }), 'delivered');
    });
  }

  it('a carrier that asks to unbind gets its answer, and is bound again', async () => {
    const here = await open();
    await here.reaches(await here.send({}), 'delivered');

    here.smsc.unbindSessions();
    await eventually(() => here.smsc.stats().binds === 2, 'a second bind');

    await here.reaches(await here.send({ to: '919876501000' }), 'delivered');
  });

  it('enquire_link from the carrier is answered', async () => {
    const answered: number[] = [];
    const here = await open({
      smsc: {
        enquireLinkMs: 50,
        onFrame: (direction, bytes) => {
          if (direction === 'in') answered.push(bytes.readUInt32BE(4));
        },
      },
    });
    await eventually(() => here.smsc.stats().binds === 1, 'it is bound');

    await eventually(() => answered.includes(0x80000015), 'enquire_link_resp');
  });

  it('a wrong password is not tried again and again', async () => {
    const here = await open({ smsc: { password: 'other' } });

    await eventually(() => here.smsc.stats().refusedBinds === 1, 'the bind is refused');
    await here.send({});
    await eventually(async () => (await countState(here, 'queued')) === 1, 'it waits');

    expect(here.smsc.stats().refusedBinds).to.equal(1);
  });

  it('a receipt with an id of nobody is taken, kept for later, and answered', async () => {
    const here = await open();
    await eventually(() => here.smsc.stats().binds === 1, 'it is bound');

    here.smsc.sendMo({
      from: '919800000000',
      to: 'HARKRA',
      esmClass: 0x04,
      text: 'id:feed sub:001 dlvrd:001 submit date:2611211004 done date:2611211005 stat:DELIVRD err:000 text:secret words',
    });
    await eventually(() => here.smsc.stats().deliveries.acknowledged === 1, 'it is answered');

    const kept = await here.db.collection<OrphanDocument>('orphans').find().toArray();
    expect(kept).to.have.length(1);
    expect(JSON.stringify(kept)).not.to.include('secret');
  });

  it('a message to a number of nobody is refused for good where the setting says so', async () => {
    const statuses: number[] = [];
    const here = await open({
      inbound: { partsMs: 60_000, refuseUnassigned: true, unassignedDays: 1 },
      smsc: {
        deliverTries: 1,
        onFrame: (direction, bytes) => {
          if (direction === 'in' && bytes.readUInt32BE(4) === 0x80000005) statuses.push(bytes.readUInt32BE(8));
        },
      },
    });
    await eventually(() => here.smsc.stats().binds === 1, 'it is bound');

    here.smsc.sendMo({ from: '919800000000', to: 'HARKRA', text: 'id:1 sub:001 stat:DELIVRD err:000' });

    await eventually(() => statuses.length === 1, 'it is answered');
    expect(statuses).to.deep.equal([0x65]);
    const refused = await here.metrics.registry.getSingleMetric('harkara_smpp_inbound_refused_total')?.get();
    expect(refused?.values[0]?.value).to.equal(1);
  });

  it('two processes: one has the carrier, and the other takes over when the first stops', async () => {
    const here = await open();
    await here.reaches(await here.send({}), 'delivered');
    here.anotherWorker({ ...thisProcess(), startedAt: 'another' });
    const ids = await here.sendMany(numbered(30));
    await here.allReach(ids, 'delivered');
    const before = here.smsc.stats().binds;

    await here.worker.stop();
    const later = await here.sendMany(numbered(30, { text: 'later' }));
    await here.allReach(later, 'delivered');

    expect(before).to.equal(1);
    expect(here.smsc.stats().binds).to.equal(2);
    expect(here.smsc.messages()).to.have.length(61);
  });

  it('a stop waits for what is under way: nothing stays submitting, nothing is sent twice', async () => {
    const here = await open({ carrier: { windowSize: 10 }, smsc: { responseDelayMs: 300, receiptDelayMs: 0 } });
    await here.sendMany(numbered(60));
    await eventually(() => here.smsc.stats().submits.submitted > 10, 'some are under way');

    await here.worker.stop();

    // This would make claimed and unsettled messages `submitting`.
    await writeOutAll(here.db);
    expect(await countState(here, 'submitting')).to.equal(0);
    const left = await countState(here, 'queued');
    expect(left).to.be.greaterThan(0);
    expect(here.smsc.messages()).to.have.length(60 - left);
    expect(here.smsc.sessions()).to.deep.equal([]);
  });

  it('a paused carrier is left, a resumed one taken again, a changed one bound with its new settings', async () => {
    const here = await open();
    const carriers = here.db.collection<CarrierDocument>('carriers');
    await here.reaches(await here.send({}), 'delivered');

    await carriers.updateOne({ _id: CARRIER }, { $set: { status: 'paused' } });
    await eventually(() => here.smsc.sessions().length === 0, 'it unbinds');
    const waiting: MessageId = await here.send({ to: '919876501000' });
    await carriers.updateOne({ _id: CARRIER }, { $set: { status: 'active', systemId: 'other' } });
    await here.reaches(waiting, 'delivered');

    expect(here.smsc.sessions().map(({ systemId }) => systemId)).to.deep.equal(['other']);
  });
});
