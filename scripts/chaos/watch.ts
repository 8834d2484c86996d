import type { Client } from './client.ts';

/** Polls the states that the API shows, and reports any that goes backwards. */
export interface Watch {
  /** The observed backward steps: `msg_…: delivered, then sent`. */
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

/** Watches the newest messages of the account through `GET /v2/messages`. */
export function watchStates(client: Client): Watch {
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
