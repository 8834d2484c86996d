import type { Document } from 'mongodb';
import { removeUnreleased } from '../../shared/messages/batch.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { insertBy, neverStore } from '../../shared/money/conversations/include.ts';
import { declareOver } from '../../shared/money/payment/debit.ts';
import { Lease } from '../../shared/platform/leases/lease.ts';
import { connectStore, type Store } from '../../shared/platform/mongo/connect.ts';
import { ensureIndexes } from '../../shared/platform/mongo/indexes.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../workers/maintenance/finish-pending.ts';
import { Alarm } from '../../workers/schedules/alarm.ts';
import { openGateway } from '../support/gateway.ts';
import { makeAccount } from '../support/make.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { furnish, oneOfEach } from '../support/one-of-each.ts';
import { signedIn } from '../support/signed-in.ts';
import { silentLog } from '../support/silent-log.ts';
import { openTestStore } from '../support/store.ts';
import { use } from '../support/use.ts';

const WRITES = ['insert', 'update', 'delete', 'findAndModify', 'createIndexes', 'dropIndexes', 'create', 'drop'];

/**
 * Checks recorded commands of each kind of request, of maintenance, leases and Agenda. `db.command` inherits nothing
 * from the database (mongodb 7.8, lib/db.js), so each such command must name its write concern.
 */
describe('every write', () => {
  const origin = use(openTestStore);
  let store: Store;
  const writes: Document[] = [];
  before(async () => {
    const options = 'monitorCommands=true&retryWrites=true&w=1&journal=false';
    const mongodbUri = `${origin.uri}${origin.uri.includes('?') ? '&' : '/?'}${options}`;
    store = await connectStore({ mongodbUri, dataDir: '', mongodbDatabase: origin.db.databaseName });
    store.db.client.on('commandStarted', ({ commandName, command }) => {
      const out = commandName === 'aggregate' && JSON.stringify(command.pipeline).match(/"\$(out|merge)"/) !== null;
      if (out || WRITES.includes(commandName)) writes.push(command);
    });
  });
  after(async () => {
    await store.close();
  });

  it('is acknowledged by a majority and journaled, and the driver never repeats one', async () => {
    const { db } = store;
    await ensureIndexes(db);
    await useProduct();

    const collections = new Set(writes.map((command) => Object.values(command)[0]));
    const names = new Set(writes.map((command) => Object.keys(command)[0]));

    expect([...names]).to.include.members(['insert', 'update', 'delete', 'findAndModify', 'createIndexes']);
    expect([...collections]).to.include.members([
      ...['accounts', 'ledger', 'messages', 'batches', 'batch_chunks', 'schedules', 'conversations', 'idempotency'],
      ...['rate', 'leases', 'alarms', 'audit', 'keys', 'endpoints', 'templates', 'users', 'sessions'],
    ]);
    for (const command of writes) {
      const what = `${Object.keys(command)[0]} ${Object.values(command)[0]}`;
      expect(command.writeConcern, what).to.deep.equal({ w: 'majority', j: true });
      // A retryable write would have it.
      expect(command, what).not.to.have.property('txnNumber');
    }
  }).timeout(120_000);

  async function useProduct(): Promise<void> {
    const { db } = store;
    const account = await makeAccount(db, 1_000);
    await furnish(db, account);
    const { headers } = await signedIn(db, 'owner', account);
    const gateway = await openGateway(db);
    await oneOfEach(gateway.url, { ...headers, 'Idempotency-Key': newId('req') });
    await oneOfEach(gateway.url, { ...headers });
    await gateway.close();

    const lease = new Lease({ name: 'every-write', db, clock: systemClock });
    await lease.keep();
    await Lease.renew([lease]);
    await lease.release();
    await finishPending(db, new ManualClock(new Date(Date.now() + 60_000)));

    const over = new Date(Date.now() - 1);
    await declareOver(db, account, over);
    await neverStore(db, newId('msg'));
    await removeUnreleased(db, newId('bat'));
    const message = await db.collection<ChatMessageDocument>('messages').findOne({ account, channel: 'chatapp' });
    if (message !== null) await insertBy(db, { ...message, _id: newId('msg') }, over);

    const alarm = new Alarm({ db, log: silentLog, ring: async () => {} });
    await alarm.start();
    await alarm.set(new Date(Date.now() + 3_600_000));
    await alarm.stop();
  }
});
