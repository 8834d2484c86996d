import { setCarrierStatus } from '../../../shared/carriers/carrier-store.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { choice, optional, required } from '../../http/fields/field.ts';
import { reason } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { carrierInPath } from './find-carrier.ts';
import { carrierDetail } from './show.ts';

export const CARRIER_STATUS = request({
  status: required(
    choice(
      ['active', 'paused'],
      '`paused`: its binds end; what waits for it waits, or goes by another carrier of its paths.',
    ),
  ),
  reason: optional(reason),
});

/** POST /v2/admin/carriers/{carrier_id}/status (extension): pauses a carrier, or binds to it again. */
export function createCarrierStatus(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(CARRIER_STATUS, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const found = await carrierInPath(db, req, clock.now());
    if (found === undefined) return sendProblem(res, 'carrier_not_found');
    const { status, reason } = whole(read);
    const { carrier } = found;
    await changeAudited(deps, requesterOf(res), {
      action: status === 'paused' ? 'carrier.pause' : 'carrier.resume',
      subject: { kind: 'carrier', id: carrier._id },
      read: async () => ({ status: carrier.status }),
      make: () => setCarrierStatus(db, carrier._id, status),
      madeOf: () => ({ status, ...(status !== carrier.status && reason !== undefined && { reason }) }),
      isRefusal: () => false,
    });
    const now = (await carrierInPath(db, req, clock.now())) ?? found;
    sendJson(res, { status: 'success', carrier: await carrierDetail(db, now) });
  };
}
