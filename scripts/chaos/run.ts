import { audit, countOpen, type Finding, readUnfinished } from './audit.ts';
import { type ChaosOptions, causeFaults, type FaultLog, seededRandom } from './faults.ts';
import { type Client, createClient, type LoadOutcome, planLoad, sendAll } from './load.ts';
import { type OtherStore, type Stage, setStage } from './stage.ts';

export interface Verdict {
  readonly findings: readonly Finding[];
  readonly faults: FaultLog;
  readonly accepted: number;
  readonly looks: number;
  readonly seconds: number;
  /** The first messages without a final state, with their timelines. */
  readonly unfinished: readonly object[];
  readonly ok: boolean;
}

/** For what follows the last fault and answer: due schedules, decisions about unknown submits, webhook retries. */
const FINAL_MS = 300_000;
const LOOK_MS = 2_000;
const PROGRESS_EVERY = 1_000;
const TURN_MS = 20;

/** Load and faults in parallel, then, when all messages are final, the audit. Default store: the embedded one. */
export async function runChaos(
  dist: string,
  options: ChaosOptions,
  say: (line: string) => void,
  other?: OtherStore,
): Promise<Verdict> {
  const startedMs = performance.now();
  const stage = await setStage(dist, other);
  try {
    const client = createClient(stage.url, stage.key);
    const watch = watchStates(client);
    const [outcome, faults] = await loadAmongFaults(stage, client, options, say, other);

    say('All is accepted. Waiting until all is final …');
    const deadline = performance.now() + FINAL_MS;
    while ((await countOpen(client, outcome)) > 0 && performance.now() < deadline) await look();
    await watch.stop();
    const check = () => audit(stage, client, outcome, faults, watch.backwards);
    let findings = await check();
    // The last webhooks may still be on their way.
    while (!isOk(findings) && performance.now() < deadline) {
      await look();
      findings = await check();
    }
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const ok = isOk(findings);
    const unfinished = ok ? [] : await readUnfinished(client, outcome);
    return { findings, faults, unfinished, accepted: outcome.accepted.size, looks: watch.looks, seconds, ok };
  } finally {
    await stage.close();
  }
}

/** Sends everything while processes are killed and paused. */
async function loadAmongFaults(
  stage: Stage,
  client: Client,
  options: ChaosOptions,
  say: (line: string) => void,
  other: OtherStore | undefined,
): Promise<[LoadOutcome, FaultLog]> {
  const { seed, messages, connections, kills, everyMs } = options;
  const beganMs = performance.now();
  let answered = 0;
  let loaded = false;
  // Spread over the time of the faults, so that no fault hits an idle product.
  const turn = () => until(() => answered / messages <= (performance.now() - beganMs) / (kills * everyMs));
  const load = sendAll(client, planLoad(seededRandom(seed), messages), connections, turn, ({ recipients }) => {
    const before = answered;
    answered += recipients.length;
    if (Math.floor(before / PROGRESS_EVERY) !== Math.floor(answered / PROGRESS_EVERY)) say(`${answered} accepted`);
  }).finally(() => {
    loaded = true;
  });
  const random = seededRandom(seed + 1);
  return Promise.all([load, causeFaults(stage.fleet, options, random, () => loaded, say, other)]);
}

async function look(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, TURN_MS));
}

function isOk(findings: readonly Finding[]): boolean {
  return findings.every(({ found, allowed }) => found <= allowed);
}

/** Polls the API for states and reports any that goes backwards. */
interface Watch {
  /** Such as `msg_…: delivered, then sent`. */
  readonly backwards: readonly string[];
  readonly looks: number;
  stop(): Promise<void>;
}

const RANK: Readonly<Record<string, number>> = {
  queued: 0,
  sent: 1,
  failed: 2,
  expired: 2,
  rejected: 2,
  delivered: 3,
  read: 4,
};
const PAGE = 500;
const PAUSE_MS = 500;

/** Watches the newest messages through `GET /v2/messages`. */
function watchStates(client: Client): Watch {
  const seen = new Map<string, string>();
  const backwards: string[] = [];
  let stopped = false;
  let looks = 0;
  const look = async (): Promise<void> => {
    const { body } = await client.get(`/v2/messages?limit=${PAGE}`);
    for (const { message_id: id, status } of body.data as readonly { message_id: string; status: string }[]) {
      const before = seen.get(id);
      if (before !== undefined && (RANK[status] ?? -1) < (RANK[before] ?? -1))
        backwards.push(`${id}: ${before}, then ${status}`);
      seen.set(id, status);
    }
    looks += 1;
  };
  const running = (async () => {
    while (!stopped) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    backwards,
    get looks() {
      return looks;
    },
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}
