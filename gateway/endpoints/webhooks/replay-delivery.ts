import { deliveryId } from '../../../shared/events/webhooks/delivery.ts';
import { findDeliveries, replayDelivery } from '../../../shared/events/webhooks/delivery-store.ts';
import { findOwnEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import type { EventId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/**
 * POST /v2/account/webhooks/{webhook_id}/deliveries/{event_id}/replay (extension): posts one event again, even one that was
 * acknowledged. As `ops webhook replay-event`.
 */
export function createReplayDelivery(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock } = deps;
  return async (req, res: Reply) => {
    const caller = callerOf(res);
    const endpoint = await findOwnEndpoint(db, caller.account._id, String(req.params.webhook_id));
    if (endpoint === undefined) return sendProblem(res, 'webhook_not_found');
    const event = String(req.params.event_id) as EventId; // only compared with
    const id = deliveryId(event, endpoint._id);
    const [found] = await findDeliveries(db, [id], { bodies: false });
    if (found === undefined) return sendProblem(res, 'delivery_not_found');
    // Its posts would be discarded at once.
    if (endpoint.status !== 'active') return sendProblem(res, 'webhook_disabled');
    const replay = changeAudited(deps, caller, {
      action: 'webhook.replay-event',
      subject: { kind: 'webhook', id: endpoint._id },
      read: async () => undefined,
      async make() {
        if (!(await replayDelivery(db, id, clock.now()))) throw new NotReplayable();
      },
      madeOf: () => ({ event }),
      isRefusal: (error) => error instanceof NotReplayable,
    });
    const replayed = await replay.then(() => true).catch(notReplayable);
    if (!replayed) return sendProblem(res, 'delivery_pending');
    sendJson(res, { status: 'success', event_id: event, message: 'The event is posted again.' });
  };
}

/** The delivery is on its way or waits for its next try, so nothing is changed. The audit then has no entry. */
class NotReplayable extends Error {}

function notReplayable(error: unknown): false {
  if (error instanceof NotReplayable) return false;
  throw error;
}
