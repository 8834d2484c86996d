import type { Collection } from 'mongodb';
import type { ProviderChange } from '../../../shared/carriers/providers/store.ts';
import { eventsOf } from '../../../shared/events/catalogue.ts';
import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import { deliveriesIn, type Stored } from '../../../shared/events/webhooks/delivery.ts';
import { createEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { type InboxItemDocument, keepItems } from '../../../shared/messages/chat-inbox.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { BusinessNumber, ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { MessageLog } from '../../../shared/messages/settlement/message-log.ts';
import { createChatAccepter } from '../../../shared/money/conversations/open.ts';
import { Lease } from '../../../shared/platform/leases/lease.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { checkDeparture } from '../../../workers/chatapp/depart.ts';
import { HeaderSamples } from '../../../workers/chatapp/header-samples.ts';
import { ChatWorker, type ChatWorkerOptions } from '../../../workers/chatapp/worker.ts';
import { makeProvider, TEST_BOX } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { openGates } from '../../support/gates.ts';
import { makeAccount } from '../../support/make.ts';
import { silentLog } from '../../support/silent-log.ts';
import { type UsedStore, useStore } from '../../support/store.ts';
import { makeChatMessage } from './make.ts';
import { type Answer, openProvider, type ProviderServer } from './provider-server.ts';

/** An account with its own provider, which logs what it gets. */
export interface ChatAccount {
  readonly id: AccountId;
  readonly number: BusinessNumber;
  readonly provider: ProviderServer;
}

/** A worker on a real store, against real providers. */
export interface ChatWorld {
  readonly store: UsedStore;
  readonly messages: Collection<ChatMessageDocument>;
  openAccount(answer?: Answer, change?: ProviderChange): Promise<ChatAccount>;
  startWorker(override?: Partial<ChatWorkerOptions>, machine?: string): Promise<ChatWorker>;
  /** Stores queued messages in this order; by default of templates without params, which need no session. */
  queue(account: ChatAccount, ...messages: readonly Partial<ChatMessageDocument>[]): Promise<ChatMessageDocument[]>;
  post(items: readonly InboxItemDocument[]): Promise<void>;
  read(id: MessageId): Promise<ChatMessageDocument>;
  until(id: MessageId, fits: (message: ChatMessageDocument) => boolean): Promise<ChatMessageDocument>;
  allIn(account: ChatAccount, state: AnyMessage['state'], count: number): Promise<void>;
  /** The bodies of all the account's events, in the order of their ids. */
  events(account: ChatAccount): Promise<Readonly<Record<string, unknown>>[]>;
}

/** For the body of a `describe`: everything that a test opened is closed after it. */
export function chatWorld(): ChatWorld {
  const store = useStore();
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    for (const name of ['messages', 'providers', 'chat_inbox', 'deliveries', 'leases', 'intents', 'message_log']) {
      await store.db.collection(name).deleteMany({});
    }
  });

  const world: ChatWorld = {
    store,
    get messages() {
      return store.db.collection<ChatMessageDocument>('messages');
    },
    async openAccount(answer, change = {}) {
      const { db } = store;
      const provider = await openProvider(answer);
      closing.push(() => provider.close());
      const id = await makeAccount(db, 1_000);
      // Longer than any answer takes on any machine: a later one would make the message unknown.
      const made = await makeProvider(db, id, { baseUrl: provider.url, timeoutMs: 60_000, ...change });
      await createEndpoint(db, clock, TEST_BOX, {
        account: id,
        channel: 'chatapp',
        url: 'https://example.com/hooks',
        events: eventsOf('chatapp'),
      });
      return { id, number: made.provider._id, provider };
    },
    async startWorker(override = {}, machine = 'a') {
      const { db } = store;
      const identity = { machine, pid: 1, startedAt: '1' };
      const prices = { userCredits: 1, businessCredits: 2 };
      const accepter = createChatAccepter({ db, clock, log: silentLog, prices });
      const worker = new ChatWorker({
        db,
        clock,
        log: silentLog,
        metrics: new Metrics(),
        box: TEST_BOX,
        gates: openGates(db, clock),
        samples: new HeaderSamples(new AddressGuard({ allowHttp: true, allowSubnets: ['127.0.0.0/8'] })),
        messageLog: new MessageLog({ db, clock, log: silentLog, days: 30 }),
        leases: Array.from({ length: 8 }, (_, n) => new Lease({ name: `chatapp:${n}`, db, clock, identity })),
        leaseRoundMs: 50,
        countWorkers: async () => 1,
        accepter,
        depart: (messages) => checkDeparture({ db, clock }, messages),
        random: Math.random,
        ...override,
      });
      closing.push(() => worker.stop());
      await worker.start();
      return worker;
    },
    async queue({ id, number }, ...messages) {
      const made = messages.map((message) =>
        makeChatMessage({
          account: id,
          from: number,
          content: { kind: 'template', name: 'hello', language: 'en', params: [] },
          ...message,
        }),
      );
      await world.messages.insertMany(made);
      return made;
    },
    post: (items) => keepItems(store.db, items),
    async read(id) {
      const found = await world.messages.findOne({ _id: id });
      if (found === null) throw new Error('no such message');
      return found;
    },
    until: (id, fits) =>
      eventually(async () => {
        const message = await world.read(id);
        if (fits(message)) return message;
        throw new Error(JSON.stringify(message));
      }, 'the message is as wanted'),
    async allIn({ id }, state, count) {
      await eventually(
        async () => (await world.messages.countDocuments({ account: id, state })) === count,
        `${count} messages are ${state}`,
      );
    },
    async events({ id }) {
      const stored = await store.db.collection('deliveries').find({ account: id }).project<Stored>({}).toArray();
      const found = stored.flatMap(deliveriesIn).sort((a, b) => (a._id < b._id ? -1 : 1));
      return found.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    },
  };
  return world;
}

export function customers(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `9190000${String(i).padStart(5, '0')}`);
}
