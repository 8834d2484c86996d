import type { RouteDocument } from '../../../shared/carriers/routing/route.ts';
import { addRoute, listRoutes, replaceRoute } from '../../../shared/carriers/routing/store.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { readRequest, whole } from '../../http/fields/request.ts';
import { addRouteFaults, PUT_ROUTE } from './route-fields.ts';
import { routeRecord } from './route-record.ts';

/**
 * PUT /v2/admin/routes/{route_id} (extension): makes a route, or replaces it. Everybody follows it within two seconds; what waits
 * is routed anew.
 */
export function createPutRoute(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(PUT_ROUTE, bodyOf(res), { account: {}, now: clock.now(), config });
    const { problems } = read;
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const { groups, matches, order, wait_seconds: waitSeconds, price } = whole(read);
    const name = String(req.params.route_id);
    const before = (await listRoutes(db)).find(({ _id }) => _id === name);
    const costs = before?.costs;
    const wanted: Omit<RouteDocument, 'createdAt'> = {
      ...{ _id: name, order, match: matches, groups, waitSeconds },
      ...defined({ price }),
      // Costs are only changed by ops.
      ...defined({ costs }),
    };
    await addRouteFaults(db, wanted, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const made = await changeAudited(deps, requesterOf(res), {
      action: before === undefined ? 'route.add' : 'route.set',
      subject: { kind: 'route', id: name },
      read: async () => before,
      make: async () => {
        if (before === undefined) return addRoute(db, clock, wanted);
        const replaced = { ...wanted, createdAt: before.createdAt };
        await replaceRoute(db, replaced);
        return replaced;
      },
      madeOf: (route) => route,
      isRefusal: () => false,
    });
    const routes = await listRoutes(db);
    const rest = routes.some(({ match }) => Object.keys(match).length === 0);
    sendJson(res, {
      status: 'success',
      route: routeRecord(made),
      warning: rest
        ? null
        : 'What no route matches is refused with 400 no_route. Add one without conditions for the rest.',
    });
  };
}
