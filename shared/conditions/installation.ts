import { CHAT_PATH } from '../messages/document/chat-message.ts';
import type { WaitingLane } from '../messages/queue/waiting-lanes.ts';
import { isoDate } from '../platform/runtime/clock.ts';
import type { CarriersSeen } from './carriers.ts';
import type { Condition, Finding } from './condition.ts';

/** The facts about the installation and its carriers that the watch gathers. */
export interface Installation extends CarriersSeen {
  readonly missing: readonly string[];
  /** Who sends X-Forwarded-For to a gateway that trusts no proxy. */
  readonly ignoredProxies: readonly string[];
  readonly queues: readonly WaitingLane[];
  /** The last five minutes. `failed`: with 5xx; `sends`: single ones; `slow`: longer than a second. */
  readonly api: { readonly requests: number; readonly failed: number; readonly sends: number; readonly slow: number };
  /** In the last quarter of an hour. */
  readonly posts: { readonly all: number; readonly failed: number };
  readonly store: StoreSeen;
  /** How far the clocks of processes are ahead of the store's, by machine. */
  readonly clocks: readonly { readonly machine: string; readonly aheadMs: number }[];
  readonly certificates: readonly { readonly whose: string; readonly carrier?: string; readonly until: Date }[];
}

export interface StoreSeen {
  /** How long a write took until a majority had it: the fastest of the last three. */
  readonly writeMs: number;
  readonly disk?: { readonly dir: string; readonly freeBytes: number; readonly bytes: number } | undefined;
}

/** Promotional messages may wait for their hours, urgent ones leave at once. */
const WAIT_MINUTES: Readonly<Partial<Record<WaitingLane['lane'], number>>> = {
  otp: 1,
  transactional: 5,
  low: 30,
  promotional: 60,
};

const API = { kind: 'process', id: 'gateway' } as const;
const FAILED_MIN = 5;
const SENDS_MIN = 100;
const POSTS_MIN = 20;
const SLOW_MS = 1_000;
const URGENT_MS = 5_000;
const LOW_BYTES = 5e9;
const URGENT_BYTES = 1e9;
const SKEW_MS = 5_000;
const ENDING_DAYS = 14;
const DAY_MS = 86_400_000;

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
      operator: { severity: 'look', todo: 'Add one: `npm run ops -- carrier create`. The manual, "Add a carrier".' },
    },
    find: ({ carriers }) =>
      carriers.length > 0
        ? []
        : [{ subject: { kind: 'carrier', id: '' }, words: 'No carrier is set up: no SMS leaves.' }],
  },
  'proxy.ignored': {
    title: 'A proxy is not trusted',
    how: 'Requests have the header X-Forwarded-For while HARKARA_TRUST_PROXY is not set.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'If the address is your proxy, set HARKARA_TRUST_PROXY to it and reload the gateway: now it counts as every caller, in the lists of addresses of keys and in the limits of wrong keys and passwords.',
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
  'api.failing': {
    title: 'The API fails',
    how: 'More than a hundredth of the requests of five minutes, five or more, were answered with 5xx.',
    concerns: {
      operator: {
        severity: 'urgent',
        todo: '`grep -e request_failed -e store_unavailable ~/.pm2/logs/gateway-out.log`; the manual, "The API answers 503".',
      },
    },
    find: ({ api: { requests, failed } }) =>
      failed >= FAILED_MIN && failed > requests / 100
        ? [{ subject: API, words: 'More than a hundredth of the requests are answered with 5xx.' }]
        : [],
  },
  'api.slow': {
    title: 'The API is slow',
    how: 'More than a hundredth of the single sends of five minutes, of 100 or more, took longer than a second.',
    concerns: { operator: { severity: 'look', todo: 'Look at CPU and disk of the machine with the store.' } },
    find: ({ api: { sends, slow } }) =>
      sends >= SENDS_MIN && slow > sends / 100
        ? [{ subject: API, words: 'More than a hundredth of the sends wait longer than a second for their answer.' }]
        : [],
  },
  'webhooks.failing': {
    title: 'Many posts to webhooks fail',
    how: 'More than half of all posts of a quarter of an hour, 20 or more.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'The server of one customer, or the way out of this machine? The manual, "Webhooks do not arrive".',
      },
    },
    find: ({ posts: { all, failed } }) =>
      failed >= POSTS_MIN && failed > all / 2
        ? [{ subject: { kind: 'process', id: 'webhooks' }, words: 'More than half of all posts to webhooks fail.' }]
        : [],
  },
  'store.slow': {
    title: 'The store is slow',
    how: 'Each of the last three writes of the watch took longer than a second until a majority of the members had it. Five seconds are urgent.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Look at CPU and disk of the machine with the store; with MongoDB, whether a member lags (`rs.printSecondaryReplicationInfo()`).',
      },
    },
    find: ({ store: { writeMs } }) =>
      writeMs < SLOW_MS
        ? []
        : [
            {
              subject: { kind: 'machine', id: 'store' },
              words: 'Writes take longer than a second.',
              ...(writeMs >= URGENT_MS && { severity: 'urgent', words: 'Writes take longer than five seconds.' }),
            },
          ],
  },
  'disk.low': {
    title: 'The disk is nearly full',
    how: 'Of the disk of the embedded store less than a tenth and less than 5 GB is free; less than 1 GB is urgent.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Make room, or enlarge the disk: a full disk stops sends with 503. `npm run ops -- store compact` gives back what the store does not use. The manual, "The disk is full".',
      },
    },
    find: ({ store: { disk } }) => {
      if (disk === undefined || disk.freeBytes >= Math.min(disk.bytes / 10, LOW_BYTES)) return [];
      const severity = disk.freeBytes < URGENT_BYTES ? 'urgent' : 'look';
      const words = `Less than ${disk.freeBytes < URGENT_BYTES ? '1 GB' : 'a tenth'} of the disk with ${disk.dir} is free.`;
      return [{ subject: { kind: 'machine', id: 'disk' }, words, severity }];
    },
  },
  'clock.skewed': {
    title: 'The clock of a machine is wrong',
    how: 'It differs by more than five seconds from the one of the store.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Let every machine keep its time (`timedatectl`, chrony): codes of sign-in, validity and promotional hours follow the clock.',
      },
    },
    find: ({ clocks }) =>
      clocks.flatMap(({ machine, aheadMs }) =>
        Math.abs(aheadMs) < SKEW_MS
          ? []
          : {
              subject: { kind: 'machine', id: machine },
              words: `The clock of ${machine} is more than five seconds ${aheadMs > 0 ? 'ahead of' : 'behind'} the one of the store.`,
            },
      ),
  },
  'certificate.ending': {
    title: 'A certificate ends soon',
    how: 'In less than 14 days: what a carrier shows on its binds, what we show to it, or what browsers meet at HARKARA_PUBLIC_URL. In less than two days it is urgent.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Renew it. Ours at a carrier: `carrier update --tls-certificate FILE --tls-key FILE`. A carrier renews its own; ask, if it is late.',
      },
    },
    find: ({ certificates, now }) =>
      certificates.flatMap(({ whose, carrier, until }): Finding[] => {
        const leftMs = until.getTime() - now.getTime();
        if (leftMs >= ENDING_DAYS * DAY_MS) return [];
        const words = `${whose} ${leftMs < 0 ? 'ended' : 'ends'} on ${isoDate(until)}.`;
        const subject: Finding['subject'] =
          carrier === undefined ? { kind: 'machine', id: whose } : { kind: 'carrier', id: carrier };
        return [
          {
            ...{ subject, words },
            since: new Date(until.getTime() - ENDING_DAYS * DAY_MS),
            severity: leftMs < 2 * DAY_MS ? 'urgent' : 'look',
          },
        ];
      }),
  },
} satisfies Readonly<Record<string, Condition<Installation>>>;

function waiting({ path, lane, waiting: count, more, oldest }: WaitingLane, now: Date): Finding[] {
  const limit = WAIT_MINUTES[lane];
  if (limit === undefined || now.getTime() - oldest.at.getTime() < limit * 60_000) return [];
  const kind = path === CHAT_PATH ? 'chat-app' : lane; // the chat-app channel has one lane, the first
  const words = `${more ? 'At least ' : ''}${count} ${kind} ${count === 1 ? 'message waits' : 'messages wait'} on ${path}.`;
  const severity = lane === 'otp' || lane === 'transactional' ? 'urgent' : 'look';
  return [{ subject: { kind: 'queue', id: `${path} ${lane}` }, words, since: oldest.at, severity }];
}
