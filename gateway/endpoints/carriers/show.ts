import type { Db } from 'mongodb';
import type { ListedCarrier } from '../../../shared/carriers/list-conditions.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { carrierRecord } from './carrier-record.ts';
import { carrierInPath } from './find-carrier.ts';
import { settingsForm } from './settings-form.ts';
import { countUnknowns } from './unknowns.ts';

/** GET /v2/admin/carriers/{carrier_id} (extension): one carrier with its settings as a form. */
export function createCarrierDetail({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (req, res: Reply) => {
    const found = await carrierInPath(db, req, clock.now());
    if (found === undefined) return sendProblem(res, 'carrier_not_found');
    sendJson(res, await carrierDetail(db, found));
  };
}

export async function carrierDetail(db: Db, found: ListedCarrier): Promise<object> {
  const unknowns = await countUnknowns(db, found.carrier._id);
  return { ...carrierRecord(found), unknowns, settings: settingsForm(found.carrier) };
}
