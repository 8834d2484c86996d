import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import type { SmscOptions } from '../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../scripts/simulator/smsc.ts';
import type { CarrierDocument } from '../../shared/carriers/carrier.ts';
import { createCarrier, type NewCarrier } from '../../shared/carriers/carrier-store.ts';
import {
  type MessageDocument,
  type MessageDraft,
  type MessageState,
  queuedMessage,
} from '../../shared/messages/document/message.ts';
import { WRITE_OUT_MS } from '../../shared/messages/queue/queue-document.ts';
import { writeOut } from '../../shared/messages/queue/queue-store.ts';
import { planText } from '../../shared/messages/sms-plan.ts';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, type MessageId, newId } from '../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../shared/platform/runtime/metrics.ts';
import type { ProcessIdentity } from '../../shared/platform/runtime/process-identity.ts';
import { type InboundSettings, SmppWorker } from '../../workers/smpp/worker.ts';
import { eventually } from './eventually.ts';
import { makeAccount, makeDraft } from './make.ts';
import { startWireProxy, type WireProxy } from './mongo-wire/proxy.ts';
import { enqueue } from './queue.ts';
import { boxOf } from './secret-box.ts';
import { silentLog } from './silent-log.ts';
import { openTestStore, type TestStore } from './store.ts';

export const CARRIER = 'sim';

export interface WorldOptions {
  readonly smsc?: Partial<SmscOptions>;
  readonly carrier?: Partial<NewCarrier>;
  readonly leaseTtlMs?: number;
  readonly inbound?: InboundSettings;
}

/** A real store, a simulated carrier and the worker between them. */
export interface World {
  readonly db: Db;
  readonly smsc: Smsc;
  /** The sender of the messages. */
  readonly account: AccountId;
  readonly worker: SmppWorker;
  readonly metrics: Metrics;
  /** The proxy between the workers and the store. */
  readonly proxy: WireProxy;
  /** Queues a paid message. It is in `messages` once something happened to it, or a second later. */
  send(draft: Partial<MessageDraft>): Promise<MessageId>;
  sendMany(drafts: readonly Partial<MessageDraft>[]): Promise<MessageId[]>;
  message(id: MessageId): Promise<MessageDocument>;
  /** `withinMs`: for what takes longer than `eventually` usually waits. */
  reaches(id: MessageId, state: MessageState): Promise<MessageDocument>;
  /** Waits for all of them with one query, which is cheap. */
  allReach(ids: readonly MessageId[], state: MessageState): Promise<void>;
  addCarrier(carrier: NewCarrier): Promise<void>;
  /** Another process at the same store. */
  anotherWorker(identity: ProcessIdentity): SmppWorker;
  close(): Promise<void>;
}

const box = boxOf(randomBytes(32));

/**
 * Short, so that an unanswered submit is soon unknown, but longer than the simulator takes even on a stalled machine.
 * enquire_link stays rare: such a late answer to it would end the link.
 */
export const QUICK: Partial<CarrierDocument> = { responseTimeoutMs: 6_000 };

export async function openWorld({
  smsc: smscOptions,
  carrier,
  leaseTtlMs,
  inbound,
}: WorldOptions = {}): Promise<World> {
  const store: TestStore = await openTestStore();
  const { db } = store;
  const proxy = await startWireProxy(store.uri);
  const mongodbDatabase = db.databaseName;
  const proxied = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase });
  const smsc = await startSmsc({ receiptDelayMs: 20, ...smscOptions });
  await createCarrier(db, systemClock, box, {
    _id: CARRIER,
    name: 'Simulator',
    host: '127.0.0.1',
    port: smsc.port,
    systemId: 'harkara',
    password: 'secret',
    ...carrier,
  });
  const account = await makeAccount(db, 1_000_000);
  const metrics = new Metrics();
  const workers: SmppWorker[] = [];
  const start = (registry: Metrics, identity?: ProcessIdentity): SmppWorker => {
    const worker = new SmppWorker({
      db: proxied.db,
      clock: systemClock,
      log: silentLog,
      metrics: registry,
      box,
      pollMs: 50,
      ...(inbound === undefined ? {} : { inbound }),
      ...(leaseTtlMs === undefined ? {} : { leaseTtlMs }),
      ...(identity === undefined ? {} : { identity }),
    });
    worker.start();
    workers.push(worker);
    return worker;
  };
  // As maintenance does.
  const writing = repeat(WRITE_OUT_MS / 4, async () => {
    const now = systemClock.now();
    await writeOut(db, now, { writeAt: { $lte: now } });
  });
  const messages = db.collection<MessageDocument>('messages');
  const find = async (id: MessageId): Promise<MessageDocument> => {
    const found = await messages.findOne({ _id: id });
    if (found === null) throw new Error(`no message ${id}`);
    return found;
  };
  const sendMany = async (drafts: readonly Partial<MessageDraft>[]): Promise<MessageId[]> => {
    const documents = drafts.map((draft) => queued(account, draft));
    await enqueue(db, documents);
    return documents.map((document) => document._id);
  };
  return {
    db,
    smsc,
    account,
    metrics,
    proxy,
    worker: start(metrics),
    sendMany,
    send: async (draft) => {
      const [id] = await sendMany([draft]);
      if (id === undefined) throw new Error('nothing was sent');
      return id;
    },
    message: find,
    reaches: (id, state) =>
      eventually(async () => {
        const message = await find(id);
        if (message.state !== state) throw new Error(`is ${message.state}, ${JSON.stringify(message.parts)}`);
        return message;
      }, `${id} becomes ${state}`),
    allReach: async (ids, state) => {
      await eventually(async () => {
        const count = await messages.countDocuments({ _id: { $in: [...ids] }, state });
        if (count < ids.length) throw new Error(`${count} of ${ids.length}`);
        return true;
      }, `all become ${state}`);
    },
    addCarrier: async (input) => {
      await createCarrier(db, systemClock, box, input);
    },
    anotherWorker: (identity) => start(new Metrics(), identity),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await writing.end();
      await smsc.close();
      await proxied.close();
      await proxy.close();
      await store.close();
    },
  };
}

/** For a `describe` whose tests each open a world: returns a function that opens one, closed after the test. */
export function worldPerTest(): (options?: WorldOptions) => Promise<World> {
  let world: World | undefined;
  afterEach(async () => {
    await world?.close();
    world = undefined;
  });
  return async (options) => {
    world = await openWorld(options);
    return world;
  };
}

export function numbered(count: number, more: Partial<MessageDraft> = {}): Partial<MessageDraft>[] {
  return Array.from({ length: count }, (_, i) => ({ to: `9198765${String(i * 1_000).padStart(5, '0')}`, ...more }));
}

/** Repeats something until `end`, which throws its errors. */
function repeat(pauseMs: number, work: () => Promise<void>): { end(): Promise<void> } {
  let ended = false;
  const running = (async () => {
    while (!ended) {
      await work();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  })();
  running.catch(() => undefined); // `end` throws it.
  return {
    end: () => {
      ended = true;
      return running;
    },
  };
}

/** A queued message, with the encoding and segments that the gateway would count. */
function queued(account: AccountId, draft: Partial<MessageDraft>): MessageDocument {
  const text = draft.text ?? 'hello';
  const { encoding, segments } = planText(text);
  return queuedMessage(account, newId('grp'), makeDraft({ ...draft, text, encoding, segments }));
}
