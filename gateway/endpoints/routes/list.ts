import { listRoutes } from '../../../shared/carriers/routing/store.ts';
import { sendJson } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { routeRecord } from './route-record.ts';

/** GET /v2/admin/routes (extension): which carriers take which messages. */
export function createRoutes({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (_req, res: Reply) => {
    sendJson(res, { routes: (await listRoutes(db)).map(routeRecord) });
  };
}
