import type { Charge, Handler, Reply } from '../http/context.ts';

/** For requests that always cost the same: each counts as `cost` requests of its caller. */
export function createCost(charge: Charge, cost: number): Handler {
  return async (_req, res: Reply, next) => {
    if (await charge(res, cost)) next();
  };
}
