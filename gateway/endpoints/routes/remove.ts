import { listRoutes, removeRoute } from '../../../shared/carriers/routing/store.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/** DELETE /v2/admin/routes/{route_id} (extension): what waits goes by the other routes. */
export function createRemoveRoute(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db } = deps;
  return async (req, res: Reply) => {
    const found = (await listRoutes(db)).find(({ _id }) => _id === req.params.route_id);
    if (found === undefined) return sendProblem(res, 'route_not_found');
    await changeAudited(deps, requesterOf(res), {
      action: 'route.remove',
      subject: { kind: 'route', id: found._id },
      read: async () => found,
      make: () => removeRoute(db, found._id),
      madeOf: (removed) => ({ removed }),
      isRefusal: () => false,
    });
    sendJson(res, { status: 'success', route_id: found._id, message: 'The route is removed.' });
  };
}
