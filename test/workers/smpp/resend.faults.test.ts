import type { Behaviour } from '../../../scripts/simulator/smsc/receipts.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { isHeldOpen, UNCONFIRMED } from '../../../shared/messages/document/copies.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { claimLines, queueOf } from '../../../shared/messages/queue/queue-store.ts';
import { readMessageLog } from '../../../shared/messages/settlement/message-log.ts';
import { type MessageId, newId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { latch } from '../../support/latch.ts';
import { QUICK, type World, worldPerTest } from '../../support/smpp-world.ts';

/** `unknownWaitMs` exceeds what a test does while the worker waits for the first copy. */
const RESEND: Partial<CarrierDocument> = { ...QUICK, unknownPolicy: 'resend', unknownWaitMs: 6_000 };
const REFUSED = { status: 0x0b } as const;
/** The carrier never answers the submit; only its receipt comes. */
const SILENT = { answer: 'never' } as const;

describe('smpp worker: what a resend may not forget', () => {
  const open = worldPerTest();
  let second: Smsc | undefined;
  afterEach(async () => {
    await second?.close();
    second = undefined;
  });
  /** Outcomes of the first submit, of the second, and of all later ones. */
  const inTurn = (...outcomes: readonly ReturnType<Behaviour>[]): Behaviour => {
    let submits = 0;
    return () => outcomes[Math.min(submits++, outcomes.length - 1)];
  };
  const becomesHeldOpen = ({ message }: World, id: MessageId): Promise<MessageDocument> =>
    eventually(async () => {
      const found = await message(id);
      if (!isHeldOpen(found)) throw new Error(`is ${found.state}`);
      return found;
    }, 'it waits for its first copy');
  const refunds = ({ db }: World): Promise<number> => db.collection('ledger').countDocuments({ reason: 'refund' });
  const states = ({ history }: MessageDocument): string[] => history.map(({ state }) => state);
  /** Waits until another message is settled and refunded, by when everything before is done too. */
  const settleAnother = async (here: World): Promise<void> => {
    const to = '919876599108';
    await here.reaches(await here.send({ to }), 'rejected');
    await eventually(async () => (await refunds(here)) > 0, 'that one is refunded');
  };

  it('the first is answered late, the second is refused: sent and delivered by the first, not refunded', async () => {
    const late = latch();
    const here = await open({
      carrier: RESEND,
      smsc: {
        behaviour: inTurn({ answerWhen: late.opened }, REFUSED, undefined),
        holdReceipts: true,
      },
    });

    const id = await here.send({});
    await becomesHeldOpen(here, id);
    late.open();
    await here.reaches(id, 'sent');
    here.smsc.release();
    const message = await here.reaches(id, 'delivered');
    await settleAnother(here);

    expect(states(message)).to.deep.equal(['sent', 'delivered']);
    expect(message).not.to.have.any.keys('errorCode', 'outcome');
    expect(here.smsc.stats().submits.submitted).to.equal(3);
    expect(await refunds(here)).to.equal(1);
  });

  it('the first is never answered, the second refused: a receipt of the first still settles it', async () => {
    const here = await open({
      carrier: RESEND,
      smsc: { behaviour: inTurn(SILENT, REFUSED, undefined), holdReceipts: true },
    });

    const id = await here.send({});
    const waiting = await becomesHeldOpen(here, id);
    here.smsc.release();
    const message = await here.reaches(id, 'delivered');
    await settleAnother(here);

    expect(waiting).to.include({ state: 'submitting', errorCode: '0x0B' });
    expect(states(message)).to.deep.equal(['sent', 'delivered']);
    expect(await refunds(here)).to.equal(1);
  });

  it('nothing more comes of the first: failed, unconfirmed, on the timeline and counted; its receipt comes all the same', async () => {
    const here = await open({
      carrier: { ...RESEND, unknownWaitMs: 500 },
      smsc: { behaviour: inTurn(SILENT, REFUSED, undefined), holdReceipts: true },
    });

    const id = await here.send({});
    const failed = await here.reaches(id, 'failed');
    await settleAnother(here);
    const log = await eventually(async () => {
      const records = (await readMessageLog(here.db, id)).flatMap((record) =>
        record.kind === 'policy' ? [record] : [],
      );
      if (records.length < 2) throw new Error(`${records.length} records`);
      return records;
    }, 'both decisions are on the timeline');
    const counted = await here.metrics.registry.getSingleMetric('harkara_smpp_unknown_decided_total')?.get();
    here.smsc.release();
    const delivered = await here.reaches(id, 'delivered');

    expect(failed).to.include({ errorCode: UNCONFIRMED });
    expect(failed.errorReason).to.match(/0x0B.*not refunded/);
    expect(log.map(({ became }) => became)).to.deep.equal(['queued', 'failed']);
    expect(counted?.values.map(({ labels, value }) => [labels.became, value])).to.have.deep.members([
      ['queued', 1],
      ['failed', 1],
    ]);
    expect(states(delivered)).to.deep.equal(['failed', 'delivered']);
    expect(await refunds(here)).to.equal(1);
  });

  it('the first worker was killed, the second copy is refused: a receipt of the first still settles it', async () => {
    const here = await open({ carrier: { ...RESEND, status: 'paused' }, smsc: { behaviour: () => REFUSED } });
    const id = await here.send({});
    const claim = { id: newId('clm'), carrier: 'sim', epoch: 0, at: new Date(Date.now() - 60_000) };
    const [head] = await queueOf(here.db).find({ first: id }).toArray();
    if (head === undefined) throw new Error('it does not wait');
    expect(await claimLines(here.db, claim, [{ head, to: 1 }])).to.have.property('size', 1);
    await here.db.collection('carriers').updateOne({}, { $set: { status: 'active' } });

    const { to, sender } = await becomesHeldOpen(here, id);
    const text = 'id:4711 sub:001 dlvrd:001 submit date:2611221000 done date:2611221001 stat:DELIVRD err:000 text:';
    here.smsc.sendMo({ from: to, to: sender, text, esmClass: 4 });
    const message = await here.reaches(id, 'delivered');

    expect(message.earlier?.[0]?.parts).to.deep.equal([{ key: 'sim:4711', state: 'delivered' }]);
    expect(await refunds(here)).to.equal(0);
  });

  it('the second goes by another carrier, which refuses it: the first one’s receipt still settles it', async () => {
    const here = await open({ carrier: RESEND, smsc: { behaviour: () => SILENT, holdReceipts: true } });
    second = await startSmsc({ behaviour: () => REFUSED });
    const id = await here.send({});
    await eventually(async () => (await here.message(id)).outcome === 'unknown', 'it is unknown');
    await here.db.collection<CarrierDocument>('carriers').updateOne({}, { $set: { paths: ['promotional'] } });
    await here.addCarrier({
      ...{ _id: 'other', name: 'Other', host: '127.0.0.1', port: second.port, systemId: 'harkara', password: 'secret' },
      ...RESEND,
      paths: ['transactional'],
    });

    const waiting = await becomesHeldOpen(here, id);
    await eventually(() => here.smsc.stats().binds === 2, 'the first carrier is bound again');
    here.smsc.release();
    const message = await here.reaches(id, 'delivered');

    expect(waiting.claim).to.include({ carrier: 'other' });
    expect(message.operator).to.equal('Simulator');
    expect(await refunds(here)).to.equal(0);
  });
});
