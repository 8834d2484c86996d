import type { EndpointDocument } from '../../../shared/webhooks/endpoint.ts';
import { findOwnEndpoint, listEndpoints, rotateSecret } from '../../../shared/webhooks/endpoint-store.ts';
import { newSecret } from '../../../shared/webhooks/sign.ts';
import { readRequest, request } from '../../fields/request.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import type { Accepted, Action } from '../../idempotency/action.ts';
import { refusedLate } from '../../idempotency/refused-late.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { changeEndpoint } from './update-webhook.ts';
import { webhookRecord } from './webhook-record.ts';

/** It has no fields: the overlap is a day, as with ops. */
export const ROTATE_SECRET = request({});

/** A new secret, sealed. It is the id of the request that adds it, so that the endpoint itself shows whether that was done. */
type SealedSecret = string;

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'config'>;

/** POST /v2/account/webhooks/{webhook_id}/rotate (extension): a new secret; for 24 hours posts have both signatures. */
export function createSecretRotation(deps: Deps): Action<SealedSecret> {
  const { db, clock, box, config } = deps;
  return {
    name: 'rotate-webhook-secret',
    newId: () => box.seal(newSecret()),
    async act(res, { id: sealed, payBy }) {
      const { account } = callerOf(res);
      const endpoint = await findOwnEndpoint(db, account._id, String(res.req.params.webhook_id));
      if (endpoint === undefined) return { kind: 'refused', problem: ['webhook_not_found', {}] };
      const read = await readRequest(ROTATE_SECRET, bodyOf(res), { account, now: clock.now(), config });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const rotated = await changeEndpoint(deps, res, endpoint, 'webhook.rotate', () =>
        rotateSecret(db, clock, sealed, endpoint._id),
      );
      if (rotated === undefined) return { kind: 'refused', problem: ['webhook_not_found', {}] };
      return answerOf(deps, rotated, sealed);
    },
    async recover(account, sealed) {
      const all = await listEndpoints(db, account);
      const rotated = all.find(({ secrets }) => secrets.some((secret) => secret.sealed === sealed));
      return rotated && answerOf(deps, rotated, sealed);
    },
  };
}

async function answerOf(deps: Deps, endpoint: EndpointDocument, sealed: SealedSecret): Promise<Accepted> {
  const body = { status: 'success', ...(await webhookRecord(deps, endpoint)), secret: deps.box.open(sealed) };
  return { kind: 'accepted', sealed: true, body };
}
