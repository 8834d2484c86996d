import { CHAT_PATH } from '../../../shared/messages/document/chat-message.ts';
import type { WaitingLane } from '../../../shared/messages/queue/waiting-lanes.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { readCarriers } from '../carriers/list.ts';
import type { readProviders } from '../carriers/providers.ts';

/** Something that a person should look at. `bad`: customers' messages do not leave. */
export interface Wrong {
  readonly severity: 'bad' | 'look';
  readonly about: 'process' | 'proxy' | 'carrier' | 'queue' | 'provider';
  /** The carrier, the account of the provider, the path, the app, the proxy's address. */
  readonly id: string;
  readonly words: string;
}

interface Seen {
  readonly carriers: Awaited<ReturnType<typeof readCarriers>>;
  readonly queues: readonly WaitingLane[];
  readonly providers: Awaited<ReturnType<typeof readProviders>>;
  /** Apps of which no process lives. */
  readonly missing: readonly string[];
  /** Who sends X-Forwarded-For to a gateway that trusts no proxy. */
  readonly ignoredProxies: readonly string[];
  readonly now: Date;
}

/** A message of the most urgent lane should leave at once; promotional ones may wait for their hours. */
const WAIT_MINUTES: Readonly<Record<string, number>> = { otp: 1, transactional: 5, low: 30, promotional: 60 };

const CHECK_NUMBERS = 'See which numbers are stopped or fail: npm run ops -- provider list.';
const CHECK_CARRIERS = 'See whether its carriers are bound and how fast they are: npm run ops -- bind list.';

/** What is wrong, the worst first. Pure. */
export function wrongNow({ carriers, queues, providers, missing, ignoredProxies, now }: Seen): readonly Wrong[] {
  const found = [
    ...missing.map(processWrong),
    ...carriers.flatMap(carrierWrong),
    ...queues.flatMap((queue) => queueWrong(queue, now)),
    ...providers.flatMap(providerWrong),
    ...ignoredProxies.map(proxyWrong),
  ];
  return [
    ...found.filter(({ severity }) => severity === 'bad'),
    ...found.filter(({ severity }) => severity === 'look'),
  ];
}

function processWrong(app: string): Wrong {
  return {
    severity: 'bad',
    about: 'process',
    id: app,
    words: `No ${app} process is running. Start it: npx pm2 start ecosystem.config.js --only ${app}.`,
  };
}

function proxyWrong(address: string): Wrong {
  return {
    severity: 'look',
    about: 'proxy',
    id: address,
    words: `Requests from ${address} have the header X-Forwarded-For, which is ignored: if that is your proxy, it counts as every caller, in keys' lists of addresses and in the limits of wrong keys and passwords. Set TRUST_PROXY=${address} and reload the gateway.`,
  };
}

function carrierWrong({
  carrier_id: id,
  name,
  condition,
  words,
  unknowns,
  measured,
}: Seen['carriers'][number]): Wrong[] {
  const about = { about: 'carrier', id } as const;
  const found: Wrong[] = [];
  if (condition !== 'bound' && condition !== 'paused') {
    const severity = condition === 'partly_bound' || condition === 'binding' ? 'look' : 'bad';
    found.push({ ...about, severity, words: `${name}: ${words}` });
  }
  if (unknowns > 0) {
    const count = unknowns === 1 ? '1 submit was' : `${unknowns} submits were`;
    found.push({
      ...about,
      severity: 'look',
      words: `${name}: ${count} never answered. Its setting unknown-policy decides about these messages.`,
    });
  }
  const refused = measured?.answers.rejected ?? 0;
  const all = Object.values(measured?.answers ?? {}).reduce((sum, one) => sum + one, 0);
  if (refused * 2 > all && measured?.last_refusal != null) {
    const { reason, code } = measured.last_refusal;
    found.push({
      ...about,
      severity: 'bad',
      words: `${name} refuses most messages; the last one: ${reason} (${code}). Check the settings for it, and ask the carrier.`,
    });
  }
  return found;
}

function queueWrong({ path, lane, waiting, more, oldest }: WaitingLane, now: Date): Wrong[] {
  const minutes = (now.getTime() - oldest.at.getTime()) / 60_000;
  const limit = WAIT_MINUTES[lane];
  if (limit === undefined || minutes < limit) return [];
  const kind = path === CHAT_PATH ? 'chat-app' : lane; // The chat-app channel has one lane, the first.
  const count = `${more ? 'At least ' : ''}${waiting} ${kind} ${waiting === 1 ? 'message waits' : 'messages wait'}`;
  const words = `${count} on ${path}, the oldest since ${isoTimestamp(oldest.at)}. ${path === CHAT_PATH ? CHECK_NUMBERS : CHECK_CARRIERS}`;
  return [{ severity: lane === 'otp' || lane === 'transactional' ? 'bad' : 'look', about: 'queue', id: path, words }];
}

function providerWrong({
  account_id: id,
  number,
  condition,
  stopped_reason,
  troubles,
}: Seen['providers'][number]): Wrong[] {
  const about = { about: 'provider', id } as const;
  if (condition === 'stopped') {
    return [
      {
        ...about,
        severity: 'bad',
        words: `Chat-app number ${number} is stopped. Solve the cause, then: npm run ops -- provider resume ${id}. The cause: ${stopped_reason}`,
      },
    ];
  }
  return troubles.map(({ words }) => ({ ...about, severity: 'look', words: `Chat-app number ${number}: ${words}` }));
}
