import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Express } from 'express';
import type { Db } from 'mongodb';
import { createApp } from '../../gateway/app.ts';
import type { GatewayDeps } from '../../gateway/http/deps.ts';
import { KeyUses } from '../../gateway/http/key-uses.ts';
import { GatewayServer } from '../../gateway/http/server.ts';
import { Threads } from '../../gateway/http/threads.ts';
import type { QueueDocument } from '../../shared/messages/queue/queue-document.ts';
import { writeOut } from '../../shared/messages/queue/queue-store.ts';
import { createChatAccepter } from '../../shared/money/conversations/open.ts';
import { type AcceptOutcome, GroupAccepter } from '../../shared/money/payment/accept.ts';
import type { KeyScope } from '../../shared/people/keys/key.ts';
import { createKey } from '../../shared/people/keys/store.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { builtProduct } from './built.ts';
import { TEST_BOX } from './chatapp.ts';
import { watchAnswers } from './openapi.ts';
import { silentLog } from './silent-log.ts';
import { use } from './use.ts';

/** A gateway in this process on a free port of 127.0.0.1. Every answer is checked against the API's document. */
export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly server: GatewayServer;
  readonly app: Express;
  /** Abort it to stop as by a signal: from then on, answers close their connections. */
  readonly stopping: AbortController;
  /** Rejects if an answer did not follow the contract. */
  close(): Promise<void>;
}

/** Closed by the suite. */
export type UsedGateway = Omit<TestGateway, 'close'>;

/** The address of every host name in a test. Nothing connects to it. */
const PUBLIC_ADDRESS = '93.184.215.14';

/** Failed keys are practically unlimited, because all tests share one address; the limit has its own tests. */
export const TEST_CONFIG: GatewayDeps['config'] = {
  auditDays: 730,
  authFailuresPerMinute: 1_000_000,
  chatBusinessCredits: 2,
  chatMediaAllowHttp: 'no',
  chatUserCredits: 1,
  host: '127.0.0.1',
  keyCacheMs: 2_000,
  maxSegments: 10,
  messageDays: 90,
  port: 3000,
  promotionalFrom: '10:00',
  promotionalUntil: '21:00',
  smtpHost: '',
  statementSeller: [],
  statementTaxName: '',
  statementTaxNumber: '',
  statementServiceCode: '',
  statementTaxPercent: '0',
  statementZone: 'UTC',
  publicUrl: '',
  textDays: 90,
  trustProxy: [],
  validityHours: 48,
  verifyPerClient: 20,
  verifyPerNumber: 5,
  webhookAllowHttp: 'no',
  webhookAllowSubnets: [],
  webhookTimeoutMs: 10_000,
};

let threads: Promise<Threads> | undefined;
/** Threads start from the build, made when a test needs one. */
const TEST_THREADS: GatewayDeps['threads'] = {
  async readTemplates(job) {
    threads ??= builtProduct().then(
      (product) => new Threads(silentLog, pathToFileURL(join(product, 'gateway/in-thread.js'))),
    );
    return (await threads).readTemplates(job);
  },
};

export async function openGateway(db: Db, overrides: Partial<GatewayDeps> = {}): Promise<TestGateway> {
  const clock = overrides.clock ?? systemClock;
  const log = overrides.log ?? silentLog;
  const stopping = new AbortController();
  const accepter = answersWhenStored({ db, clock, log });
  const prices = { userCredits: TEST_CONFIG.chatUserCredits, businessCredits: TEST_CONFIG.chatBusinessCredits };
  const app = createApp({
    db,
    clock,
    log,
    config: TEST_CONFIG,
    accepter,
    chatAccepter: createChatAccepter({ db, clock, log, prices }),
    box: TEST_BOX,
    keyUses: new KeyUses({ db, clock, log }),
    resolveHost: async () => [PUBLIC_ADDRESS],
    metrics: new Metrics(),
    notes: {},
    threads: TEST_THREADS,
    stopping: stopping.signal,
    ...overrides,
  });
  const faults: string[] = [];
  const server = new GatewayServer(watchAnswers(app, faults));
  const port = await server.listen('127.0.0.1', 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    app,
    stopping,
    close: async () => {
      stopping.abort();
      await server.drain();
      if (faults.length > 0) throw new Error(`answers against the contract:\n${[...new Set(faults)].join('\n')}`);
    },
  };
}

/** For the body of a `describe`: a gateway on the store of `useStore`, opened and closed by `use`. */
export function useGateway(store: { readonly db: Db }, overrides: Partial<GatewayDeps> = {}): UsedGateway {
  return use(() => openGateway(store.db, overrides));
}

/** Answers when the messages are written out, because tests look into the store. The product answers earlier. */
function answersWhenStored(deps: ConstructorParameters<typeof GroupAccepter>[0]): GroupAccepter {
  const waiting = new Map<string, () => void>();
  const db: Db = new Proxy(deps.db, {
    get(target, property) {
      if (property !== 'command') return Reflect.get(target, property);
      return async (...[command, options]: Parameters<Db['command']>) => {
        const answer = await target.command(command, options);
        if (command.insert === 'queue') {
          const _id = { $in: command.documents.map(({ _id: id }: QueueDocument) => id) };
          while ((await writeOut(db, new Date(), { _id })) > 0);
        }
        if (command.insert === 'messages') for (const { _id } of command.documents) waiting.get(_id)?.();
        return answer;
      };
    },
  });
  class Waiting extends GroupAccepter {
    override async accept(...order: Parameters<GroupAccepter['accept']>): Promise<AcceptOutcome> {
      const [, drafts] = order;
      const stored = drafts.map(({ _id }) => new Promise<void>((resolve) => waiting.set(_id, resolve)));
      try {
        const outcome = await super.accept(...order);
        if (outcome.kind === 'accepted') await Promise.all(stored);
        return outcome;
      } finally {
        for (const { _id } of drafts) waiting.delete(_id);
      }
    }
  }
  return new Waiting({ ...deps, db });
}

export async function makeKey(
  db: Db,
  account: AccountId | undefined,
  scopes: readonly KeyScope[] = ['send', 'read'],
  expiresAt?: Date,
  perMinute?: number,
): Promise<string> {
  const expiry = expiresAt === undefined ? {} : { expiresAt };
  const limit = perMinute === undefined ? {} : { perMinute };
  return (await createKey(db, systemClock, { ...(account && { account }), name: 'test', scopes, ...expiry, ...limit }))
    .key;
}
