import request from 'supertest';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { readMessageLog } from '../../../shared/messages/settlement/message-log.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { makeKey, openGateway, type TestGateway } from '../../support/gateway.ts';
import { latch } from '../../support/latch.ts';
import { QUICK, type World, worldPerTest } from '../../support/smpp-world.ts';

const WINDOW = 20;
const SILENT = { answer: 'never', receipts: [] } as const;

describe('smpp worker: submits whose answer never came', () => {
  const open = worldPerTest();
  let gateway: TestGateway | undefined;
  let second: Smsc | undefined;
  afterEach(async () => {
    await gateway?.close();
    await second?.close();
    gateway = undefined;
    second = undefined;
  });
  const drafts = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, i) => ({ to: `91987${String(i).padStart(4, '0')}000`, ...more }));
  const all = (here: World, ids: readonly MessageId[]): Promise<MessageDocument[]> =>
    Promise.all(ids.map((id) => here.message(id)));
  const allUnknown = (here: World, ids: readonly MessageId[]): Promise<boolean> =>
    eventually(
      async () => (await all(here, ids)).every(({ state, outcome }) => state === 'submitting' && outcome === 'unknown'),
      'all are unknown',
    );
  const submitsOf = ({ smsc }: World, to: string): number => smsc.messages().filter((one) => one.to === to).length;
  /** The sum of this worker's metric over all series with these labels. */
  async function figure(here: World, name: string, labels: Readonly<Record<string, string>>): Promise<number> {
    const found = await here.metrics.registry.getSingleMetric(`harkara_smpp_${name}`)?.get();
    const wanted = Object.entries(labels);
    const fits = (found?.values ?? []).filter((one) => wanted.every(([key, value]) => one.labels[key] === value));
    return fits.reduce((sum, { value }) => sum + value, 0);
  }
  /** Waits, because the worker counts just after it has stored. */
  const counted = (here: World, name: string, labels: Readonly<Record<string, string>>, count: number) =>
    eventually(async () => {
      expect(await figure(here, name, labels)).to.equal(count);
      return true;
    }, `${name} is ${count}`);
  async function statusOf(here: World, id: MessageId): Promise<Readonly<Record<string, unknown>>> {
    gateway ??= await openGateway(here.db);
    const key = await makeKey(here.db, (await here.message(id)).account);
    return (await request(gateway.url).get(`/v2/status/${id}`).set('Authorization', `Bearer ${key}`)).body;
  }

  it('a carrier that is paused: its policy decides all the same, and nothing is connected for it', async () => {
    const here = await open({ carrier: { ...QUICK, unknownWaitMs: 8_000 }, smsc: { behaviour: () => SILENT } });
    const id = await here.send({});
    await eventually(() => here.smsc.stats().peakUnanswered === 1, 'it is unanswered');
    await here.db.collection<CarrierDocument>('carriers').updateOne({ _id: 'sim' }, { $set: { status: 'paused' } });

    const message = await here.reaches(id, 'sent');

    expect(message.parts).to.deep.equal([{ state: 'unknown' }]);
    expect(here.smsc.sessions()).to.deep.equal([]);
    expect(here.smsc.stats().binds).to.equal(1);
    expect((await here.metrics.registry.getSingleMetric('harkara_smpp_binds')?.get())?.values).to.deep.equal([]);
  });

  it('a long text that left as one submit_sm when the worker was killed: its one receipt settles it', async () => {
    const here = await open({
      carrier: { texts: { longText: 'payload' }, responseTimeoutMs: 60_000 },
      smsc: { behaviour: () => ({ answer: 'never' }), holdReceipts: true },
    });
    const id = await here.send({ text: 'long '.repeat(80) });
    await eventually(() => here.smsc.stats().peakUnanswered === 1, 'it is unanswered');
    // So the next holder finds it (`takeOverUnknowns`).
    const messages = here.db.collection<MessageDocument>('messages');
    await eventually(async () => {
      const { modifiedCount } = await messages.updateOne({ _id: id }, { $set: { outcome: 'unknown' }, $inc: { v: 1 } });
      return modifiedCount === 1;
    }, 'it is written out');

    here.smsc.release();
    const message = await here.reaches(id, 'delivered');
    here.smsc.resetSessions();

    expect(message.segments).to.equal(3);
    expect(message.parts?.map(({ state }) => state)).to.deep.equal(['delivered']);
  });

  it('a reset with 20 of them: each carrier’s policy decides when its time is over, counted and on the timeline', async () => {
    let speaking = false;
    const behaviour = () => (speaking ? undefined : SILENT);
    const waiting: Partial<CarrierDocument> = {
      ...QUICK,
      responseTimeoutMs: 60_000,
      windowSize: WINDOW,
      unknownWaitMs: 10_000,
    };
    const here = await open({
      carrier: { ...waiting, paths: ['transactional'], unknownPolicy: 'assume_sent' },
      smsc: { behaviour },
    });
    second = await startSmsc({ behaviour, receiptDelayMs: 20 });
    await here.addCarrier({
      ...waiting,
      _id: 'again',
      name: 'Again',
      host: '127.0.0.1',
      port: second.port,
      systemId: 'harkara',
      password: 'secret',
      paths: ['promotional'],
      unknownPolicy: 'resend',
    });
    const carriers = [here.smsc, second];
    await eventually(() => carriers.every((one) => one.stats().binds === 1), 'both are bound');
    const assumed = await here.sendMany(drafts(WINDOW));
    const resent = await here.sendMany(drafts(WINDOW, { path: 'promotional', lane: 3 }));
    await eventually(() => carriers.every((one) => one.stats().peakUnanswered === WINDOW), '20 each are unanswered');

    speaking = true;
    for (const one of carriers) one.resetSessions();
    await allUnknown(here, [...assumed, ...resent]);
    const shown: object[] = [];
    for (const ids of [assumed, resent]) for (const id of ids.slice(0, 1)) shown.push(await statusOf(here, id));
    await here.allReach(assumed, 'sent');
    await here.allReach(resent, 'delivered');

    for (const status of shown) expect(status).to.include({ status: 'queued', outcome: 'unknown' });
    expect(carriers.map((one) => one.messages().length)).to.deep.equal([WINDOW, 2 * WINDOW]);
    for (const { history, outcome, parts } of await all(here, assumed)) {
      expect(history.map(({ state }) => state)).to.deep.equal(['sent']);
      expect({ outcome, parts }).to.deep.equal({ outcome: undefined, parts: [{ state: 'unknown' }] });
    }
    for (const { history } of await all(here, resent)) {
      expect(history.map(({ state }) => state)).to.deep.equal(['sent', 'delivered']);
    }
    for (const [carrier, policy, ids] of [
      ['sim', 'assume_sent', assumed],
      ['again', 'resend', resent],
    ] as const) {
      await counted(here, 'outcomes_total', { carrier, outcome: 'unknown' }, WINDOW);
      await counted(here, 'unknown_decided_total', { carrier, policy }, WINDOW);
      for (const id of ids) {
        const told = await eventually(
          async () => (await readMessageLog(here.db, id)).find(({ kind }) => kind === 'policy'),
          `the policy on the timeline of ${id}`,
        );
        expect(told).to.include({ carrier, policy });
      }
    }
  });

  it('an answer after the policy was applied still tells the id, and its receipt settles', async () => {
    const late = latch();
    const here = await open({
      carrier: { ...QUICK, responseTimeoutMs: 150, unknownWaitMs: 400 },
      smsc: { holdReceipts: true, behaviour: () => ({ answerWhen: late.opened }) },
    });

    const id = await here.send({});
    const assumed = await here.reaches(id, 'sent');
    late.open();
    await eventually(async () => (await here.message(id)).parts?.[0]?.key !== undefined, 'its id is known');
    here.smsc.release();
    const message = await here.reaches(id, 'delivered');

    expect(assumed.parts).to.deep.equal([{ state: 'unknown' }]);
    expect(message.parts?.[0]?.key).to.match(/^sim:/);
    expect(message.history.map(({ state }) => state)).to.deep.equal(['sent', 'delivered']);
    expect(submitsOf(here, message.to)).to.equal(1);
  });

  it('a segment that was refused for now, too late to be in time: only that one is sent again', async () => {
    let submits = 0;
    const late = latch();
    const here = await open({
      carrier: { ...QUICK, unknownWaitMs: 600_000 },
      smsc: { behaviour: () => (++submits === 2 ? { status: 0x14, answerWhen: late.opened } : undefined) },
    });
    const text = 'segments '.repeat(25);

    const id = await here.send({ text });
    await allUnknown(here, [id]);
    late.open();
    const message = await here.reaches(id, 'delivered');

    expect(message.history.map(({ state }) => state)).to.deep.equal(['sent', 'delivered']);
    expect(here.smsc.stats().submits).to.include({ submitted: 3, accepted: 2 });
    expect(here.smsc.texts().map((one) => one.text)).to.deep.equal([text]);
  });

  it('a late answer to a submit that was sent again changes nothing: one sent, one delivered', async () => {
    let submits = 0;
    const late = latch();
    const here = await open({
      carrier: { ...QUICK, unknownWaitMs: 400, unknownPolicy: 'resend' },
      smsc: { behaviour: () => (++submits === 1 ? { answerWhen: late.opened, receipts: [] } : undefined) },
    });

    const id = await here.send({});
    await here.reaches(id, 'delivered');
    late.open();
    const answers = () => figure(here, 'answers_total', { carrier: 'sim', class: 'accepted' });
    await eventually(async () => (await answers()) === 2, 'the late answer has come');
    await here.reaches(await here.send({ to: '919876599000' }), 'delivered');

    const message = await here.message(id);
    expect(message.history.map(({ state }) => state)).to.deep.equal(['sent', 'delivered']);
    expect(submitsOf(here, message.to)).to.equal(2);
    await counted(here, 'unknown_decided_total', { policy: 'resend' }, 1);
  });

  it('a receipt of one that timed out settles it before any policy: never submitted again', async () => {
    const here = await open({
      carrier: { ...QUICK, responseTimeoutMs: 150, unknownWaitMs: 600_000, unknownPolicy: 'resend' },
      smsc: { holdReceipts: true },
    });

    const id = await here.send({ to: '919876500109' });
    await allUnknown(here, [id]);
    here.smsc.release();
    const message = await here.reaches(id, 'delivered');

    expect(message).not.to.have.property('outcome');
    expect(message.history.map(({ state }) => state)).to.deep.equal(['sent', 'delivered']);
    expect(submitsOf(here, message.to)).to.equal(1);
    await counted(here, 'receipts_total', { result: 'unknown_settled' }, 1);
    expect(await figure(here, 'unknown_decided_total', {})).to.equal(0);
  });
});
