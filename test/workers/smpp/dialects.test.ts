import type { ReceiptDialect } from '../../../scripts/simulator/smsc/receipts.ts';
import type { ReceiptSettings } from '../../../shared/carriers/settings/receipts.ts';
import type { MessageState } from '../../../shared/messages/document/message.ts';
import { readMessageLog } from '../../../shared/messages/settlement/message-log.ts';
import { eventually } from '../../support/eventually.ts';
import { QUICK, worldPerTest } from '../../support/smpp-world.ts';

const LONG = 'a text of several segments '.repeat(12);

/** The simulator writes receipts as certain carriers do, from its own tables. */
describe('smpp worker: receipts in the dialects of carriers', () => {
  const open = worldPerTest();

  type Row = readonly [
    dialect: ReceiptDialect,
    receipts: Partial<ReceiptSettings>,
    states: readonly [ok: MessageState, n101: MessageState, n102: MessageState, n103: MessageState],
  ];
  const USUAL = ['delivered', 'failed', 'expired', 'rejected'] as const;
  const ROWS: readonly Row[] = [
    ['commas', {}, USUAL],
    ['semicolons', {}, USUAL],
    ['pipes', {}, USUAL],
    ['quotes', {}, USUAL],
    ['equals', {}, USUAL],
    ['joined', {}, USUAL],
    ['lines', {}, USUAL],
    ['unlabelled', {}, USUAL],
    ['unix', {}, USUAL],
    ['unix-ms', {}, USUAL],
    ['iso', {}, USUAL],
    ['iso-zone', {}, USUAL],
    ['infobip', {}, USUAL],
    ['textlocal', {}, USUAL],
    ['sms-central', {}, USUAL],
    ['kaleyra', {}, ['delivered', 'failed', 'failed', 'rejected']],
    ['pswincom', {}, ['delivered', 'failed', 'expired', 'failed']],
    ['syniverse', { receiptProfile: 'syniverse' }, USUAL],
    ['yo', { receiptProfile: 'yo' }, USUAL],
    ['plain', { plainReceipts: true }, USUAL],
  ];
  for (const [receiptDialect, receipts, states] of ROWS) {
    it(`${receiptDialect} with ${JSON.stringify(receipts)}: ${states.join(', ')}`, async () => {
      const world = await open({
        smsc: { receiptDialect, utcOffsetMinutes: 330 },
        carrier: { ...QUICK, receipts, receiptOffsetMinutes: 330 },
      });

      const ids = await world.sendMany(['000', '101', '102', '103'].map((ending) => ({ to: `919876500${ending}` })));

      for (const [i, state] of states.entries()) {
        const message = await world.reaches(ids[i] ?? expect.fail('sent'), state);
        if (state !== 'delivered') continue;
        // The date was read in the carrier's zone, in whole minutes, and not earlier than the submit.
        expect(Math.abs((message.deliveredAt?.getTime() ?? 0) - Date.now())).to.be.below(120_000);
      }
    });
  }

  it('a word that nobody knows leaves the message as it is, and is on its timeline and in the metrics', async () => {
    const world = await open({ smsc: { receiptDialect: 'nonsense' }, carrier: QUICK });

    const id = await world.send({});

    const record = await eventually(async () => {
      const [first] = await readMessageLog(world.db, id);
      return first;
    }, 'the receipt is logged');
    expect(record).to.deep.include({ kind: 'receipt', result: 'ignored' });
    expect((await world.message(id)).state).to.equal('sent');
    expect(await world.metrics.registry.metrics()).to.match(
      /smpp_receipts_unknown_word_total\{carrier="sim",meaning="ignore"\} 1/,
    );
  });

  it('and a setting of the carrier teaches it', async () => {
    const receipts = { receiptWord: [{ word: 'ABRACADABRA', meaning: 'delivered' }], receiptProfile: 'cmpp' } as const;
    const world = await open({ smsc: { receiptDialect: 'nonsense' }, carrier: { ...QUICK, receipts } });

    const [told, other] = await world.sendMany([{ to: '919876500000' }, { to: '919876500101' }]);

    await world.reaches(told ?? expect.fail('sent'), 'delivered');
    expect(await world.reaches(other ?? expect.fail('sent'), 'failed')).to.include({ errorCode: '001' });
  });

  it('a carrier without the switch for receipts of esm_class 0 sends messages of handsets', async () => {
    const world = await open({ smsc: { receiptDialect: 'plain', deliverTries: 1 }, carrier: QUICK });

    const id = await world.send({});

    await world.reaches(id, 'sent');
    await eventually(() => world.smsc.stats().deliveries.sent >= 1, 'the receipt was sent');
    expect((await world.message(id)).state).to.equal('sent');
  });

  it('one of esm_class 0 that comes before its answer settles its message all the same', async () => {
    const receipts = { plainReceipts: true };
    const world = await open({
      smsc: { receiptDialect: 'plain', idForm: 'hex-decimal' },
      carrier: { ...QUICK, receipts },
    });

    const id = await world.send({ to: '919876500105' });

    await world.reaches(id, 'delivered');
    expect(world.smsc.stats().deliveries.retried).to.equal(0);
  });

  for (const [receiptDialect, receiptParts] of [
    ['first-part', 'first'],
    ['last-part', 'last'],
    ['last-part', 'any'],
  ] as const) {
    it(`${receiptDialect}: one receipt settles a long text where the carrier is set to ${receiptParts}`, async () => {
      const world = await open({ smsc: { receiptDialect }, carrier: { ...QUICK, receipts: { receiptParts } } });

      const [good, bad] = await world.sendMany([
        { to: '919876500000', text: LONG },
        { to: '919876500103', text: LONG },
      ]);

      await world.reaches(good ?? expect.fail('sent'), 'delivered');
      await world.reaches(bad ?? expect.fail('sent'), 'rejected');
    });
  }
});
