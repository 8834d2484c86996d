import type { Db } from 'mongodb';
import { listConditions } from '../../../shared/carriers/list-conditions.ts';
import { sendJson } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { carrierRecord } from './carrier-record.ts';
import { countUnknowns } from './unknowns.ts';

/** GET /v2/admin/carriers (extension): all carriers with their binds, and why one is not bound. */
export function createCarriers({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (_req, res: Reply) => {
    sendJson(res, { carriers: await readCarriers(db, clock.now()) });
  };
}

export async function readCarriers(db: Db, now: Date) {
  const listed = await listConditions(db, now);
  const unknowns = await Promise.all(listed.map(({ carrier }) => countUnknowns(db, carrier._id)));
  return listed.map((one, i) => ({ ...carrierRecord(one), unknowns: unknowns[i] ?? 0 }));
}
