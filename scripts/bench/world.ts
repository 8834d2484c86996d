import { createServer } from 'node:http';
import { listenLocally } from '../simulator/listen.ts';
import { startReceiver } from '../simulator/receiver.ts';
import type { SmscOptions } from '../simulator/smsc/options.ts';
import { startSmsc } from '../simulator/smsc.ts';
import { machineMs } from './load.ts';

/**
 * The simulator's carrier and webhook receiver in their own process, without output. It notes when each destination's
 * submit_sm and `message.delivered` arrived. IPC: `Question` in, `Answer` out.
 */
export type Question =
  /** Delays receipts from now on; has no answer. */
  | { readonly ask: 'receipts'; readonly delayMs: number }
  | { readonly ask: 'counts' }
  /** Asks for the arrival times since the last such question; they are then forgotten. */
  | { readonly ask: 'seen' };

export type CarrierHabits = Pick<SmscOptions, 'responseDelayMs' | 'receiptDelayMs' | 'deliverWindow'>;

export interface Started {
  readonly kind: 'started';
  readonly smscPort: number;
  readonly receiverUrl: string;
  /** A peer calls `<callbackUrl>/<destination>` when that message is delivered. */
  readonly callbackUrl: string;
}
export interface Counts {
  readonly kind: 'counts';
  /** submit_sm accepted. */
  readonly submits: number;
  /** Webhooks by distinct webhook-id, or callbacks of a peer. */
  readonly webhooks: number;
  /** `machineMs` of the newest one. */
  readonly lastWebhookMs: number;
  readonly repeatedWebhooks: number;
}
export interface Seen {
  readonly kind: 'seen';
  /** Destination and `machineMs`. */
  readonly submits: readonly (readonly [string, number])[];
  readonly delivered: readonly (readonly [string, number])[];
}
export type Answer = Started | Counts | Seen;

async function run(carrier: CarrierHabits): Promise<void> {
  let submits = new Map<string, number>();
  let delivered = new Map<string, number>();
  let { receiptDelayMs } = carrier;
  const counts = { submits: 0, webhooks: 0, lastWebhookMs: 0, repeatedWebhooks: 0 };

  const smsc = await startSmsc({
    ...carrier,
    keepMessages: 0,
    behaviour: ({ to }) => {
      submits.set(to, machineMs());
      return { receipts: [{ stat: 'DELIVRD', delays: receiptDelayMs / carrier.receiptDelayMs }] };
    },
  });
  const count = (): void => {
    counts.webhooks += 1;
    counts.lastWebhookMs = machineMs();
  };
  const receiver = await startReceiver({
    keep: 0,
    onWebhook: ({ json, tries }) => {
      if (tries > 1) {
        counts.repeatedWebhooks += 1;
        return;
      }
      count();
      if (json.event === 'message.delivered') delivered.set(String(json.to), counts.lastWebhookMs);
    },
  });
  const callbacks = createServer(({ url = '' }, response) => {
    count();
    delivered.set(url.slice(1), counts.lastWebhookMs);
    response.end();
  });
  const callbackPort = await listenLocally(callbacks, 0);

  process.on('message', (question: Question) => {
    switch (question.ask) {
      case 'receipts':
        receiptDelayMs = question.delayMs;
        return;
      case 'counts':
        return tell({ kind: 'counts', ...counts, submits: smsc.stats().submits.accepted });
      case 'seen':
        tell({ kind: 'seen', submits: [...submits], delivered: [...delivered] });
        submits = new Map();
        delivered = new Map();
        return;
      default:
        return question satisfies never;
    }
  });
  // The starter is gone or wants this process to end. Nothing here needs saving.
  process.on('disconnect', () => process.exit(0));
  tell({
    kind: 'started',
    smscPort: smsc.port,
    receiverUrl: receiver.url,
    callbackUrl: `http://127.0.0.1:${callbackPort}`,
  });
}

function tell(answer: Answer): void {
  process.send?.(answer);
}

await run(JSON.parse(process.argv[2] ?? ''));
