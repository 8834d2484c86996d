import { findOwnEndpoint, listEndpoints } from '../../../shared/events/webhooks/endpoint-store.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { pageOf } from '../../http/page.ts';
import { webhookRecord } from './webhook-record.ts';

/** GET /v2/account/webhooks (extension): the webhooks of both channels, oldest first. There are ten at most, so one page. */
export function createWebhooks(deps: ReadingDeps): Handler {
  const { db, answerRead } = deps;
  return async (_req, res: Reply) => {
    await answerRead(res, 1, async () => {
      const endpoints = await listEndpoints(db, callerOf(res).account._id);
      return pageOf('webhooks', await Promise.all(endpoints.map((one) => webhookRecord(deps, one))), undefined);
    });
  };
}

/** GET /v2/account/webhooks/{webhook_id} (extension). */
export function createShowWebhook(deps: ReadingDeps): Handler {
  const { db, answerRead } = deps;
  return async (req, res: Reply) => {
    const read = async () => {
      const endpoint = await findOwnEndpoint(db, callerOf(res).account._id, String(req.params.webhook_id));
      return endpoint && webhookRecord(deps, endpoint);
    };
    await answerRead(res, 1, read, 'webhook_not_found');
  };
}
