import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Db } from 'mongodb';
import request from 'supertest';
import type { GatewayDeps } from '../../../../gateway/http/deps.ts';
import type { CustomersFile } from '../../../../scripts/simulator/provider/files.ts';
import type { ProviderOptions } from '../../../../scripts/simulator/provider/options.ts';
import { type Provider, startProvider } from '../../../../scripts/simulator/provider.ts';
import { type ProviderChange, providersOf } from '../../../../shared/carriers/providers/store.ts';
import type { InboundMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { type AccountId, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { inboundMessage } from '../../../../workers/chatapp/inbox.ts';
import { makeProvider, NUMBER } from '../../../support/chatapp.ts';
import { makeKey, openGateway, TEST_CONFIG, type TestGateway } from '../../../support/gateway.ts';
import { keepLines } from '../../../support/log-lines.ts';
import { makeAccount } from '../../../support/make.ts';
import { openTestStore } from '../../../support/store.ts';

export const PHOTO: CustomersFile = { type: 'image', mime: 'image/jpeg', content: Buffer.from('ffd8ffe0004a', 'hex') };
/** Longer than a connection's buffers. */
export const LONG: CustomersFile = {
  type: 'document',
  mime: 'application/pdf',
  content: 100_000_000,
  name: 'long.pdf',
};

/** Files may be on other hosts of this machine. */
export const LOCAL_FILES = { ...TEST_CONFIG, webhookAllowHttp: 'yes', webhookAllowSubnets: ['127.0.0.0/8'] } as const;

export interface MediaWorld {
  readonly db: Db;
  readonly gateway: TestGateway;
  readonly provider: Provider;
  readonly account: AccountId;
  readonly key: string;
  readonly lines: ReturnType<typeof keepLines>['lines'];
  configure(account: AccountId, change?: ProviderChange): Promise<void>;
  /** Stores a customer's message as the worker does. */
  wrote(message: Readonly<Record<string, unknown>>, account?: AccountId): Promise<MessageId>;
  sent(file: CustomersFile, account?: AccountId): Promise<MessageId>;
  get(id: string, key?: string): request.Test;
  /** `chatapp_files_total` by result, and `chatapp_files_in_flight`. */
  results(): Promise<Readonly<Record<string, number>>>;
  inFlight(): Promise<number>;
  close(): Promise<void>;
}

/** A store, a gateway, a simulated provider, and an account with a number there. */
export async function openMediaWorld(
  options: Partial<ProviderOptions> = {},
  deps: Partial<GatewayDeps> = {},
): Promise<MediaWorld> {
  const store = await openTestStore();
  const { db } = store;
  const metrics = new Metrics();
  const { log, lines } = keepLines();
  const gateway = await openGateway(db, { metrics, log, config: LOCAL_FILES, ...deps });
  const provider = await startProvider(options);
  const account = await makeAccount(db, 10);
  const key = await makeKey(db, account);
  const valuesOf = async (name: string) => (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
  const world: MediaWorld = {
    ...{ db, gateway, provider, account, key, lines },
    async configure(of, change = {}) {
      const { phoneNumberId, businessId, token } = provider.options;
      await makeProvider(db, of, { baseUrl: `${provider.url}/v23.0`, phoneNumberId, businessId, token, ...change });
    },
    async wrote({ type, ...more }, of = account) {
      const now = new Date();
      const item = { kind: 'message', upstreamId: newId('msg'), from: '919876543210', sentAt: now, body: '' } as const;
      const [number] = await providersOf(db, [of]);
      const message = inboundMessage(of, { ...item, number: number?._id ?? NUMBER, type: String(type), more }, now);
      await db.collection<InboundMessageDocument>('messages').insertOne(message);
      return message._id;
    },
    sent: (file, of) => world.wrote(provider.keepsFile(file), of),
    get: (id, as = key) =>
      request(gateway.url).get(`/v2/chatapp/media/${id}`).set('Authorization', `Bearer ${as}`).responseType('blob'),
    async results() {
      const values = await valuesOf('harkara_chatapp_files_total');
      return Object.fromEntries(values.map(({ labels, value }) => [String(labels.result), value]));
    },
    inFlight: async () => (await valuesOf('harkara_chatapp_files_in_flight'))[0]?.value ?? 0,
    async close() {
      await gateway.close();
      await provider.close();
      await store.close();
    },
  };
  await world.configure(account);
  return world;
}

/** A host other than the provider. `asked` has the received Authorization headers. */
export async function openHost(answer: RequestListener) {
  const asked: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    asked.push(req.headers.authorization);
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    ...{ asked, port },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
