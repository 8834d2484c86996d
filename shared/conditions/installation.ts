import { CHAT_PATH } from '../messages/document/chat-message.ts';
import type { WaitingLane } from '../messages/queue/waiting-lanes.ts';
import type { Condition, Finding } from './condition.ts';
import type { Installation } from './seen.ts';

/** What may be wrong with the installation itself: its processes, its machine, its queues. */

/** A message of the most urgent lane should leave at once; promotional ones may wait for their hours. */
const WAIT_MINUTES: Readonly<Partial<Record<WaitingLane['lane'], number>>> = {
  otp: 1,
  transactional: 5,
  low: 30,
  promotional: 60,
};

export const INSTALLATION_CONDITIONS = {
  'process.missing': {
    title: 'A process does not run',
    how: 'No process of the app has told of itself for 25 seconds.',
    concerns: {
      operator: {
        severity: 'urgent',
        todo: '`npx pm2 ls` shows what runs, `npx pm2 start ecosystem.config.js --only APP` starts it, `~/.pm2/logs/APP-error.log` says why it ended.',
      },
    },
    find: ({ missing }) =>
      missing.map((app) => ({ subject: { kind: 'process', id: app }, words: `No ${app} process is running.` })),
  },
  'carrier.none': {
    title: 'No carrier is set up',
    how: 'There is no carrier, so no SMS leaves.',
    concerns: {
      operator: { severity: 'look', todo: 'Add one: `npm run ops -- carrier add`. The manual, "Add a carrier".' },
    },
    find: ({ carriers }) =>
      carriers.length > 0
        ? []
        : [{ subject: { kind: 'carrier', id: '' }, words: 'No carrier is set up: no SMS leaves.' }],
  },
  'proxy.ignored': {
    title: 'A proxy is not trusted',
    how: 'Requests have the header X-Forwarded-For while TRUST_PROXY is not set.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'If the address is your proxy, set TRUST_PROXY to it and reload the gateway: now it counts as every caller, in keys’ lists of addresses and in the limits of wrong keys and passwords.',
      },
    },
    find: ({ ignoredProxies }) =>
      ignoredProxies.map((address) => ({
        subject: { kind: 'machine', id: address },
        words: `Requests from ${address} have the header X-Forwarded-For, which is ignored.`,
      })),
  },
  'queue.waiting': {
    title: 'Messages wait too long to leave',
    how: 'The oldest of a lane has waited for a minute (otp), 5 (transactional), 30 (low) or 60 (promotional). The first two are urgent.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'See whether the carriers of the path are bound and how fast they take messages; for chat-app, which numbers are stopped. An account or template that was paused on purpose has this, too. The manual, "Messages wait".',
      },
    },
    find: ({ queues, now }) => queues.flatMap((queue) => waiting(queue, now)),
  },
} satisfies Readonly<Record<string, Condition<Installation>>>;

function waiting({ path, lane, waiting: count, more, oldest }: WaitingLane, now: Date): Finding[] {
  const limit = WAIT_MINUTES[lane];
  if (limit === undefined || now.getTime() - oldest.at.getTime() < limit * 60_000) return [];
  const kind = path === CHAT_PATH ? 'chat-app' : lane; // The chat-app channel has one lane, the first.
  const words = `${more ? 'At least ' : ''}${count} ${kind} ${count === 1 ? 'message waits' : 'messages wait'} on ${path}.`;
  const severity = lane === 'otp' || lane === 'transactional' ? 'urgent' : 'look';
  return [{ subject: { kind: 'queue', id: `${path} ${lane}` }, words, since: oldest.at, severity }];
}
