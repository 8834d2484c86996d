import { listOfPath } from '../../../shared/carriers/routing/path.ts';
import { readQueues, type WaitingLane } from '../../../shared/messages/queue/waiting-lanes.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { sendJson } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/** GET /v2/admin/queues (extension): what waits, by path and lane, with the oldest waiting. */
export function createQueues({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (_req, res: Reply) => {
    sendJson(res, { queues: (await readQueues(db)).map(queueRecord) });
  };
}

/** `carriers`: null for a routing group, and for the chat-app channel. */
export function queueRecord({ path, oldest, ...rest }: WaitingLane): object {
  return {
    path,
    carriers: listOfPath(path)?.carriers ?? null,
    ...rest,
    oldest_at: isoTimestamp(oldest.at),
    oldest_account_id: oldest.account,
  };
}
