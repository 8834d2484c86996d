import { connect, type Socket } from 'node:net';
import type { Express } from 'express';
import request from 'supertest';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { makeKey, openGateway } from './gateway.ts';
import { makeAccount } from './make.ts';
import { openTestStore, type TestStore } from './store.ts';

/** A gateway to send nonsense to, and an account that this must not change. */
export interface HostileGateway {
  readonly url: string;
  readonly port: number;
  readonly key: string;
  readonly store: TestStore;
  readonly app: Express;
  /** Expects a well-formed message of another account to be accepted meanwhile. */
  servesOthers(): Promise<void>;
  /** The account's credits and messages, which nothing may change. */
  totals(): Promise<{ readonly balance: number; readonly seq: number; readonly messages: number }>;
  /** Fails if the ledger is not whole, or an answer broke the contract. */
  close(): Promise<void>;
}

const CREDITS = 100;
/** The longest wait for a connection. */
const PATIENCE_MS = 60_000;

export async function openHostileGateway(): Promise<HostileGateway> {
  const store = await openTestStore();
  const gateway = await openGateway(store.db);
  const account: AccountId = await makeAccount(store.db, CREDITS);
  // A body of ten megabytes counts as hundreds of requests.
  const key = await makeKey(store.db, account, ['send', 'read'], undefined, 100_000);
  const otherKey = await makeKey(store.db, await makeAccount(store.db, 100_000), ['send'], undefined, 100_000);
  return {
    url: gateway.url,
    port: gateway.port,
    key,
    store,
    app: gateway.app,
    servesOthers: async () => {
      const answer = await request(gateway.url)
        .post('/v2/send')
        .set('Authorization', `Bearer ${otherKey}`)
        .send({ to: '919876543210', message: 'hello', sender: 'HARKRA' });
      expect(answer.status, answer.text).to.equal(200);
    },
    totals: async () => {
      const found = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
      const messages = await store.db.collection('messages').countDocuments({ account });
      return { balance: found?.balance ?? -1, seq: found?.seq ?? -1, messages };
    },
    close: async () => {
      const { problems } = await verifyLedger(store.db, account);
      await gateway.close();
      await store.close();
      expect(problems).to.deep.equal([]);
    },
  };
}

/** A connection and all that it received. A reset counts as `closed`. */
export interface Wire {
  readonly socket: Socket;
  received(): string;
  /** Rejects if the server does not close it within `PATIENCE_MS`. */
  readonly closed: Promise<void>;
}

export function openWire(port: number): Wire {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {}); // a reset shows as `closed`
  const closed = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`not closed within ${PATIENCE_MS} ms; received ${JSON.stringify(received.slice(0, 300))}`));
    }, PATIENCE_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return { socket, received: () => received, closed };
}

/** Sends bytes and returns the statuses of all answers until the server closes. */
export async function statusesOf(port: number, bytes: string | Buffer): Promise<number[]> {
  const wire = openWire(port);
  wire.socket.write(bytes);
  await wire.closed;
  return [...wire.received().matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
