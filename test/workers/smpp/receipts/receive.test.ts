import { CARRIER_DEFAULTS } from '../../../../shared/carriers/carrier.ts';
import { STATUS } from '../../../../shared/carriers/command-status.ts';
import type { ReceiptSettings } from '../../../../shared/carriers/settings/receipts.ts';
import type { Deliver } from '../../../../shared/carriers/smpp/deliver-sm.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { MessageLog } from '../../../../shared/messages/settlement/message-log.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import type { Log } from '../../../../shared/platform/runtime/log.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { Measurements } from '../../../../workers/smpp/monitoring/bind-reporter.ts';
import { createSmppMetrics } from '../../../../workers/smpp/monitoring/metrics.ts';
import { Receive } from '../../../../workers/smpp/receipts/receive.ts';
import { ReceiptSettler } from '../../../../workers/smpp/receipts/settle-receipts.ts';
import { dialect } from '../../../support/dialect.ts';
import { eventually } from '../../../support/eventually.ts';
import { keepLines } from '../../../support/log-lines.ts';
import { makeMessage } from '../../../support/make.ts';
import { noAnswers } from '../../../support/receipt-world.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { openTestStore, type TestStore } from '../../../support/store.ts';

const TEXT = 'id:4f1c sub:001 dlvrd:001 submit date:2611211004 done date:2611211005 stat:DELIVRD err:000 text:hi';

function deliver(overrides: Partial<Deliver> = {}): Deliver {
  return { from: '919876543210', to: 'HARKRA', esmClass: 0x04, dataCoding: 0, body: Buffer.from(TEXT), ...overrides };
}

describe('Receive', () => {
  let store: TestStore;
  let slowed: number;
  beforeEach(async () => {
    store = await openTestStore();
    slowed = 0;
  });
  afterEach(() => store.close());

  function receiver(set: Partial<ReceiptSettings> = {}, spoken = dialect(set), log: Log = silentLog): Receive {
    const settler = new Settler({
      db: store.db,
      announcer: { announce: async () => {} },
      lease: 'carrier:c',
      epoch: 1,
      stream: 'receipts',
    });
    return new Receive({
      measurements: new Measurements(systemClock),
      carrier: {
        ...CARRIER_DEFAULTS,
        _id: 'c',
        name: 'Carrier',
        host: 'localhost',
        port: 1,
        systemId: 'x',
        password: '',
        createdAt: new Date(),
      },
      dialect: spoken,
      clock: systemClock,
      log,
      metrics: createSmppMetrics(new Metrics()),
      inbound: { take: async (_, answer) => answer(STATUS.receiverRejects) },
      receipts: new ReceiptSettler({
        db: store.db,
        clock: systemClock,
        settler,
        rules: {
          ...{ carrier: 'c', parts: 'perPart', holdMinutes: 60 },
          submitsOf: ({ segments }) => segments,
          reasonOf: (...said) => spoken.reasonOf(...said),
        },
        messageLog: new MessageLog({ db: store.db, clock: systemClock, log: silentLog, days: 30 }),
        onGroup: () => {},
        answers: noAnswers,
      }),
      slowDown: () => {
        slowed += 1;
      },
    });
  }

  /** Takes a PDU as the worker would; returns the answer's status. */
  async function take(pdu: Deliver, set: Partial<ReceiptSettings> = {}, receive = receiver(set)): Promise<number> {
    const statuses: number[] = [];
    await receive.take(pdu, (status) => statuses.push(status), { session: { open: true, heardMs: 0 }, sequence: 1 });
    expect(statuses).to.have.length(1);
    return statuses[0] ?? -1;
  }

  it('keeps of an unusual receipt all but the words of the message, in the log of the message', async () => {
    await sent();
    const body = Buffer.from(TEXT.replace('DELIVRD', 'UNDELIV'));

    expect(
      await take(
        deliver({
          ...{ body, receiptedMessageId: '4f1c', networkErrorCode: Buffer.from([3, 0, 1]) },
          otherTlvs: [{ tag: 0x1403, value: Buffer.from('404') }],
        }),
      ),
    ).to.equal(0);

    const record = await eventually(() => store.db.collection('message_log').findOne({}), 'the receipt is logged');
    expect(record).to.deep.include({
      from: '919876543210',
      text: TEXT.slice(0, TEXT.indexOf(' text:')).replace('DELIVRD', 'UNDELIV'),
      tlvs: {
        ...{ receiptedMessageId: '4f1c', networkErrorCode: '030001' },
        others: [{ tag: '0x1403', value: '343034' }],
      },
    });
    expect(JSON.stringify(record)).not.to.match(/text:|\bhi\b/);
  });

  async function sent(...ids: readonly string[]): Promise<() => Promise<MessageDocument | null>> {
    const messages = store.db.collection<MessageDocument>('messages');
    const message = makeMessage({
      state: 'sent',
      parts: ['4f1c', ...ids].map((id) => ({ key: `c:${id}`, state: 'accepted' })),
      claim: { id: newId('clm'), carrier: 'c', epoch: 1, at: new Date('2026-11-21T10:00:00Z') },
    });
    await messages.insertOne(message);
    return () => messages.findOne({ _id: message._id });
  }

  const FORMS: readonly (readonly [string, Partial<Deliver>])[] = [
    ['as text', {}],
    ['with a UDH bit or a reply path beside it', { esmClass: 0x04 | 0x80 }],
    ['as real UCS-2', { dataCoding: 8, body: Buffer.from(TEXT, 'utf16le').swap16() }],
    ['as ASCII that is called UCS-2', { dataCoding: 8 }],
    ['as Latin-1', { dataCoding: 3 }],
    ['as TLVs only', { body: Buffer.alloc(0), receiptedMessageId: '4f1c', messageState: 2 }],
    ['as TLVs without the bits in esm_class', { esmClass: 0, receiptedMessageId: '4f1c', messageState: 2 }],
  ];
  for (const [how, overrides] of FORMS) {
    it(`a receipt ${how} settles its message before it is answered`, async () => {
      const stored = await sent();

      expect(await take(deliver(overrides))).to.equal(0);

      expect((await stored())?.state).to.equal('delivered');
    });
  }

  it('an unknown word is logged, so that somebody adds it to a table; its digits may be a number', async () => {
    const { log, lines } = keepLines();
    const receive = receiver({}, dialect({}), log);

    await take(deliver({ body: Buffer.from(TEXT.replace('DELIVRD', 'GONE_919876543210')) }), {}, receive);
    await receive.takeTold({ id: '4f1c', words: ['GONE_919876543210'] });

    const words = lines.flatMap(({ event, fields }) => (event === 'receipt_word_unknown' ? fields.word : []));
    expect(words).to.deep.equal(['GONE_999999999999', 'GONE_999999999999']);
  });

  it('a state that is told as a number only is not explained as the error of that number', async () => {
    const stored = await sent();
    const tlvs = { receiptedMessageId: '4f1c', messageState: 5 };

    await take(deliver({ body: Buffer.alloc(0), ...tlvs }), { receiptProfile: 'twilio' });

    expect(await stored()).to.include({ state: 'failed', errorCode: '5', errorReason: 'Not delivered' });
  });

  for (const [last, body] of [
    ['is delivered', 'id:4f1d stat:DELIVRD err:000'],
    ['has the error of that number', 'id:4f1d stat:UNDELIV err:5'],
  ] as const) {
    it(`nor is that of an earlier segment, when the last one ${last}`, async () => {
      const stored = await sent('4f1d');
      const told = { body: Buffer.alloc(0), receiptedMessageId: '4f1c', messageState: 5 };
      await take(deliver(told), { receiptProfile: 'twilio' });

      await take(deliver({ body: Buffer.from(body) }), { receiptProfile: 'twilio' });

      expect(await stored()).to.include({ state: 'failed', errorCode: '5', errorReason: 'Not delivered' });
    });
  }

  const NOTHING: readonly (readonly [string, Partial<Deliver>])[] = [
    ['an intermediate notification', { esmClass: 0x20 }],
    ['a receipt that says ENROUTE', { body: Buffer.from('id:4f1c stat:ENROUTE err:000') }],
    ['a receipt that cannot be read', { body: Buffer.from('00,0210021543,0210021500,,447887123456') }],
  ];
  for (const [what, overrides] of NOTHING) {
    it(`${what} is taken and changes nothing`, async () => {
      const stored = await sent();

      expect(await take(deliver(overrides))).to.equal(0);

      expect((await stored())?.state).to.equal('sent');
      expect(await store.db.collection('orphans').countDocuments()).to.equal(0);
    });
  }

  it('a word that nobody knows changes nothing, and is kept in the log of the message', async () => {
    const stored = await sent();

    expect(await take(deliver({ body: Buffer.from(TEXT.replace('DELIVRD', 'BOOM')) }))).to.equal(0);

    const record = await eventually(() => store.db.collection('message_log').findOne({}), 'the receipt is logged');
    expect(record).to.deep.include({ result: 'ignored' });
    expect(record?.part).to.include({ effect: 'ignore', error: 'BOOM' }).and.not.to.have.property('reason');
    expect((await stored())?.state).to.equal('sent');
  });

  it('nor is such a receipt lost when it comes before its answer', async () => {
    expect(await take(deliver({ body: Buffer.from(TEXT.replace('DELIVRD', 'BOOM')) }))).to.equal(0);

    expect(await store.db.collection('orphans').countDocuments()).to.equal(1);
  });

  it('a profile may say what its unknown words mean: failed at once', async () => {
    const stored = await sent();

    await take(deliver({ body: Buffer.from(TEXT.replace('DELIVRD', 'BOOM')) }), { receiptProfile: 'kaleyra' });

    expect(await stored()).to.include({ state: 'failed', errorCode: 'BOOM', errorReason: 'Not delivered' });
  });

  it('a word that does not tell the end holds the message until a better receipt comes, or its time is over', async () => {
    const stored = await sent();
    const body = Buffer.from(TEXT.replace('DELIVRD', 'NULL'));

    await take(deliver({ body }), { receiptProfile: 'pswincom' });
    const held = await stored();
    await take(deliver({ body }), { receiptProfile: 'pswincom' });

    expect(held?.state).to.equal('sent');
    expect(held?.held).to.include({ error: 'NULL', reason: 'The operator tells nothing of its end' });
    expect(held?.due).to.deep.equal(held?.held?.until);
    expect((await stored())?.held).to.deep.equal(held?.held);

    await take(deliver());
    expect((await stored())?.state).to.equal('delivered');
  });

  describe('of esm_class 0, where the carrier is known to send such receipts', () => {
    const PLAIN = { esmClass: 0 };
    const TAKES = { plainReceipts: true };

    it('settles the message with its id to the number that it came from', async () => {
      const stored = await sent();

      expect(await take(deliver(PLAIN), TAKES)).to.equal(0);

      expect((await stored())?.state).to.equal('delivered');
    });

    const FORGED: readonly (readonly [string, Partial<Deliver>])[] = [
      ['an id that nobody has', { body: Buffer.from('id:beef stat:DELIVRD err:000') }],
      ['the id of a message to somebody else', { from: '918800000000' }],
      ['addresses that are swapped', { from: 'HARKRA', to: '919876543210' }],
      ['no source', { from: '' }],
      ['a masked source', { from: '9198******10' }],
      ['no state', { body: Buffer.from('id:4f1c err:000') }],
      ['a word that nobody knows', { body: Buffer.from('id:4f1c stat:HELLO') }],
    ];
    for (const [what, overrides] of FORGED) {
      it(`with ${what} it stays a message of a handset`, async () => {
        const stored = await sent();

        expect(await take(deliver({ ...PLAIN, ...overrides }), TAKES)).to.equal(0x65);

        expect((await stored())?.state).to.equal('sent');
        expect(await store.db.collection('orphans').countDocuments()).to.equal(0);
      });
    }
  });

  for (const esmClass of [0x00, 0x08, 0x10, 0x18, 0x40]) {
    it(`esm_class 0x${esmClass.toString(16)}: a text that looks like a receipt is none, and is refused for good`, async () => {
      const stored = await sent();

      expect(await take(deliver({ esmClass }))).to.equal(0x65);

      expect((await stored())?.state).to.equal('sent');
    });
  }

  it('at which our own code fails: refused for now, and after some tries for good; no other is held up', async () => {
    const stored = await sent();
    const mistaken = Object.assign(dialect({}), {
      reasonOf: () => {
        throw new TypeError('a mistake of ours');
      },
    });
    const receive = receiver({}, mistaken);
    const poison = deliver({ body: Buffer.from(TEXT.replace('DELIVRD err:000', 'UNDELIV err:666')) });
    const statuses: number[] = [];
    for (let tries = 0; tries < 6; tries++) statuses.push(await take(poison, {}, receive));

    expect(statuses).to.deep.equal([0x08, 0x08, 0x08, 0x08, 0x65, 0x08]);
    expect(slowed).to.equal(0);
    expect((await stored())?.state).to.equal('sent');
    expect(await take(deliver(), {}, receive)).to.equal(0);
    expect((await stored())?.state).to.equal('delivered');
  });

  it('when the store is away it is to come again, and slower', async () => {
    const { db } = store;
    await db.admin().command({ ping: 1 });
    const away = await openTestStore();
    await store.close();
    store = { ...away, db };

    expect(await take(deliver())).to.equal(0x14);
    expect(slowed).to.equal(1);

    store = away;
  });
});
