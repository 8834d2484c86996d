import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { freePort } from '../../../scripts/bench/fleet.ts';
import type { OptOutDocument } from '../../../shared/carriers/opt-outs/store.ts';
import { createSender } from '../../../shared/carriers/sender.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, type BatchId, batchMessageIds, optOutId } from '../../../shared/platform/runtime/ids.ts';
import { importTemplates } from '../../../shared/templates/sms/import-csv.ts';
import { makeTemplate } from '../../shared/templates/sms/make.ts';
import { makeBatch, payBatch } from '../../support/batches.ts';
import { builtProgram } from '../../support/built.ts';
import { makeProvider } from '../../support/chatapp.ts';
import { makeKey } from '../../support/gateway.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { ManyRequests } from '../../support/many-requests.ts';
import { openTestStore } from '../../support/store.ts';
import type { Watched } from '../../support/watched-gateway.ts';
import { ended } from '../../support/worker-processes.ts';
import { wrote } from '../../support/wrote.ts';
import { mobile, RECIPIENTS, SENDER, SLOTS, SLOTS_TEMPLATE, type Worst } from './worst-requests.ts';

/** What a gateway process did between two looks. */
export interface Held extends Watched {
  readonly statuses: readonly number[];
}

/** A gateway whose event loop is watched, and accounts that check numbers, have DLT, or have nearly alike templates. */
export interface WorstWorld {
  /** The provider's callback path. */
  readonly callback: string;
  readonly batch: BatchId;
  /** A customer with 500 messages of the maximal stored size. */
  readonly customer: string;
  /** Sends it (`together` times at once) and resolves when all are answered. */
  send(request: Worst): Promise<Held>;
  close(): Promise<void>;
}

/** More than any test sends. */
const PER_MINUTE = 1_000_000_000;
const CREDITS = 10_000_000;
const TEMPLATES = 5_000;

export async function openWorstWorld(): Promise<WorstWorld> {
  const store = await openTestStore();
  const { db } = store;
  const checking = await makeAccount(db, CREDITS, { numberCheck: 'mobile', optOuts: true });
  const dlt = await makeAccount(db, CREDITS, { dlt: 'on', entityId: '1101160000000000009' });
  const alike = await makeAccount(db, CREDITS);
  for (const account of [checking, dlt]) {
    const routes = ['transactional'] as const;
    await createSender(db, clock, { account, sender: SENDER, routes, status: 'approved' });
    await importTemplates(db, clock, account, account === dlt ? nastyTemplates() : [manySlots()]);
  }
  await importTemplates(db, clock, alike, templatesAlike());
  await makeOptOuts(db, checking);
  const keyOf = (account: AccountId) => makeKey(db, account, ['send', 'read', 'manage'], undefined, PER_MINUTE);
  const keys = { checking: await keyOf(checking), dlt: await keyOf(dlt), alike: await keyOf(alike) };
  const { provider } = await makeProvider(db, checking);
  const batch = await failedBatch(db, checking);
  const customer = mobile(1);
  for (let i = 0; i < 500; i++) await wrote(db, checking, { customer, body: 'नम'.repeat(8_192), minutesAgo: i });

  const dir = mkdtempSync(join(tmpdir(), 'harkara-worst-'));
  const port = await freePort();
  const child = spawn(process.execPath, [await builtProgram('watched-gateway')], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      HARKARA_MONGODB_URI: store.uri,
      HARKARA_MONGODB_DATABASE: db.databaseName,
      HARKARA_DATA_DIR: dir,
      HARKARA_SECRET_KEY: Buffer.alloc(32, 7).toString('hex'),
      HARKARA_PORT: String(port),
      HARKARA_METRICS_PORT: '0',
      HARKARA_LOG_LEVEL: 'silent',
      HARKARA_TRUST_PROXY: '127.0.0.1',
    },
  });
  await once(child, 'message'); // it is ready
  const many = new ManyRequests(100);
  let sent = 0;
  return {
    callback: `/chatapp/callback/${provider.callback}`,
    batch,
    customer,
    async send({ account = 'checking', method, path, body, headers, together = 1 }) {
      const request = {
        url: `http://127.0.0.1:${port}${path}`,
        method,
        ...(body === undefined ? {} : { body }),
      };
      // Each request has its own address, or failed authentications would be limited.
      const own = () => ({
        'x-forwarded-for': `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent++ & 255}`,
        Authorization: `Bearer ${keys[account]}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      });
      await look(child);
      const answers = await Promise.all(
        Array.from({ length: together }, () => many.send({ ...request, headers: own() })),
      );
      return { ...(await look(child)), statuses: answers.map(({ status }) => status) };
    },
    async close() {
      many.close();
      child.kill('SIGTERM');
      await ended(child);
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The longest hold since the look before. */
async function look(child: ChildProcess): Promise<Watched> {
  child.send('look');
  const [watched] = await once(child, 'message');
  return watched;
}

/** As many slots as fit between common beginnings and ends: only reading them tells them apart. */
function nastyTemplates() {
  const nasty = Array.from({ length: TEMPLATES - 1 }, (_, i) => {
    const slots = '{#var#}a'.repeat(100 + (i % 120));
    const end = `${i % 3 === 0 ? 'b' : ''}{#url#}{#alphanumeric#}${'{#var#}'.repeat(i % 9)}`;
    return makeTemplate({ dltId: String(1_107_160_000_000_000_001n + BigInt(i)), content: slots + end });
  });
  return [...nasty, manySlots()];
}

/** Each of one half replaces each of the other half. */
function templatesAlike() {
  return Array.from({ length: TEMPLATES }, (_, i) =>
    makeTemplate({
      dltId: String(1_107_160_000_000_000_001n + BigInt(i)),
      content: `Dear {#${i % 2 === 0 ? 'var' : 'numeric'}#}, {#var#}.`,
    }),
  );
}

function manySlots() {
  return makeTemplate({ dltId: SLOTS_TEMPLATE, content: `x${'{#var#} '.repeat(SLOTS)}` });
}

async function failedBatch(db: Db, account: AccountId): Promise<BatchId> {
  const batch = makeBatch(account, RECIPIENTS);
  await payBatch(db, batch);
  const idOf = batchMessageIds(batch._id);
  const at = new Date();
  const failed = {
    state: 'failed',
    errorCode: '1',
    errorReason: 'x'.repeat(200),
    history: [{ state: 'failed', at }],
  } as const;
  const messages = Array.from({ length: RECIPIENTS }, (_, i) =>
    makeMessage({ _id: idOf(i), account, batch: batch._id, to: mobile(i), text: 'x'.repeat(1_000), ...failed }),
  );
  await db.collection<MessageDocument>('messages').insertMany(messages);
  return batch._id;
}

async function makeOptOuts(db: Db, account: AccountId): Promise<void> {
  const changedAt = new Date();
  const all = Array.from({ length: RECIPIENTS }, (_, i): OptOutDocument => {
    const scope = i % 2 === 0 ? '*' : '919000000001';
    return {
      ...{ _id: optOutId(account, mobile(i), scope), account, scope, customer: mobile(i), changedAt, changedBy: [] },
      ...{ out: true, since: changedAt, source: 'import' },
    };
  });
  await db.collection<OptOutDocument>('opt_outs').insertMany(all);
}
