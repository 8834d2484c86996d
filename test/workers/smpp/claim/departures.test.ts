import { randomBytes } from 'node:crypto';
import { updateCarrier } from '../../../../shared/carriers/carrier-store.ts';
import { changeOptOuts } from '../../../../shared/carriers/opt-outs/store.ts';
import { createSender, decideSender } from '../../../../shared/carriers/sender.ts';
import { deliveriesIn, type Stored } from '../../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import { type MessageDocument, queuedMessage } from '../../../../shared/messages/document/message.ts';
import { queueOf } from '../../../../shared/messages/queue/queue-store.ts';
import { topUp } from '../../../../shared/money/ledger/change.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import {
  type AccountId,
  type BatchId,
  type GroupId,
  lowestId,
  newId,
} from '../../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { createTemplate, decideTemplate } from '../../../../shared/templates/sms/store.ts';
import { SmppWorker } from '../../../../workers/smpp/worker.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { enqueue, enqueueWritten, writeOutAll } from '../../../support/queue.ts';
import { boxOf } from '../../../support/secret-box.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { CARRIER, openWorld } from '../../../support/smpp-world.ts';
import { use } from '../../../support/use.ts';

const TEMPLATE = '1107160000000000001';
const ENTITY = '1101160000000000009';
const HOUR_MS = 3_600_000;

describe('smpp worker: a message that waited', () => {
  const world = use(openWorld);

  const messages = () => world.db.collection<MessageDocument>('messages');
  const longAgo = (): GroupId => lowestId('grp', new Date(Date.now() - HOUR_MS));

  async function put(account: AccountId, more: Partial<MessageDocument> = {}): Promise<MessageDocument> {
    const { group = longAgo(), ...rest } = more;
    const ids = rest.template === undefined ? {} : { entityId: ENTITY };
    const message = { ...queuedMessage(account, group, makeDraft()), ...ids, ...rest };
    // A version above 0: it was claimed before and came back from a carrier.
    await (message.v > 0 ? enqueueWritten : enqueue)(world.db, [message]);
    return message;
  }

  /** An account under DLT with a sender, a template and an endpoint. */
  async function indian(): Promise<AccountId> {
    const account = await makeAccount(world.db, 10, { dlt: 'on', entityId: ENTITY });
    const routes = ['transactional'] as const;
    await createSender(world.db, systemClock, { account, sender: 'HARKRA', routes, status: 'approved' });
    await createTemplate(world.db, systemClock, account, {
      dltId: TEMPLATE,
      name: 'Greeting',
      senders: ['HARKRA'],
      routes,
      content: 'hello',
      status: 'approved',
    });
    await world.db.collection<EndpointDocument>('endpoints').insertOne({
      _id: newId('whk'),
      account,
      channel: 'sms',
      url: 'https://example.com/',
      place: 0,
      events: ['message.rejected'],
      secrets: [],
      status: 'active',
      createdAt: new Date(),
    });
    return account;
  }

  async function expectRefused(message: MessageDocument, code: string): Promise<void> {
    const ended = await world.reaches(message._id, 'rejected');
    expect(ended).to.include({ errorCode: code });
    expect(ended).not.to.have.property('due');
    expect(world.smsc.messages().filter(({ to }) => to === message.to)).to.deep.equal([]);
    const refund = { account: message.account, change: `ref_${message._id}` };
    await eventually(() => world.db.collection('ledger').findOne(refund), 'the refund');
    expect((await verifyLedger(world.db, message.account)).problems).to.deep.equal([]);
    expect(await world.db.collection('ledger').countDocuments(refund)).to.equal(1);
    const { account } = message;
    const stored = await world.db.collection('deliveries').find({ account }).project<Stored>({}).toArray();
    const told = stored.flatMap(deliveriesIn).filter((one) => one.message === message._id);
    expect(told.map(({ event }) => event)).to.deep.equal(['message.rejected']);
  }

  it('leaves while its account, sender and template are as they were', async () => {
    const account = await indian();
    const message = await put(account, { to: '919876510001', template: TEMPLATE });

    await world.reaches(message._id, 'delivered');
  });

  it('is refused, told and refunded once when its recipient opted out meanwhile', async () => {
    const account = await indian();
    const to = '919876510020';
    await changeOptOuts(world.db, [
      { account, customer: to, scope: '56767', kind: 'out', at: new Date(), source: 'api' },
    ]);

    await expectRefused(await put(account, { to, template: TEMPLATE }), 'recipient_opted_out');
  });

  it('leaves as the answer to a customer who opted out, from a number that is no registered sender', async () => {
    const account = await makeAccount(world.db, 10, { senders: 'registered' });
    const [to, sender] = ['919876510023', '919000000001'];
    await changeOptOuts(world.db, [
      { account, customer: to, scope: sender, kind: 'out', at: new Date(), source: 'inbound' },
    ]);
    const answer = await put(account, { to, sender, inReplyTo: newId('msg') });
    const other = await put(account, { to, sender });

    await world.reaches(answer._id, 'delivered');
    expect(await world.reaches(other._id, 'rejected')).to.include({ errorCode: 'recipient_opted_out' });
  });

  it('leaves when its recipient opted out of another number, or the account exempts its kind', async () => {
    const optedOut = { kind: 'out', at: new Date(), source: 'api' } as const;
    const [plain, exempting] = [
      await makeAccount(world.db, 10),
      await makeAccount(world.db, 10, { optOutExempt: ['transactional'] }),
    ];
    const [to, exempt] = ['919876510021', '919876510022'];
    await changeOptOuts(world.db, [
      { ...optedOut, account: plain, customer: to, scope: '56767' },
      { ...optedOut, account: exempting, customer: exempt, scope: '*' },
    ]);

    const other = await put(plain, { to, sender: '56768' });
    const transactional = await put(exempting, { to: exempt });

    await world.reaches(other._id, 'delivered');
    await world.reaches(transactional._id, 'delivered');
  });

  it('is refused, told and refunded once when its template was rejected meanwhile', async () => {
    const account = await indian();
    await decideTemplate(world.db, systemClock, account, TEMPLATE, 'rejected');

    await expectRefused(await put(account, { to: '919876510002', template: TEMPLATE }), 'template_not_approved');
  });

  it('is refused when its template is for another sender, or is not there any more', async () => {
    const account = await indian();
    await createSender(world.db, systemClock, {
      account,
      sender: 'OTHERS',
      routes: ['transactional'],
      status: 'approved',
    });

    const other = await put(account, { to: '919876510003', template: TEMPLATE, sender: 'OTHERS' });
    const gone = await put(account, { to: '919876510004', template: '1107160000000000099' });

    await expectRefused(other, 'template_not_approved');
    await expectRefused(gone, 'template_not_approved');
  });

  it('is refused when it was accepted without a PE id', async () => {
    const { entityId: _, ...message } = {
      ...queuedMessage(await indian(), longAgo(), makeDraft({ to: '919876510014', template: TEMPLATE })),
    };
    await enqueue(world.db, [message]);

    await expectRefused(message, 'entity_id_missing');
  });

  it('is refused when its sender was rejected meanwhile', async () => {
    const account = await indian();
    await decideSender(world.db, systemClock, account, 'HARKRA', 'rejected');

    await expectRefused(await put(account, { to: '919876510005', template: TEMPLATE }), 'sender_not_registered');
  });

  it('of an account with registered senders only is refused when its sender is not one, or not for its route', async () => {
    const account = await makeAccount(world.db, 10, { senders: 'registered' });
    const routes = ['promotional'] as const;
    await createSender(world.db, systemClock, { account, sender: 'HARKRA', routes, status: 'approved' });

    const message = await put(account, { to: '919876510006' });
    const promotional = await put(account, { to: '919876510007', route: 'promotional', path: 'promotional', lane: 3 });

    const ended = await world.reaches(message._id, 'rejected');
    expect(ended.errorCode).to.equal('sender_not_registered');
    await world.reaches(promotional._id, 'delivered');
  });

  it('of an account that has switched DLT off needs neither', async () => {
    const account = await makeAccount(world.db, 10, { dlt: 'off' });

    const message = await put(account, { to: '919876510008', template: TEMPLATE });

    await world.reaches(message._id, 'delivered');
  });

  it('of an account whose credits have run out of time leaves: it was paid for in time', async () => {
    const account = await makeAccount(world.db, 10, { expiryDate: '2020-01-01' });

    await world.reaches((await put(account, { to: '919876510009' }))._id, 'delivered');
  });

  it('of an account that was suspended meanwhile waits, and is not refused', async () => {
    const account = await makeAccount(world.db, 10, { status: 'suspended', held: true, senders: 'registered' });
    await createSender(world.db, systemClock, {
      account,
      sender: 'HARKRA',
      routes: ['transactional'],
      status: 'approved',
    });

    await eventually(async () => {
      const waits = await put(account);
      const marker = await put(await makeAccount(world.db, 1));
      await world.reaches(marker._id, 'delivered');
      return (await queueOf(world.db).countDocuments({ account, open: true, first: waits._id })) === 1;
    }, 'the suspension is known');

    await writeOutAll(world.db);
    expect(await messages().countDocuments({ account, state: 'queued' })).to.be.above(0);
    expect(await messages().countDocuments({ account, state: 'rejected' })).to.equal(0);
  });

  it('that leaves at once is not looked at again', async () => {
    const account = await makeAccount(world.db, 10, { senders: 'registered' });

    await world.reaches((await put(account, { to: '919876510010', group: newId('grp') }))._id, 'delivered');
  });

  it('comes back from a carrier after its batch was stopped: it does not leave again', async () => {
    const account = await indian();
    await topUp(world.db, account, 1, newId('req'));
    const batch: BatchId = newId('bat');
    // Only the fields that the claim reads.
    await world.db
      .collection<BatchDocument>('batches')
      .insertOne({ _id: batch, account, state: 'stopped' } as BatchDocument);

    const back = await put(account, { to: '919876510012', batch, v: 2, group: newId('grp') });
    const first = await put(account, { to: '919876510013', batch, group: newId('grp') });

    await expectRefused(back, 'cancelled');
    await world.reaches(first._id, 'delivered');
  });

  it('goes back to the queue when nobody can tell whether it may leave, and leaves once when that is known', async () => {
    const account = await makeAccount(world.db, 10, { senders: 'registered' });
    const routes = ['transactional'] as const;
    await createSender(world.db, systemClock, { account, sender: 'HARKRA', routes, status: 'approved' });
    await world.worker.stop();
    let broken = true;
    const db = new Proxy(world.db, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (broken && args[0] === 'senders') throw new Error('the store is away');
          return value.apply(target, args);
        };
      },
    });
    const box = boxOf(randomBytes(32));
    await updateCarrier(world.db, box, CARRIER, { password: 'secret' });
    const worker = new SmppWorker({ db, clock: systemClock, log: silentLog, metrics: new Metrics(), box, pollMs: 50 });
    worker.start();
    try {
      const message = await put(account, { to: '919876510020' });
      await eventually(
        () => messages().findOne({ _id: message._id, v: { $gte: 4 } }),
        'it was claimed twice and given back',
      );
      expect(world.smsc.messages().filter(({ to }) => to === message.to)).to.deep.equal([]);

      broken = false;

      await world.reaches(message._id, 'delivered');
      expect(world.smsc.messages().filter(({ to }) => to === message.to)).to.have.length(1);
    } finally {
      await worker.stop();
    }
  });
});
