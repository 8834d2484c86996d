import type { Db } from 'mongodb';
import { CARRIER_DEFAULTS } from '../../../../shared/carriers/carrier.ts';
import type { FinalState, MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { SubmitOutcome } from '../../../../shared/messages/settlement/decide-outcome.ts';
import type { Stream } from '../../../../shared/messages/settlement/intents.ts';
import { type LogRecord, MessageLog, readMessageLog } from '../../../../shared/messages/settlement/message-log.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../../../shared/messages/settlement/settle-outcomes.ts';
import { decideUnknowns } from '../../../../shared/messages/settlement/unknowns.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { candidateKeys } from '../../../../workers/smpp/dialect/message-ids.ts';
import type { IncomingReceipt } from '../../../../workers/smpp/receipts/receipt-match.ts';
import { ReceiptSettler } from '../../../../workers/smpp/receipts/settle-receipts.ts';
import { eventually } from '../../../support/eventually.ts';
import { latch } from '../../../support/latch.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { noAnswers } from '../../../support/receipt-world.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { openTestStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

const SENT: SubmitOutcome = { kind: 'sent', parts: [{ state: 'accepted', key: 'c:1' }] };

/** Delivers its first list of documents only after `until`. `onRead`: the store has answered. */
function firstReadLate(db: Db, onRead: () => void, until: Promise<void>): Db {
  let isFirst = true;
  const late = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        if (name === 'collection' || name === 'find') return (...args: unknown[]) => late(value.apply(of, args));
        if (name !== 'toArray' || !isFirst) return value.bind(of);
        isFirst = false;
        return async () => {
          const documents = await value.apply(of);
          onRead();
          await until;
          return documents;
        };
      },
    });
  return late(db);
}

describe('the message log', () => {
  const clock = new ManualClock();
  const store = use(openTestStore);
  let account: AccountId;
  let messageLog: MessageLog;
  let receipts: ReceiptSettler;
  let outcomes: OutcomeSettler;
  beforeEach(async () => {
    for (const name of ['messages', 'intents', 'orphans', 'message_log', 'accounts']) {
      await store.db.collection(name).deleteMany({});
    }
    account = await makeAccount(store.db, 0);
    open();
  });

  const messages = () => store.db.collection<MessageDocument>('messages');
  const settler = (stream: Stream): Settler =>
    new Settler({ db: store.db, announcer: { announce: async () => {} }, lease: 'carrier:c', epoch: 1, stream });
  function open(logDb = store.db): void {
    messageLog = new MessageLog({ db: logDb, clock, log: silentLog, days: 30 });
    receipts = new ReceiptSettler({
      db: store.db,
      clock,
      rules: { carrier: 'c', parts: 'perPart', holdMinutes: 60, submitsOf: () => 1, reasonOf: () => undefined },
      messageLog,
      settler: settler('receipts'),
      onGroup: () => {},
      answers: noAnswers,
    });
    outcomes = new OutcomeSettler({
      clock,
      log: silentLog,
      messageLog,
      settler: settler('outcomes'),
      onKeys: () => {},
      onGroup: () => {},
    });
  }
  const put = async (overrides: Partial<MessageDocument> = {}): Promise<MessageDocument> => {
    const message = makeMessage({
      account,
      text: 'secret',
      state: 'sent',
      parts: [{ key: 'c:1', state: 'accepted' }],
      claim: { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() },
      history: [{ state: 'sent', at: clock.now() }],
      v: 2,
      ...overrides,
    });
    await messages().insertOne(message);
    return message;
  };
  const claimed = async (overrides: Partial<MessageDocument> = {}): Promise<MessageDocument> => {
    const { parts: _, ...message } = await put({ state: 'submitting', history: [], v: 1, ...overrides });
    await messages().updateOne({ _id: message._id }, { $unset: { parts: '' } });
    return message;
  };
  const receipt = (told: FinalState = 'delivered', more: Partial<IncomingReceipt> = {}): IncomingReceipt => ({
    candidates: candidateKeys({ _id: 'c', idForm: 'learn' }, ['1']),
    from: '919876543210',
    to: 'HARKRA',
    part: { state: told, operator: 'Carrier' },
    excerpt: 'id:1 stat:X',
    ...more,
  });
  const logged = async ({ _id }: MessageDocument): Promise<readonly LogRecord[]> => {
    await eventually(() => messageLog.idle, 'all is written');
    return readMessageLog(store.db, _id);
  };
  const everything = async (): Promise<void> => {
    await store.db.collection<{ _id: AccountId }>('accounts').updateOne({ _id: account }, { $set: { log: 'all' } });
    clock.turn(60_000);
    await eventually(() => messageLog.wantsUsual(account), 'it is known what the account asks');
  };

  it('has nothing of a message that is sent and delivered at once', async () => {
    const message = await claimed();

    await outcomes.add(message, SENT);
    expect(await receipts.add(receipt())).to.equal('matched');

    expect(await logged(message)).to.deep.equal([]);
  });

  it('has all of it when the account asks', async () => {
    await everything();
    const message = await claimed();

    await outcomes.add(message, SENT);
    clock.turn(1_000);
    await receipts.add(receipt());

    const records = await logged(message);
    expect(records.map(({ kind }) => kind)).to.deep.equal(['answer', 'receipt']);
    expect(records[0]).to.deep.include({ message: message._id, carrier: 'c', outcome: 'sent', parts: SENT.parts });
    expect(JSON.stringify(records)).not.to.include('secret');
  });

  it('knows what the account asks from the newest read, also when an older one is answered later', async () => {
    const [read, older] = [latch(), latch()];
    open(firstReadLate(store.db, read.open, older.opened));
    await read.opened;
    await everything();

    older.open();
    await new Promise((resolve) => setImmediate(resolve));

    expect(messageLog.wantsUsual(account)).to.equal(true);
  });

  it('has a receipt that says anything but delivered, with text and parameters as they came', async () => {
    const message = await put();
    const tlvs = { receiptedMessageId: '1', messageState: 5, networkErrorCode: '030001' };

    await receipts.add(receipt('failed', { tlvs }));

    const [only, ...more] = await logged(message);
    expect(more).to.deep.equal([]);
    expect(only).to.deep.include({ kind: 'receipt', result: 'matched', text: 'id:1 stat:X', tlvs, key: 'c:1' });
  });

  it('has a duplicate, once however often it comes', async () => {
    const message = await put();
    await receipts.add(receipt());

    for (let n = 0; n < 3; n++) expect(await receipts.add(receipt())).to.equal('duplicate');

    expect((await logged(message)).map((one) => one.kind === 'receipt' && one.result)).to.deep.equal(['duplicate']);
  });

  it('has a receipt that came before its answer, with its parameters', async () => {
    const tlvs = { messageState: 2 };
    expect(await receipts.add(receipt('delivered', { tlvs }))).to.equal('orphan');
    const message = await put();

    await receipts.adopt(['c:1']);

    const [only] = await logged(message);
    expect(only).to.deep.include({ kind: 'receipt', result: 'matched', tlvs });
  });

  const unusual: readonly SubmitOutcome[] = [
    { kind: 'rejected', parts: [], code: '11', reason: 'Bad address' },
    { kind: 'retry', code: '20', reason: 'Queue full' },
    { kind: 'throttled', code: '88', reason: 'Throttled' },
    { kind: 'unknown', parts: [{ state: 'unknown' }] },
    { kind: 'requeue' },
  ];
  for (const outcome of unusual) {
    it(`has an answer that is ${outcome.kind}`, async () => {
      const message = await claimed();

      await outcomes.add(message, outcome);

      const records = await logged(message);
      expect(records).to.have.length(1);
      expect(records[0]).to.include({ kind: 'answer', outcome: outcome.kind });
      if ('code' in outcome) expect(records[0]).to.include({ code: outcome.code, reason: outcome.reason });
    });
  }

  it('has the good answer too when it is not the first', async () => {
    const message = await claimed({ tries: 1 });

    await outcomes.add(message, SENT);

    expect(await logged(message)).to.have.length(1);
  });

  it('has what policy decided about a submit without an answer', async () => {
    const message = await put({ state: 'submitting', outcome: 'unknown', parts: [{ state: 'unknown' }], history: [] });
    clock.turn(CARRIER_DEFAULTS.unknownWaitMs + 1);
    const carrier = { name: 'C', host: 'localhost', port: 1, systemId: 'x', password: '', createdAt: clock.now() };

    await decideUnknowns({
      db: store.db,
      clock,
      holder: { ...CARRIER_DEFAULTS, ...carrier, _id: 'c' },
      messageLog,
      settler: settler('unknowns'),
    });

    expect((await logged(message))[0]).to.include({ kind: 'policy', policy: 'assume_sent' });
  });

  it('keeps a record for the days of its setting', async () => {
    const message = await put();
    await receipts.add(receipt('failed'));
    await logged(message);

    const record = await store.db.collection('message_log').findOne({});
    expect(record?.expiresAt.getTime() - record?.at.getTime()).to.equal(30 * 24 * 3_600_000);
  });

  it('loses no receipt and no answer when it cannot be written', async () => {
    const away = await openTestStore();
    open(away.db);
    await away.close();
    const message = await claimed();

    await outcomes.add(message, { kind: 'unknown', parts: [{ state: 'unknown' }] });
    await messages().updateOne(
      { _id: message._id },
      { $set: { state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] } },
    );

    expect(await receipts.add(receipt('expired'))).to.equal('matched');
    expect((await messages().findOne({ _id: message._id }))?.state).to.equal('expired');
    expect(await logged(message)).to.deep.equal([]);
  });

  it("another message's records are not among a message's", async () => {
    const [message, other] = [await put(), await put({ parts: [{ key: 'c:2', state: 'accepted' }] })];
    await receipts.add(receipt('failed'));

    expect(await logged(other)).to.deep.equal([]);
    expect(await logged(message)).to.have.length(1);
  });
});
