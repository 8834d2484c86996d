import { createApp } from '../../gateway/app.ts';
import { GatewayServer } from '../../gateway/http/server.ts';
import { Threads } from '../../gateway/http/threads.ts';
import { queuedMessage } from '../../shared/messages/document/message.ts';
import { bookedSchedule } from '../../shared/messages/schedule.ts';
import type { Accepter } from '../../shared/money/payment/accept.ts';
import { debitEach } from '../../shared/money/payment/debit.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { systemClock as clock, isoDate } from '../../shared/platform/runtime/clock.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { createHostResolver } from '../../shared/platform/runtime/resolve-host.ts';
import { TEST_BOX } from './chatapp.ts';
import { silentLog } from './silent-log.ts';

/**
 * A gateway process to be killed in the middle of a request: at the point of its argument, `claimed` (before it pays)
 * or `paid` (before it stores the message or marks the batch), it says "held" and stops.
 */
const [, , until] = process.argv;
const config = loadConfig(process.env);
const { db } = await connectStore(config);

const today = isoDate(clock.now());

const accepter: Accepter = {
  accept: async (account, drafts, payBy) => {
    if (until === 'paid') {
      const group = newId('grp');
      const messages = drafts.map((draft) => queuedMessage(account, group, draft));
      await debitEach(db, [{ account, group, messages, today, done: [], payBy }]);
    }
    return hold();
  },
  book: async (account, booking, payBy) => {
    if (until === 'paid') {
      const group = newId('grp');
      const schedules = [bookedSchedule(account, group, booking)];
      await debitEach(db, [{ account, group, messages: [], schedules, today, done: [], payBy }]);
    }
    return hold();
  },
  acceptBatch: async (account, batch, payBy) => {
    if (until === 'paid') {
      await debitEach(db, [{ account, group: newId('grp'), messages: [], batch, today, done: [], payBy }]);
    }
    return hold();
  },
};

function hold(): Promise<never> {
  process.stdout.write('held\n');
  return new Promise(() => {});
}

const stopping = new AbortController().signal;
const server = new GatewayServer(
  createApp({
    db,
    clock,
    log: silentLog,
    config,
    accepter,
    chatAccepter: { accept: hold },
    box: TEST_BOX,
    notes: {},
    keyUses: { note: () => {} },
    resolveHost: createHostResolver(),
    metrics: new Metrics(),
    threads: new Threads(silentLog),
    stopping,
  }),
);
process.stdout.write(`port ${await server.listen('127.0.0.1', 0)}\n`);
