import type { EndpointDocument, EndpointSecret } from '../../../shared/events/webhooks/endpoint.ts';
import { findOwnEndpoint, listEndpoints, rotateSecret } from '../../../shared/events/webhooks/endpoint-store.ts';
import { newSecret } from '../../../shared/events/webhooks/sign.ts';
import { newId, type RequestId } from '../../../shared/platform/runtime/ids.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { readRequest, request } from '../../http/fields/request.ts';
import type { Accepted, Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { changeEndpoint } from './update-webhook.ts';
import { webhookRecord } from './webhook-record.ts';

/** No fields: the overlap is a day, as with ops. */
export const ROTATE_SECRET = request({});

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'config'>;

/** POST /v2/account/webhooks/{webhook_id}/rotate (extension): a new secret; for 24 hours posts have both signatures. */
export function createSecretRotation(deps: Deps): Action<RequestId> {
  const { db, clock, box, config } = deps;
  return {
    name: 'rotate-webhook-secret',
    // Stored with the secret, so that the endpoint itself shows whether that was done.
    newId: () => newId('req', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const { account } = callerOf(res);
      const endpoint = await findOwnEndpoint(db, account._id, String(res.req.params.webhook_id));
      if (endpoint === undefined) return { kind: 'refused', problem: ['webhook_not_found', {}] };
      const read = await readRequest(ROTATE_SECRET, bodyOf(res), { account, now: clock.now(), config });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const rotated = await changeEndpoint(deps, res, endpoint, 'webhook.rotate', () =>
        rotateSecret(db, clock, box, { secret: newSecret(), request: id }, endpoint._id),
      );
      if (rotated === undefined) return { kind: 'refused', problem: ['webhook_not_found', {}] };
      return answerOf(deps, rotated, id);
    },
    async recover(account, id) {
      const all = await listEndpoints(db, account);
      const rotated = all.find(({ secrets }) => secrets.some(({ request }) => request === id));
      return rotated && answerOf(deps, rotated, id);
    },
  };
}

/** `endpoint` has the secret that the request `id` has added. */
async function answerOf(deps: Deps, endpoint: EndpointDocument, id: RequestId): Promise<Accepted> {
  const added: EndpointSecret | undefined = endpoint.secrets.find(({ request }) => request === id);
  if (added === undefined) throw new Error(`endpoint ${endpoint._id} has lost the secret of ${id}`);
  const secret = deps.box.open(added.sealed, ['endpoints', endpoint._id, 'secrets.sealed']);
  const body = { status: 'success', ...(await webhookRecord(deps, endpoint)), secret };
  return { kind: 'accepted', sealed: true, body };
}
