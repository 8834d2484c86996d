import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { type Smsc, startSmsc } from '../../scripts/simulator/smsc.ts';
import { createCarrier } from '../../shared/carriers/carrier-store.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../shared/money/payment/accept.ts';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { systemClock as clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { finishPending } from '../../workers/maintenance/finish-pending.ts';
import { SmppWorker } from '../../workers/smpp/worker.ts';
import { makeKey, openGateway } from './gateway.ts';
import { makeAccount } from './make.ts';
import { linesOf } from './queue.ts';
import { boxOf } from './secret-box.ts';
import { silentLog } from './silent-log.ts';

export interface TroubleAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly code: unknown;
  readonly messageId: string | undefined;
}

/** A gateway, an SMPP worker and a carrier, whose only connection to the store may be disturbed by a test. */
export interface TroubleWorld {
  readonly smsc: Smsc;
  send(): Promise<TroubleAnswer>;
  /** The HTTP status of a path without a key. */
  statusOf(path: string): Promise<number>;
  /** deliver_sm that the worker refused because it could not store them. */
  refusedReceipts(): number;
  /** After the maintenance: stored messages (also lines of the queue), the charge, and the ledger's problems. */
  audit(
    db: Db,
  ): Promise<{ readonly messages: MessageDocument[]; readonly charged: number; readonly problems: unknown }>;
  close(): Promise<void>;
}

const CREDITS = 100_000;
const FINISH_AFTER_MS = 120_000;
const DELIVER_RESP = 0x80000005;
const QUEUE_FULL = 0x14;
/** A request may wait for several answers of a slow store. Later it counts as unanswered. */
const ANSWER_MS = 60_000;

/** Receipts wait until the test releases them. `uri`: the store's address for the disturbed connection. */
export async function openTroubleWorld(uri: string, database: string): Promise<TroubleWorld> {
  const store = await connectStore({ mongodbUri: uri, dataDir: '', mongodbDatabase: database });
  const { db } = store;
  let refused = 0;
  let sent = 0;
  const smsc = await startSmsc({
    receiptDelayMs: 0,
    holdReceipts: true,
    retryDelayMs: 300,
    onFrame: (direction, bytes) => {
      if (direction !== 'in' || bytes.readUInt32BE(4) !== DELIVER_RESP) return;
      if (bytes.readUInt32BE(8) === QUEUE_FULL) refused += 1;
    },
  });
  const box = boxOf(randomBytes(32));
  await createCarrier(db, clock, box, {
    _id: 'sim',
    name: 'Simulator',
    host: '127.0.0.1',
    port: smsc.port,
    systemId: 'harkara',
    password: 'secret',
  });
  const account: AccountId = await makeAccount(db, CREDITS);
  const key = await makeKey(db, account, ['send', 'read'], undefined, 1_000_000);
  const worker = new SmppWorker({ db, clock, log: silentLog, metrics: new Metrics(), box, pollMs: 50 });
  worker.start();
  // As in the product, an answer waits for nothing after the debit, which trouble may delay for as long as it lasts.
  const accepter = new GroupAccepter({ db, clock, log: silentLog });
  const gateway = await openGateway(db, { accepter });
  return {
    smsc,
    send: async () => {
      const response = await fetch(`${gateway.url}/v2/send`, {
        method: 'POST',
        signal: AbortSignal.timeout(ANSWER_MS),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ to: `9170${String(++sent).padStart(5, '0')}000`, message: 'hello', sender: 'HARKRA' }),
      });
      const body: unknown = await response.json();
      const id: unknown = Reflect.get(Object(body), 'message_id');
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        code: Reflect.get(Object(body), 'code'),
        messageId: typeof id === 'string' ? id : undefined,
      };
    },
    statusOf: async (path) => (await fetch(gateway.url + path, { signal: AbortSignal.timeout(ANSWER_MS) })).status,
    refusedReceipts: () => refused,
    audit: async (own) => {
      // As maintenance does later, when no process can still be working on it.
      await finishPending(own, { ...clock, now: () => new Date(clock.now().getTime() + FINISH_AFTER_MS) });
      const { problems, balance } = await verifyLedger(own, account);
      // Lines first: what leaves the queue is in `messages` by then.
      const lines = await linesOf(own, account);
      const messages = await own.collection<MessageDocument>('messages').find({ account }).toArray();
      const stored = new Set(messages.map(({ _id }) => _id));
      const onlyLines = lines.filter(({ _id }) => !stored.has(_id));
      return { messages: [...messages, ...onlyLines], charged: CREDITS - balance, problems };
    },
    close: async () => {
      await worker.stop();
      await smsc.close();
      await gateway.close();
      await accepter.settled();
      await store.close();
    },
  };
}
